package adapter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/sockets"
)

// ServerProgram is a program that an adapter needs as a server of its lock. In Command, Files and Ready.Command, {port} stands
// for the port of 127.0.0.1 on which it must listen, {dir} for a folder of its own, in which it is started, and {address:NAME}
// for the link by which it reaches another server of the topology.
type ServerProgram struct {
	Name    string            `json:"name"`
	Command []string          `json:"command"` // a name on PATH or an absolute path, with its arguments
	Files   map[string]string `json:"files"`   // written into {dir} before the first start, by name
	Ready   Readiness         `json:"ready"`
	Stop    string            `json:"stop"`    // the signal that ends it; empty: TERM
	Keeps   bool              `json:"keeps"`   // its data survives kill -9
	Version []string          `json:"version"` // arguments with which the program prints its version
	Package string            `json:"package"` // of Debian, that brings the program
}

// Readiness is how to tell that a server serves, beside that its port accepts.
type Readiness struct {
	Line    string   `json:"line"`    // what it prints then
	Command []string `json:"command"` // what ends with 0 then
}

// recovery is how long servers of an adapter may take to serve again after a fault.
const recovery = 2 * time.Second

// brings is the topology of the servers that the adapter declares; without any it has no nodes.
func (d Description) brings() (cluster.Topology, error) {
	t := cluster.Topology{Doc: "servers of the adapter " + d.Name, Recovery: recovery, Over: d.Over}
	if len(d.Servers) == 0 {
		if d.Over != "" {
			return t, errors.New("the description has \"over\" but no \"servers\" that stand on that topology: declare them, or write " +
				"\"topologies\"")
		}
		return t, nil
	}
	if len(d.Topologies) > 1 {
		return t, errors.New("the description has \"servers\" and several \"topologies\": name one at most, made of all these servers")
	}
	t.Name = d.Servers[0].Name
	if len(d.Topologies) == 1 {
		t.Name = d.Topologies[0]
	}
	for _, s := range d.Servers {
		r, err := s.recipe()
		if err != nil {
			return t, fmt.Errorf("server %q of the description: %w", s.Name, err)
		}
		r.Data = d.Over == "" // else it is the servers below that keep the data
		t.Nodes, t.Volatile = append(t.Nodes, r), t.Volatile || !s.Keeps
	}
	for i, r := range t.Nodes {
		if slices.ContainsFunc(d.Servers, func(s ServerProgram) bool { return s.calls(r.Name) }) {
			t.Nodes[i].Peering = cluster.Pairwise
		}
	}
	if err := t.Valid(); err != nil {
		return t, fmt.Errorf("\"servers\" of the description: %w", err)
	}
	return t, nil
}

func (s ServerProgram) recipe() (cluster.Recipe, error) {
	var r cluster.Recipe
	switch {
	case len(s.Command) == 0 || s.Command[0] == "":
		return r, errors.New("\"command\" is missing: the program to start, with its arguments")
	case strings.Contains(s.Command[0], "/") && !filepath.IsAbs(s.Command[0]):
		return r, fmt.Errorf("the program %q is a relative path: write a name on PATH, or an absolute path", s.Command[0])
	}
	r = cluster.Recipe{
		Name: s.Name, Role: "server", Binary: s.Command[0], Dirs: []string{"/usr/sbin", "/sbin"},
		Package: s.Package, Version: s.Version,
		Args: templates(s.Command[1:]), Sprawls: true, Ready: accepts,
	}
	for name, text := range s.Files {
		if !filepath.IsLocal(name) {
			return r, fmt.Errorf("the file %q is outside of the server's folder: write a path below {dir}", name)
		}
		if r.Files == nil {
			r.Files = map[string]string{}
		}
		r.Files[name] = template(text)
	}
	if s.Stop != "" {
		if r.Stop = unix.SignalNum("SIG" + strings.TrimPrefix(s.Stop, "SIG")); r.Stop == 0 {
			return r, fmt.Errorf("there is no signal %q: write for example INT", s.Stop)
		}
	}
	if ready := s.Ready; ready.Line != "" || len(ready.Command) > 0 {
		ready.Command = templates(ready.Command)
		r.ReadyAt = ready.at
	}
	return r, nil
}

// calls reports whether the server is told the address of another one.
func (s ServerProgram) calls(name string) bool {
	texts := slices.Concat(s.Command, slices.Collect(maps.Values(s.Files)))
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "{address:"+name+"}") })
}

var address = regexp.MustCompile(`\{address:([a-z0-9-]+)\}`)

// template is a text with {port}, {dir} and {address:NAME} as one of package cluster.
func template(text string) string {
	text = strings.NewReplacer("{{", `{{"{{"}}`, "{port}", "{{.Port}}", "{dir}", "{{.Dir}}").Replace(text)
	return address.ReplaceAllString(text, `{{.PeerHost}}:{{.PortOf "$1"}}`)
}

func templates(texts []string) []string { return lists.Map(texts, template) }

// accepts is nil where the port accepts, and is had by the server or by what it has started.
func accepts(ctx context.Context, addr string, pid int) error {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	if err := c.Close(); err != nil || pid == 0 {
		return err
	}
	pids, err := proc.Tree(pid)
	for _, one := range pids {
		if own, err := sockets.Listens(one, addr); err == nil && own {
			return nil
		}
	}
	return cmp.Or(err, errors.New("another process already listens at this address"))
}

// probeLimit is for a command that asks whether a server serves, and probeEvery between two.
const (
	probeLimit = 10 * time.Second
	probeEvery = 50 * time.Millisecond
)

// at is nil where the server at a place says so itself.
func (r Readiness) at(ctx context.Context, p cluster.Place) error {
	if r.Line != "" {
		said, err := logSince(p)
		if err == nil && !bytes.Contains(said, []byte(r.Line)) {
			err = fmt.Errorf("the server has not printed %q", r.Line)
		}
		if err != nil {
			return err
		}
	}
	if len(r.Command) == 0 {
		return nil
	}
	args, err := p.ExpandAll(r.Command)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	runtime.LockOSThread() // on whose death the kernel kills it
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.WaitDelay, cmd.SysProcAttr = p.Dir, time.Second, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if out, err := cmd.CombinedOutput(); err != nil {
		time.Sleep(probeEvery)
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// logSince is what a server has printed since its last start.
func logSince(p cluster.Place) ([]byte, error) {
	f, err := os.Open(p.Log())
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	if _, err := f.Seek(p.Said, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
