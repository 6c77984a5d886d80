package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/internal/tap"
)

// connectSentinel is a client that asks Sentinel for the master, and is told when it
// changes, as go-redis users have it. It dials what Sentinel announces.
func connectSentinel(env backends.Env, o *goredis.Options, t *tap.Tap) *goredis.Client {
	return goredis.NewFailoverClient(&goredis.FailoverOptions{
		MasterName: MasterName, SentinelAddrs: Sentinels(env), Dialer: AnyDialer(env, t),
		Protocol: o.Protocol, MaxRetries: o.MaxRetries, DialerRetries: o.DialerRetries, DialTimeout: o.DialTimeout,
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, ContextTimeoutEnabled: true,
		PoolSize: o.PoolSize, DisableIdentity: true,
	})
}

// Sentinels returns the addresses of the run's Sentinels; none: it has none.
func Sentinels(env backends.Env) (addrs []string) {
	for _, n := range env.Nodes {
		if n.Role == RoleSentinel {
			addrs = append(addrs, n.Announced)
		}
	}
	return addrs
}

// AnyDialer returns a function that connects to the address it is given, as announced by a Sentinel.
func AnyDialer(env backends.Env, t *tap.Tap) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, _, addr string) (net.Conn, error) {
		return Dialer(env, addr, t)(ctx, "", "")
	}
}

const (
	waitReplicas = 1
	waitPart     = 10 // WAIT gives up after this part of the ttl
)

// takeWait is SET NX PX and, in the same breath on the same connection, WAIT for one
// replica. A key that no replica has is given back: WAIT itself leaves it.
func takeWait(ctx context.Context, l *lock, req backends.Request) (backends.Lease, error) {
	sent := l.env.Now()
	trail := l.tap.Follow(req.Owner)
	defer trail.End()
	var set *goredis.StatusCmd
	var wait *goredis.Cmd
	limit := max(req.TTL/waitPart, time.Millisecond)
	_, err := l.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		set = p.SetArgs(ctx, l.key(req.Lock), req.Owner, goredis.SetArgs{Mode: "NX", TTL: req.TTL})
		wait = p.Do(ctx, "WAIT", waitReplicas, limit.Milliseconds())
		return nil
	})
	if set.Err() != nil {
		return nil, trail.Certain(set.Err(), backends.ErrBusy, nil)
	}
	own := &lease{l: l, req: req, info: leased(req, sent, req.TTL), release: releaseLua}
	have, waitErr := wait.Int64()
	if waitErr == nil && err == nil && have >= waitReplicas {
		return own, nil
	}
	relErr := releaseLua(ctx, own)
	if errors.Is(relErr, backends.ErrNotHeld) && waitErr == nil && err == nil {
		relErr = nil // the server that had set it says that it is gone
	}
	if relErr != nil { // or another server was asked: a fail-over may lie in between
		return nil, unknown(fmt.Errorf("no replica confirmed the lock's key, and the client could not delete the key, so the lock "+
			"may be held: %w", relErr))
	}
	return nil, fmt.Errorf("the client did not get the lock: no replica confirmed the lock's key within %v, so the client deleted "+
		"the key (lockstorm treats this outcome like the error \"%w\")", limit, backends.ErrBusy)
}
