package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// redlock is the algorithm that antirez published: the key on a majority of independent
// masters, asked in parallel with a short time-out each, valid for the time to live less
// the time that asking took less an allowance for clock drift.
//
//	start --SET NX PX--> n1 n2 n3 n4 n5     granted: a majority said OK,
//	                                        and start + ttl - drift lies ahead
//
// Times are of a monotonic clock. A failed attempt is cleaned up on every node.
type redlock struct {
	env     backends.Env
	nodes   []redlockNode
	quorum  int             // votes that make a grant
	release *goredis.Script // frees the key at one node
	// quarantine: a node that was started less than one time to live ago has no vote.
	quarantine bool
	tries      int // so far: each has an owner of its own
	renews     bool
}

type redlockNode struct {
	name   string
	client *goredis.Client
}

// redlockOption changes a redlock.
type redlockOption func(*redlock)

func openRedlock(opts ...redlockOption) func(context.Context, backends.Env) (backends.Locker, error) {
	return func(_ context.Context, env backends.Env) (backends.Locker, error) {
		if len(env.Nodes) == 0 {
			return nil, errNoServer
		}
		r := &redlock{env: env, quorum: len(env.Nodes)/2 + 1, release: compareAndDelete}
		for _, n := range env.Nodes {
			r.nodes = append(r.nodes, redlockNode{n.Name, goredis.NewClient(options(env, n.Name, nodeTimeout(env.TTL), nil))})
		}
		for _, o := range opts {
			o(r)
		}
		return r, nil
	}
}

// nodeTimeout is how long one node may take: small against the time to live, so that a
// dead node does not use it up.
func nodeTimeout(ttl time.Duration) time.Duration { return max(ttl/10, 20*time.Millisecond) }

// drift is the allowance for clocks that run at different speeds: 1 % and 2 ms.
func drift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// Acquire polls with jitter, as the algorithm asks for.
func (r *redlock) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, r.env, req, r.TryAcquire)
}

// answer is what one node said.
type answer int

const (
	unheard answer = iota // it may have done it, or not
	yes                   // it did
	no                    // it certainly did not
)

// tally counts answers.
func tally(answers []answer, a answer) (n int) {
	for _, x := range answers {
		if x == a {
			n++
		}
	}
	return n
}

// ask asks every node that the mask includes, in parallel; the others count as no.
func (r *redlock) ask(mask func(i int) bool, f func(n redlockNode) answer) []answer {
	out := make([]answer, len(r.nodes))
	var wg sync.WaitGroup
	for i, n := range r.nodes {
		if !mask(i) {
			out[i] = no
			continue
		}
		wg.Go(func() { out[i] = f(n) })
	}
	wg.Wait()
	return out
}

func all(int) bool { return true }

// TryAcquire makes one attempt at all nodes.
func (r *redlock) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	// What a node does late, of an earlier try, must not be taken for this one's.
	r.tries++
	req.Owner = fmt.Sprintf("%s.%d", req.Owner, r.tries)
	sent := r.env.Now()
	votes := r.ask(all, func(n redlockNode) answer { return r.vote(ctx, n, req) })
	info := leased(req, sent, req.TTL)
	info.Deadline -= drift(req.TTL).Nanoseconds()
	if tally(votes, yes) >= r.quorum && r.env.Now() < info.Deadline {
		for i, v := range votes {
			if v == yes {
				info.Nodes = append(info.Nodes, r.nodes[i].name)
			}
		}
		own := &redlockLease{r: r, req: req, info: info}
		if r.renews {
			return backends.Watch(ctx, own, r.env.Now, req, own.Extend), nil
		}
		return own, nil
	}
	return nil, r.giveUp(ctx, req, votes)
}

// giveUp cleans a failed attempt up. It certainly failed when no majority can still hold
// the key: a node that did not answer may yet carry the request out, after our cleaning.
func (r *redlock) giveUp(ctx context.Context, req backends.Request, votes []answer) error {
	cleaned := r.ask(func(i int) bool { return votes[i] != no }, func(n redlockNode) answer { return r.free(ctx, n, req) })
	left := 0
	for i, v := range votes {
		if v == unheard || (v == yes && cleaned[i] == unheard) {
			left++
		}
	}
	got := fmt.Sprintf("%d of %d nodes granted the lock, %d did not answer", tally(votes, yes), len(votes), tally(votes, unheard))
	if left >= r.quorum {
		return errors.New(got + ", and a majority of the nodes may still have the key, so the outcome is unknown")
	}
	return fmt.Errorf("%w: %s", backends.ErrBusy, got)
}

// vote asks one node for the key.
func (r *redlock) vote(ctx context.Context, n redlockNode, req backends.Request) answer {
	args := goredis.SetArgs{Mode: "NX", TTL: req.TTL}
	if !r.quarantine {
		return said(n.client.SetArgs(ctx, lockKey(r.env.Run, req.Lock), req.Owner, args).Err())
	}
	conn := n.client.Conn()
	defer conn.Close() //nolint:errcheck // back to the pool
	if votes, err := oldEnough(ctx, conn, req.TTL); err != nil || !votes {
		return no // nothing was asked for yet
	}
	return said(conn.SetArgs(ctx, lockKey(r.env.Run, req.Lock), req.Owner, args).Err())
}

// oldEnough reports whether a server has certainly been up for longer than ttl: what is
// asked on the same connection is asked of the same life of the server. Its uptime comes
// in whole seconds and may be up to one too many.
func oldEnough(ctx context.Context, conn *goredis.Conn, ttl time.Duration) (bool, error) {
	info, err := conn.Info(ctx, "server").Result()
	if err != nil {
		return false, err
	}
	up, err := strconv.Atoi(infoField(info, "uptime_in_seconds"))
	return time.Duration(up-1)*time.Second >= ttl, err
}

// said turns the error of a SET NX into an answer.
func said(err error) answer {
	switch err = classify(err); {
	case err == nil:
		return yes
	case errors.Is(err, goredis.Nil) || errors.Is(err, backends.ErrNotSent):
		return no
	default:
		return unheard
	}
}

// free deletes the key at one node if it is the request's own.
func (r *redlock) free(ctx context.Context, n redlockNode, req backends.Request) answer {
	return r.script(ctx, n, r.release, req, req.Owner)
}

// script runs a script that answers 1 for done and 0 for not ours. A node that has no vote
// may say that it did, and not that the key is not there: it forgot.
func (r *redlock) script(ctx context.Context, n redlockNode, s *goredis.Script, req backends.Request, args ...any) answer {
	conn := n.client.Conn()
	defer conn.Close() //nolint:errcheck // back to the pool
	votes := true
	if r.quarantine {
		var err error
		if votes, err = oldEnough(ctx, conn, req.TTL); err != nil {
			return unheard
		}
	}
	done, err := s.Run(ctx, conn, []string{lockKey(r.env.Run, req.Lock)}, args...).Int64()
	switch {
	case err != nil:
		return unheard // also a node that could not be asked: it may still hold the key
	case done != 0:
		return yes
	case votes:
		return no
	default:
		return unheard
	}
}

// Close closes the connections to all nodes.
func (r *redlock) Close() error {
	return errors.Join(lists.Map(r.nodes, func(n redlockNode) error { return n.client.Close() })...)
}

// redlockLease is a key that a majority granted.
type redlockLease struct {
	r    *redlock
	req  backends.Request
	info backends.Info
}

// Info is what was granted, and by which nodes.
func (l *redlockLease) Info() backends.Info {
	in := l.info
	in.Nodes = slices.Clone(in.Nodes)
	return in
}

// Release deletes the key at every node: a majority must confirm it.
func (l *redlockLease) Release(ctx context.Context) error {
	return l.majority(l.r.ask(all, func(n redlockNode) answer { return l.r.free(ctx, n, l.req) }))
}

// Extend prolongs the key at every node that still has it: a majority must confirm it, in
// time.
func (l *redlockLease) Extend(ctx context.Context) (backends.Renewal, error) {
	re := backends.Renewal{Sent: l.r.env.Now(), TTL: l.req.TTL}
	re.Deadline = re.Sent + (l.req.TTL - drift(l.req.TTL)).Nanoseconds()
	err := l.majority(l.r.ask(all, func(n redlockNode) answer {
		return l.r.script(ctx, n, renewScript, l.req, l.req.Owner, l.req.TTL.Milliseconds())
	}))
	if err == nil && l.r.env.Now() >= re.Deadline {
		err = errors.New("the extension came too late: the answers arrived after the deadline that the extension would have set")
	}
	return re, err
}

// majority says what the answers amount to: done, certainly not held, or unknown.
func (l *redlockLease) majority(answers []answer) error {
	switch {
	case tally(answers, yes) >= l.r.quorum:
		return nil
	case tally(answers, no) >= l.r.quorum:
		return backends.ErrNotHeld
	default:
		return fmt.Errorf("no majority of the %d nodes agrees: %d confirmed the request, %d refused the request", len(answers),
			tally(answers, yes), tally(answers, no))
	}
}
