package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// labClient is a client process. It does nothing itself.
type labClient struct {
	*proc.Process
	name  string
	lab   *lab
	fatal error // Kill fails with it
}

var _ nemesis.Client = (*labClient)(nil)

func (c *labClient) Name() string { return c.name }

func (c *labClient) Doing() nemesis.Doing { return nemesis.Idle }

// Kill notes that it came after its announcement.
func (c *labClient) Kill(ctx context.Context) error {
	c.lab.mu.Lock()
	announced := slices.Contains(c.lab.kills, c.name)
	c.lab.mu.Unlock()
	if !announced {
		return errors.New("the kill is not on record")
	}
	if c.fatal != nil {
		return c.fatal
	}
	return c.Process.Kill(ctx)
}

// labNode is a server as the harness shows it.
type labNode struct{ *cluster.Server }

var (
	_ nemesis.Node      = labNode{}
	_ nemesis.Pauser    = labNode{}
	_ nemesis.Restarter = labNode{}
	_ nemesis.Clocker   = labNode{}
	_ nemesis.Disker    = labNode{}
	_ nemesis.Answerer  = labNode{}
)

// bare is a node that can do nothing.
type bare struct{ name string }

func (b bare) Name() string { return b.name }
func (b bare) Addr() string { return "" }
func (b bare) Role() string { return nemesis.RoleMaster }
func (b bare) Data() bool   { return true }
func (b bare) Admin() any   { return nil }

// labFleet replaces masters.
type labFleet struct{ cluster.Fleet }

func (f labFleet) Master(ctx context.Context) (nemesis.Node, error) {
	s, err := f.Fleet.Master(ctx)
	if err != nil {
		return nil, err
	}
	return labNode{s}, nil
}

func (f labFleet) FailOver(ctx context.Context) error { return f.Promote(ctx) }

func (f labFleet) Promoted(ctx context.Context, old string) (n nemesis.Node, err error) {
	if nemesis.Until(ctx, func() (bool, error) {
		n, err = f.Master(ctx)
		return err == nil && n.Name() != old && n.Role() == history.RoleMaster, nil
	}) != nil {
		return nil, errors.Join(fmt.Errorf("no other server was promoted to replace %s", old), err)
	}
	return n, nil
}

func (l *lab) startClient() (*labClient, error) {
	l.mu.Lock()
	l.started++
	c := &labClient{name: fmt.Sprintf("c%d", l.started), lab: l}
	l.mu.Unlock()
	var err error
	if c.Process, err = l.starter.Start(c.name, clustertest.Idle()); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.clients = append(l.clients, c)
	l.mu.Unlock()
	for _, s := range l.cluster.Servers() {
		if err := l.open(c.name, s.Name()); err != nil {
			return nil, err
		}
	}
	return c, l.open(c.name, history.PartyRegister)
}

func (l *lab) open(from, to string) error {
	addr, err := l.net.Between("127.0.0.1", from, to, "")
	l.mu.Lock()
	l.fronts[link.Pair{From: from, To: to}] = addr
	l.mu.Unlock()
	return err
}

// way is by which address a client reaches a server.
func (l *lab) way(client, node string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fronts[link.Pair{From: client, To: node}]
}

// ask asks a server by the way of a client.
func (l *lab) ask(client, node string, words ...string) (string, error) {
	return clustertest.Ask(l.ctx, l.way(client, node), words...)
}

// reaches reports whether a client is answered.
func (l *lab) reaches(client, node string) bool {
	_, err := l.ask(client, node, "PID")
	return err == nil
}

func (l *lab) Clients() []nemesis.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []nemesis.Client
	for _, c := range l.clients {
		if !c.Exited() {
			out = append(out, c)
		}
	}
	return out
}

func (l *lab) Nodes() []nemesis.Node {
	var out []nemesis.Node
	for _, s := range l.cluster.Servers() {
		out = append(out, labNode{s})
	}
	return out
}

func (l *lab) Arm(ctx context.Context, a nemesis.Arm) (*nemesis.Hit, error) { return l.arm(ctx, a) }

func (l *lab) ArmAll(ctx context.Context, point string) (hits []*nemesis.Hit, err error) {
	return l.armAll(ctx, point, l.Clients())
}

func (l *lab) Granted(ctx context.Context, lock, not string, after int64) error {
	return nemesis.Until(ctx, func() (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return slices.ContainsFunc(l.grants, func(g labGrant) bool { return g.lock == lock && g.client != not && g.at > after }), nil
	})
}

func (l *lab) Replace(_ context.Context, killed nemesis.Client) (string, error) {
	if l.stuck != nil {
		return "", l.stuck
	}
	if err := l.net.Leave(killed.Name()); err != nil {
		return "", err
	}
	c, err := l.startClient()
	if err != nil {
		return "", err
	}
	return c.name, nil
}

func (l *lab) Killing(client, node string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kills = append(l.kills, client+node)
	return nil
}

func (l *lab) TTL() time.Duration { return labTTL }

func (l *lab) Now() int64 { return l.clock.Now() }

func (l *lab) Net() *link.Network { return l.net }

func (l *lab) Fleet() nemesis.Fleet {
	f := l.cluster.Fleet()
	if f == nil {
		return nil
	}
	return labFleet{f}
}

func (l *lab) Keys(string) []string { return []string{labLock} }

// client and node find by number, from 1; they are targets.
func (l *lab) client(i int) *labClient { return l.clients[i-1] }
func (l *lab) node(i int) labNode      { return labNode{l.cluster.Servers()[i-1]} }

// store is a node's store, past all links.
func (l *lab) store(i int) clustertest.Store {
	l.t.Helper()
	s, ok := nemesis.As[clustertest.Store](l.node(i))
	if !ok {
		l.t.Fatalf("%s is no store", l.node(i).Name())
	}
	return s
}

// has reports whether a store has a key.
func (l *lab) has(i int, key string) bool {
	l.t.Helper()
	found, err := l.store(i).Has(l.ctx, []string{key})
	l.check(err)
	return len(found) == 1
}

// on are targets.
func on(nodes ...nemesis.Node) nemesis.Target { return nemesis.Target{Nodes: nodes} }

func of(clients ...nemesis.Client) nemesis.Target { return nemesis.Target{Clients: clients} }
