package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// ProcessProvider runs the binary from PATH.
type ProcessProvider struct{ Starter *proc.Starter }

var _ Provider = ProcessProvider{}

// Name returns "process".
func (ProcessProvider) Name() string { return ProcessName }

// Available returns nil if every binary is on PATH.
func (ProcessProvider) Available(t Topology) error {
	for _, r := range t.Nodes {
		if r.Binary == "" {
			return fmt.Errorf("server %s of topology %s cannot run as a process of its own, only inside lockstorm: use --provider "+
				"embedded", r.Name, t.Name)
		}
		if _, err := r.Find(); err != nil {
			return err
		}
		if r.Contained && os.Getuid() == 0 && proc.Containable() != nil {
			return fmt.Errorf("%s refuses to run as root: be another user (it cannot be started as `nobody`: %w)", r.Binary,
				proc.Containable())
		}
		for _, file := range r.Needs {
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("%s is not installed (Debian: apt-get install %s)", file, r.Package)
			}
		}
	}
	return nil
}

// Find returns the path of the binary, on PATH or else in a folder of its package. The error says how to get it.
func (r Recipe) Find() (string, error) { return r.find(r.Binary) }

func (r Recipe) find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	for _, dir := range r.Dirs {
		found, err := filepath.Glob(filepath.Join(dir, name))
		if err == nil && len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	if filepath.IsAbs(name) {
		return "", fmt.Errorf("%s cannot be run: %w", name, err)
	}
	if r.Package == "" {
		return "", fmt.Errorf("%s is not on PATH", name)
	}
	return "", fmt.Errorf("%s is not on PATH (Debian: apt-get install %s)", name, r.Package)
}

// Prepare copies the template of the recipe into the node's folder, and runs its commands there.
func (p ProcessProvider) Prepare(ctx context.Context, r Recipe, place Place) error {
	if r.Template != nil {
		made, err := p.template(ctx, r)
		if err == nil {
			err = p.once(ctx, r, []string{"cp", "-a", made, filepath.Join(place.Dir, r.Template.Dir)}, place)
		}
		if err != nil {
			return fmt.Errorf("cannot prepare %s: %w", r.Name, err)
		}
	}
	return p.all(ctx, r, r.Prepare, place)
}

// all runs commands one after the other.
func (p ProcessProvider) all(ctx context.Context, r Recipe, commands [][]string, place Place) error {
	for _, command := range commands {
		args, err := place.ExpandAll(command)
		if err != nil {
			return fmt.Errorf("cannot prepare %s: %w", r.Name, err)
		}
		if err := p.once(ctx, r, args, place); err != nil {
			return fmt.Errorf("cannot prepare %s: %s: %w", r.Name, args[0], err)
		}
	}
	return nil
}

// once runs a command to its end, as a child that never outlives us.
func (p ProcessProvider) once(ctx context.Context, r Recipe, args []string, place Place) error {
	path, err := r.find(args[0])
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir, cmd.Env = place.Dir, r.environ(place.Env...)
	cmd.Stdout, cmd.Stderr = &said, &said
	child, err := p.start(r, cmd)
	if err != nil {
		return err
	}
	err = child.Wait(ctx)
	if ctx.Err() != nil {
		return errors.Join(err, child.End(ctx, syscall.SIGKILL))
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

// Launch starts the binary in the node's folder; its output goes to server.log there.
func (p ProcessProvider) Launch(_ context.Context, _ Topology, r Recipe, place Place) (Instance, error) {
	place, err := place.WithPorts(r)
	if err != nil {
		return nil, err
	}
	if err := WriteFiles(r, place); err != nil {
		return nil, err
	}
	args, err := place.ExpandAll(r.Args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	path, err := r.Find()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Env = r.environ(place.Env...)
	return launch(func() (*proc.Process, error) { return p.start(r, cmd) }, cmd, place, r.Stop)
}

// environ is the environment of a recipe's programs.
func (r Recipe) environ(more ...string) []string {
	env := append(os.Environ(), more...)
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		env = append(env, name+"="+r.Env[name])
	}
	return env
}

func (p ProcessProvider) start(r Recipe, cmd *exec.Cmd) (*proc.Process, error) {
	if r.Contained {
		return p.Starter.StartContained(r.Name, cmd)
	}
	if r.Sprawls {
		return p.Starter.StartSprawling(r.Name, cmd)
	}
	return p.Starter.Start(r.Name, cmd)
}

// WriteFiles writes Files that do not exist yet, since a server may have changed its own, and all Fresh ones.
func WriteFiles(r Recipe, place Place) error {
	for name, text := range r.Files {
		if _, err := os.Stat(filepath.Join(place.Dir, name)); err == nil {
			continue
		}
		if err := writeFile(r, place, name, text); err != nil {
			return err
		}
	}
	return writeFresh(r, place)
}

func writeFresh(r Recipe, place Place) error {
	for name, text := range r.Fresh {
		if err := writeFile(r, place, name, text); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(r Recipe, place Place, name, text string) error {
	body, err := place.expand(text)
	if err != nil {
		return fmt.Errorf("cannot fill in the template of file %s of server %s: %w", name, r.Name, err)
	}
	path := filepath.Join(place.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(body), 0o600)
}

// Embedded runs a Go server inside a child of our own binary, or of lockstorm-servers.
type Embedded struct {
	Starter *proc.Starter
	// Command returns the binary, ready to serve the node of the topology at addr.
	Command func(t Topology, r Recipe, addr string) (*exec.Cmd, error)
}

var _ Provider = Embedded{}

// Name returns "embedded".
func (Embedded) Name() string { return EmbeddedName }

// Available returns nil if every node has an embedded server.
func (Embedded) Available(t Topology) error {
	for _, r := range t.Nodes {
		if !r.Embeds() {
			return fmt.Errorf("no embedded server for %s of %s: use another --provider (docs/providers.md)", r.Name, t.Name)
		}
		if r.Embedded == nil {
			if _, err := companion.Find(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Prepare does nothing: an embedded server keeps nothing.
func (Embedded) Prepare(context.Context, Recipe, Place) error { return nil }

// Launch starts the server.
func (e Embedded) Launch(_ context.Context, t Topology, r Recipe, place Place) (Instance, error) {
	place, err := place.WithPorts(r)
	if err != nil {
		return nil, err
	}
	if err := writeFresh(r, place); err != nil {
		return nil, err
	}
	cmd, err := e.Command(t, r, place.Addr())
	if err != nil {
		return nil, err
	}
	return launch(func() (*proc.Process, error) { return e.Starter.Start(r.Name, cmd) }, cmd, place, 0)
}

// child is a server that is a process of this host.
type child struct {
	*proc.Process
	place Place
	stop  syscall.Signal
}

// Place is where it listens.
func (c child) Place() Place { return c.place }

// Terminate asks it to end by its own signal.
func (c child) Terminate(ctx context.Context) error {
	return c.End(ctx, cmp.Or(c.stop, syscall.SIGTERM))
}

func launch(start func() (*proc.Process, error), cmd *exec.Cmd, place Place, stop syscall.Signal) (Instance, error) {
	if info, err := os.Stat(place.Log()); err == nil {
		place.Said = info.Size()
	}
	out, err := os.OpenFile(place.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // the child has its own descriptor
	cmd.Dir, cmd.Stdout, cmd.Stderr = place.Dir, out, out
	p, err := start()
	if err != nil {
		return nil, err
	}
	return child{p, place, stop}, nil
}

// WithPorts gives every port that has none yet a free one.
func (p Place) WithPorts(r Recipe) (Place, error) {
	var err error
	if p.Port == 0 {
		if p.Port, err = freePort(); err != nil {
			return p, err
		}
	}
	p.Ports = maps.Clone(p.Ports)
	for _, port := range r.Ports {
		if p.Ports[port.Name] != 0 {
			continue
		}
		if p.Ports == nil {
			p.Ports = map[string]int{}
		}
		if p.Ports[port.Name], err = freePort(); err != nil {
			return p, err
		}
	}
	return p, nil
}
