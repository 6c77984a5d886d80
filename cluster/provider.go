package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/lockstorm/lockstorm/internal/proc"
)

// Names of the providers; Auto takes the first that is available.
const (
	Auto         = "auto"
	ProcessName  = "process"
	EmbeddedName = "embedded"
)

// Provider carries recipes out.
type Provider interface {
	Name() string
	// Available is nil when every node of the topology can be started here; else it says
	// what is missing and how to get it.
	Available(t Topology) error
	// Launch starts a server; it is not yet ready.
	Launch(ctx context.Context, t Topology, r Recipe, p Place) (Instance, error)
}

// Place is where a server lives.
type Place struct {
	Dir    string // the node's own folder
	Host   string
	Port   int
	Source string         // address from which it calls its peers
	Env    []string       // added to its environment
	Peers  map[string]int // announced ports, by node
}

// PortOf is the announced port of a node, for templates.
func (p Place) PortOf(node string) (int, error) {
	port, ok := p.Peers[node]
	if !ok {
		return 0, fmt.Errorf("node %s announces no port", node)
	}
	return port, nil
}

// Addr is host:port.
func (p Place) Addr() string { return fmt.Sprintf("%s:%d", p.Host, p.Port) }

// Instance is a started server. [proc.Process] is one; a container could be another.
type Instance interface {
	Pid() int
	Done() <-chan struct{}
	Kill(ctx context.Context) error
	Terminate(ctx context.Context) error
	Pause(ctx context.Context) (string, error)
	Resume(ctx context.Context) (string, error)
}

// Process runs the binary from PATH.
type Process struct{ Starter *proc.Starter }

var _ Provider = Process{}

// Name is "process".
func (Process) Name() string { return ProcessName }

// Available is nil when every binary is on PATH.
func (Process) Available(t Topology) error {
	for _, r := range t.Nodes {
		if _, err := exec.LookPath(r.Binary); err != nil {
			return fmt.Errorf("%s is not on PATH (Debian: apt-get install %s)", r.Binary, r.Package)
		}
	}
	return nil
}

// Launch starts the binary in the node's folder; its output goes to server.log there.
func (p Process) Launch(_ context.Context, _ Topology, r Recipe, place Place) (Instance, error) {
	for name, text := range r.Files {
		if _, err := os.Stat(filepath.Join(place.Dir, name)); err == nil {
			continue // the server was here before, and may have changed it
		}
		body, err := expand(text, place)
		if err != nil {
			return nil, fmt.Errorf("file %s of %s: %w", name, r.Name, err)
		}
		if err := os.WriteFile(filepath.Join(place.Dir, name), []byte(body), 0o600); err != nil {
			return nil, err
		}
	}
	args := make([]string, len(r.Args))
	for i, a := range r.Args {
		var err error
		if args[i], err = expand(a, place); err != nil {
			return nil, fmt.Errorf("argument %q of %s: %w", a, r.Name, err)
		}
	}
	cmd := exec.Command(r.Binary, args...)
	cmd.Env = append(os.Environ(), place.Env...)
	return launch(p.Starter, r.Name, cmd, place)
}

// Embedded runs a Go server inside a child of our own binary.
type Embedded struct {
	Starter *proc.Starter
	// Command is our own binary, ready to serve the node of the topology at addr.
	Command func(topology, node, addr string) (*exec.Cmd, error)
}

var _ Provider = Embedded{}

// Name is "embedded".
func (Embedded) Name() string { return EmbeddedName }

// Available is nil when every node has an embedded server.
func (Embedded) Available(t Topology) error {
	for _, r := range t.Nodes {
		if r.Embedded == nil {
			return fmt.Errorf("no embedded server can stand in for %s of %s", r.Name, t.Name)
		}
	}
	return nil
}

// Launch starts our own binary as the server.
func (e Embedded) Launch(_ context.Context, t Topology, r Recipe, place Place) (Instance, error) {
	cmd, err := e.Command(t.Name, r.Name, place.Addr())
	if err != nil {
		return nil, err
	}
	return launch(e.Starter, r.Name, cmd, place)
}

func launch(s *proc.Starter, name string, cmd *exec.Cmd, place Place) (Instance, error) {
	out, err := os.OpenFile(filepath.Join(place.Dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // the child has its own descriptor
	cmd.Dir, cmd.Stdout, cmd.Stderr = place.Dir, out, out
	p, err := s.Start(name, cmd)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func expand(text string, place Place) (string, error) {
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, place); err != nil {
		return "", err
	}
	return b.String(), nil
}

// Choose finds the provider to use: the named one, or with Auto the first of the list
// that is available. The error says what each of them lacks.
func Choose(name string, t Topology, providers []Provider) (Provider, error) {
	var why []string
	for _, p := range providers {
		if name != Auto && name != p.Name() {
			continue
		}
		err := p.Available(t)
		if err == nil {
			return p, nil
		}
		why = append(why, p.Name()+": "+err.Error())
	}
	if len(why) == 0 {
		return nil, fmt.Errorf("unknown provider %q: choose one of %s", name, strings.Join(names(providers), ", "))
	}
	return nil, fmt.Errorf("topology %s cannot be started here: %s", t.Name, strings.Join(why, "; "))
}

func names(providers []Provider) []string {
	n := []string{Auto}
	for _, p := range providers {
		n = append(n, p.Name())
	}
	return n
}
