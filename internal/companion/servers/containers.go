package servers

import (
	"context"
	"fmt"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/companion/wire"
	"github.com/lockstorm/lockstorm/internal/docker"
)

// containers answers lockstorm until it closes our input or dies; then what is left of its run is removed. A signal for
// lockstorm's terminal is none for us.
func containers() error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	d := &daemon{stops: map[uint64]context.CancelFunc{}}
	s := rpc.NewServer()
	if err := s.RegisterName(wire.Service, d); err != nil {
		return err
	}
	s.ServeConn(wire.Pipe{Reader: &input{d: d}, WriteCloser: os.Stdout}) // which waits for the calls under way
	return d.close()
}

// input is our input; with its end, calls that are under way need not go on.
type input struct{ d *daemon }

func (i *input) Read(b []byte) (int, error) {
	n, err := os.Stdin.Read(b)
	if err != nil {
		i.d.mu.Lock()
		defer i.d.mu.Unlock()
		i.d.over = true
		for _, stop := range i.d.stops {
			stop()
		}
	}
	return n, err
}

// daemon is what lockstorm calls: the provider of its run, and Docker itself.
type daemon struct {
	mu        sync.Mutex
	provider  *docker.Provider // nil: none was needed yet
	instances []cluster.Instance
	stops     map[uint64]context.CancelFunc // of the calls under way
	over      bool                          // there is nobody to answer to
}

// Stop ends the context of a call.
func (d *daemon) Stop(number uint64, _ *struct{}) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if stop := d.stops[number]; stop != nil {
		stop()
	}
	return nil
}

// Do does what was asked. What failed is in the answer: an error would lose what callers ask of it.
func (d *daemon) Do(c wire.Call, a *wire.Answer) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	d.mu.Lock()
	d.stops[c.Number] = stop
	if d.over {
		stop()
	}
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.stops, c.Number)
	}()
	a.Failure = wire.Failed(d.do(ctx, &c, a))
	return nil
}

func (d *daemon) do(ctx context.Context, c *wire.Call, a *wire.Answer) (err error) {
	switch c.What {
	case wire.State:
		a.Text, a.Words, err = docker.State(ctx)
		return err
	case wire.Leftovers:
		a.Left, err = docker.Leftovers(ctx)
		return err
	case wire.Clean:
		a.Left, err = docker.Clean(ctx)
		return err
	case wire.Close:
		return d.close()
	case wire.Await, wire.Kill, wire.Terminate, wire.Pause, wire.Resume:
		return d.server(ctx, c, a)
	}
	p := d.of(c)
	switch c.What {
	case wire.Available:
		return p.Available(c.Topology)
	case wire.Here:
		return p.Here(c.Topology)
	case wire.Versions:
		a.Words, err = p.Versions(ctx, c.Topology)
		return err
	case wire.Addresses:
		a.Addresses, err = p.Addresses(ctx, c.Topology)
		return err
	case wire.Prepare:
		return p.Prepare(ctx, c.Recipe, c.Place)
	case wire.Launch:
		return d.launch(ctx, p, c, a)
	}
	return fmt.Errorf("%q is nothing that can be asked", c.What)
}

// of is the provider of the run.
func (d *daemon) of(c *wire.Call) *docker.Provider {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.provider == nil {
		d.provider = docker.New(docker.Options{
			ContainerOptions: cluster.ContainerOptions{Images: c.Images, Network: c.Network, Say: say},
			Warden:           func(run string) (*exec.Cmd, error) { return companion.Command(companion.Warden, run) },
		})
	}
	return d.provider
}

// say tells people something, on one line.
func say(text string) { fmt.Fprintln(os.Stderr, wire.Say+strings.ReplaceAll(text, "\n", " ")) }

func (d *daemon) launch(ctx context.Context, p *docker.Provider, c *wire.Call, a *wire.Answer) error {
	i, err := p.Launch(ctx, c.Topology, c.Recipe, c.Place)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a.Place, a.Pid, a.Server = i.Place(), i.Pid(), len(d.instances)
	d.instances = append(d.instances, i)
	return nil
}

// server is what is asked of one that was launched.
func (d *daemon) server(ctx context.Context, c *wire.Call, a *wire.Answer) (err error) {
	d.mu.Lock()
	i := d.instances[c.Server]
	d.mu.Unlock()
	switch c.What {
	case wire.Await:
		select {
		case <-i.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	case wire.Kill:
		return i.Kill(ctx)
	case wire.Terminate:
		return i.Terminate(ctx)
	case wire.Pause:
		a.Text, err = i.Pause(ctx)
	case wire.Resume:
		a.Text, err = i.Resume(ctx)
	}
	return err
}

// close removes what is left of the run, once.
func (d *daemon) close() error {
	d.mu.Lock()
	p := d.provider
	d.provider = nil
	d.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.Close()
}
