package ensembletest

import (
	"context"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// Heard counts what a client was told of its sessions.
type Heard struct{ Renewed, Lost atomic.Int64 }

// Env is that of a client whose connections lead to the servers themselves, and what it hears.
func (b *Bench) Env(ttl time.Duration) (backends.Env, *Heard) {
	h, clock, addrs := &Heard{}, history.NewClock(), map[string]string{}
	env := backends.Env{
		Run: "run", Client: "c", TTL: ttl, Retry: 10 * time.Millisecond, Timeout: 5 * time.Second, Now: clock.Now,
		Rand: rand.New(rand.NewPCG(1, 1)), Dir: b.TempDir(),
		Dial: func(ctx context.Context, node string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", addrs[node])
		},
		Session: backends.Session{
			Opened: func(string, backends.Renewal) error { return nil },
			Renewing: func(string) (func(backends.Renewal, error), error) {
				return func(_ backends.Renewal, err error) {
					if err == nil {
						h.Renewed.Add(1)
					}
				}, nil
			},
			Lost: func(string, string) { h.Lost.Add(1) },
		},
	}
	for _, s := range b.Cluster.Servers() {
		addrs[s.Name()] = s.Addr()
		env.Nodes = append(env.Nodes, cluster.Ref{Name: s.Name()})
	}
	return env, h
}
