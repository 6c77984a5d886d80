// Package external runs locks against servers that somebody else runs: it starts nothing, stops
// nothing, and knows them by host and port. Where they want TLS or a password, a door of our own
// process opens each connection, so that no backend, no client process and no record knows of it.
//
//	client -> its link -> door (127.0.0.1, in our process) -> TLS, login -> server
package external

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/lists"
)

const askLimit = 5 * time.Second // for a server to take a connection, and a login

// Servers are where the nodes of a topology are, by name.
type Servers map[string]string

// ParseServers reads words NODE=HOST:PORT, each of which may be several with commas between.
func ParseServers(words []string) (Servers, error) {
	s := Servers{}
	for _, w := range words {
		for part := range strings.SplitSeq(w, ",") {
			name, addr, ok := strings.Cut(part, "=")
			if !ok || name == "" {
				return nil, fmt.Errorf("%q: write NODE=HOST:PORT, as in store-1=127.0.0.1:7000", part)
			}
			host, port, err := net.SplitHostPort(addr)
			if n, bad := strconv.Atoi(port); err != nil || host == "" || bad != nil || n < 1 || n > 65535 {
				return nil, fmt.Errorf("%q: write NODE=HOST:PORT, as in store-1=127.0.0.1:7000", part)
			}
			if _, twice := s[name]; twice {
				return nil, fmt.Errorf("node %s is named twice", name)
			}
			s[name] = addr
		}
	}
	return s, nil
}

// Provider is the servers of somebody else.
type Provider struct {
	servers Servers
	access  Access

	mu    sync.Mutex
	doors []*door
}

var (
	_ cluster.Provider  = (*Provider)(nil)
	_ cluster.Versioner = (*Provider)(nil)
)

// New is a provider of servers, which are entered as the access says.
func New(s Servers, a Access) *Provider { return &Provider{servers: s, access: a} }

// Name is "external".
func (*Provider) Name() string { return cluster.ExternalName }

// Available is nil when every node was named, and each can be shared with others.
func (p *Provider) Available(t cluster.Topology) error {
	if len(p.servers) == 0 {
		return errors.New("--servers is missing: write NODE=HOST:PORT,... with an address for each of these servers: " +
			strings.Join(nodes(t), ", "))
	}
	for _, r := range t.Nodes {
		if p.servers[r.Name] == "" {
			return fmt.Errorf("--servers gives no address for the server %s (topology %s has the servers %s)", r.Name, t.Name,
				strings.Join(nodes(t), ", "))
		}
		if !cluster.Can[cluster.Tenant](r) {
			return fmt.Errorf("server %s of topology %s cannot be an existing server, because on a server of this kind lockstorm could "+
				"not separate the data of the run from other data: use another --provider", r.Name, t.Name)
		}
		if p.access.Password != "" && r.Login == nil {
			return fmt.Errorf("the environment variable %s contains a password, but lockstorm does not support passwords for the server "+
				"%s: unset this variable", envPassword, r.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.servers)) {
		if _, ok := t.Node(name); !ok {
			return fmt.Errorf("--servers names %s, but topology %s has no server with this name (its servers: %s)", name, t.Name,
				strings.Join(nodes(t), ", "))
		}
	}
	return nil
}

func nodes(t cluster.Topology) (names []string) {
	for _, r := range t.Nodes {
		names = append(names, r.Name)
	}
	return names
}

// Foreign says that the servers are not ours.
func (*Provider) Foreign() {}

// Prepare has nothing to prepare.
func (*Provider) Prepare(context.Context, cluster.Recipe, cluster.Place) error { return nil }

// Launch looks for the server, and opens the door to it where one is needed.
func (p *Provider) Launch(ctx context.Context, _ cluster.Topology, r cluster.Recipe, place cluster.Place) (cluster.Instance,
	error,
) {
	theirs := p.servers[r.Name]
	asking, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	c, err := p.access.enter(asking, r, theirs)
	if err != nil {
		return nil, fmt.Errorf("--servers %s=%s: %w", r.Name, theirs, err)
	}
	if err := c.Close(); err != nil {
		return nil, err
	}
	addr := theirs
	if p.access.needed() {
		d, err := openDoor(func(ctx context.Context) (net.Conn, error) { return p.access.enter(ctx, r, theirs) })
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		p.doors = append(p.doors, d)
		p.mu.Unlock()
		addr = d.addr()
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	place.Host = host
	if place.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	return &instance{name: r.Name, place: place, done: make(chan struct{})}, nil
}

// Versions are what the servers say that they are, by node.
func (p *Provider) Versions(ctx context.Context, t cluster.Topology) (map[string]string, error) {
	found := map[string]string{}
	for _, r := range t.Nodes {
		in, err := p.Launch(ctx, t, r, cluster.Place{})
		if err != nil {
			return nil, err
		}
		tenant, ok := r.Admin(in.Place().Addr).(cluster.Tenant)
		if !ok {
			return nil, p.Available(t) // which says why not
		}
		asking, cancel := context.WithTimeout(ctx, askLimit)
		found[r.Name], err = tenant.Version(asking)
		cancel()
		if err != nil {
			return nil, fmt.Errorf("--servers %s=%s: cannot ask the server for its version: %w", r.Name, p.servers[r.Name], err)
		}
	}
	return found, nil
}

// Close shuts the doors.
func (p *Provider) Close() error {
	p.mu.Lock()
	doors := p.doors
	p.doors = nil
	p.mu.Unlock()
	return errors.Join(lists.Map(doors, (*door).close)...)
}

// instance is a server that is not ours.
type instance struct {
	name  string
	place cluster.Place
	done  chan struct{} // open until we leave it alone
	left  sync.Once
}

// Place is where it, or the door to it, listens.
func (i *instance) Place() cluster.Place { return i.place }

// Pid is 0: nobody here sees its process.
func (*instance) Pid() int { return 0 }

// Done is closed when we have left it alone; whether it lives nobody here knows.
func (i *instance) Done() <-chan struct{} { return i.done }

func (i *instance) theirs(what string) error {
	return fmt.Errorf("the server %s cannot be %s, because lockstorm did not start this server", i.name, what)
}

// Kill does not.
func (i *instance) Kill(context.Context) error { return i.theirs("killed") }

// Pause does not.
func (i *instance) Pause(context.Context) (string, error) { return "", i.theirs("paused") }

// Resume has nothing to resume.
func (i *instance) Resume(context.Context) (string, error) { return "", i.theirs("resumed") }

// Terminate leaves it alone.
func (i *instance) Terminate(context.Context) error {
	i.left.Do(func() { close(i.done) })
	return nil
}
