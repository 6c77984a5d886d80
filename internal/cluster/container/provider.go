package container

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/companion/wire"
)

// provider is the provider of one run; Close ends it.
type provider struct {
	o cluster.ContainerOptions

	mu     sync.Mutex
	helper *helper // nil: none was needed yet
}

var _ interface {
	cluster.Provider
	cluster.Fetcher
	cluster.Versioner
	cluster.Addresser
} = (*provider)(nil)

// call has the helper do something. It is started with the first call.
func (p *provider) call(ctx context.Context, c wire.Call) (wire.Answer, error) {
	c.Images, c.Network = p.o.Images, p.o.Network
	p.mu.Lock()
	if p.helper == nil {
		h, err := start(p.o.Say)
		if err != nil {
			p.mu.Unlock()
			return wire.Answer{}, err
		}
		p.helper = h
	}
	h := p.helper
	p.mu.Unlock()
	return h.call(ctx, c)
}

// end ends the helper.
func (p *provider) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.helper == nil {
		return nil
	}
	h := p.helper
	p.helper = nil
	return h.end()
}

// Name returns "container".
func (*provider) Name() string { return cluster.ContainerName }

// available is what Docker said of topologies, by their names: it is asked once in the life of this process.
var available sync.Map

// Available returns nil if Docker can run every node. Missing images are fetched later.
func (p *provider) Available(t cluster.Topology) error {
	asked, _ := available.LoadOrStore(t.Name, sync.OnceValue(func() error { return p.ask(wire.Available, t) }))
	return asked.(func() error)()
}

// Here returns nil if every image is on this host already.
func (p *provider) Here(t cluster.Topology) error { return p.ask(wire.Here, t) }

// ask asks a helper of its own: who only asks may never close the provider.
func (p *provider) ask(what string, t cluster.Topology) error {
	q := provider{o: p.o}
	_, err := q.call(context.Background(), wire.Call{What: what, Topology: t})
	return errors.Join(err, q.end())
}

// Versions fetches the images and returns them, with the versions that their programs report.
func (p *provider) Versions(ctx context.Context, t cluster.Topology) (map[string]string, error) {
	a, err := p.call(ctx, wire.Call{What: wire.Versions, Topology: t})
	return a.Words, err
}

// Addresses makes the network of the run, if it needs one, and gives each server its address there.
func (p *provider) Addresses(ctx context.Context, t cluster.Topology) (cluster.Addresses, error) {
	a, err := p.call(ctx, wire.Call{What: wire.Addresses, Topology: t})
	return a.Addresses, err
}

// Prepare runs the commands of the recipe in the node's folder, in containers of its image.
func (p *provider) Prepare(ctx context.Context, r cluster.Recipe, place cluster.Place) error {
	_, err := p.call(ctx, wire.Call{What: wire.Prepare, Recipe: r, Place: place})
	return err
}

// Launch starts a container of the node's image; its output goes to server.log in the node's folder.
func (p *provider) Launch(ctx context.Context, t cluster.Topology, r cluster.Recipe, place cluster.Place) (cluster.Instance,
	error,
) {
	a, err := p.call(ctx, wire.Call{What: wire.Launch, Topology: t, Recipe: r, Place: place})
	if err != nil {
		return nil, err
	}
	a.Place.Peers = maps.Clone(place.Peers)
	i := &instance{p: p, a: a, done: make(chan struct{})}
	go func() {
		defer close(i.done)
		p.call(context.WithoutCancel(ctx), wire.Call{What: wire.Await, Server: a.Server}) //nolint:errcheck // without it there is no server
	}()
	return i, nil
}

// Close removes what is left of the run.
func (p *provider) Close() error {
	p.mu.Lock()
	started := p.helper != nil
	p.mu.Unlock()
	if !started {
		return nil
	}
	_, err := p.call(context.Background(), wire.Call{What: wire.Close})
	return errors.Join(err, p.end())
}

// instance is a server in a container.
type instance struct {
	p    *provider
	a    wire.Answer // of its launch
	done chan struct{}
}

// Place is where it listens.
func (i *instance) Place() cluster.Place { return i.a.Place }

// Pid is the server's process as this host sees it; 0 where it cannot look into it.
func (i *instance) Pid() int { return i.a.Pid }

// Done is closed when the container has ended.
func (i *instance) Done() <-chan struct{} { return i.done }

func (i *instance) call(ctx context.Context, what string) (string, error) {
	a, err := i.p.call(ctx, wire.Call{What: what, Server: i.a.Server})
	return a.Text, err
}

// Kill ends the container with SIGKILL, paused or not, and waits until it is gone.
func (i *instance) Kill(ctx context.Context) error { return i.end(ctx, wire.Kill) }

// end ends the container. That it is gone, which is told apart from that, is known then here, too.
func (i *instance) end(ctx context.Context, how string) error {
	_, err := i.call(ctx, how)
	if err == nil {
		<-i.done
	}
	return err
}

// Terminate asks the server to end, a paused one too, and kills it when it has not by the end of ctx.
func (i *instance) Terminate(ctx context.Context) error { return i.end(ctx, wire.Terminate) }

// Pause freezes every process of the container, and returns once the kernel says so. The text is the proof.
func (i *instance) Pause(ctx context.Context) (string, error) { return i.call(ctx, wire.Pause) }

// Resume lets the container go on, and returns once nothing of it is frozen.
func (i *instance) Resume(ctx context.Context) (string, error) { return i.call(ctx, wire.Resume) }
