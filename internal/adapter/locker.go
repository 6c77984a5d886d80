package adapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// locker is one client's adapter.
type locker struct {
	*program

	about Description
	env   backends.Env
	limit time.Duration // of an answer that nobody can hurry
	clock bool          // its times are used
	once  sync.Once     // for the first breach

	mu       sync.Mutex
	sessions map[string]backends.Renewal            // the last of each lease that grants share
	holds    map[int64]*hold                        // by the id of the attempt
	asked    map[int64]func(l line, at int64) error // renewals and giving up that are under way, by number
}

// hold is an attempt, and the lease that it becomes.
type hold struct {
	l    *locker
	id   int64
	req  backends.Request
	info backends.Info
}

var (
	_ backends.Locker   = (*locker)(nil)
	_ backends.Lease    = (*hold)(nil)
	_ backends.Extender = (*hold)(nil)
	_ backends.Asker    = (*hold)(nil)
)

// pings are how often the clock is held against ours, at the beginning and at the end.
const pings = 20

// open starts the adapter of a client, which must be what it said that it is.
func open(_ context.Context, d Description, argv []string, env backends.Env) (backends.Locker, error) {
	l := &locker{
		about: d, env: env, limit: 10*time.Second + env.Timeout, clock: d.Clock == clockMonotonic,
		holds: map[int64]*hold{}, sessions: map[string]backends.Renewal{}, asked: map[int64]func(line, int64) error{},
	}
	opening := Opening{
		Run: env.Run, Client: env.Client, Nodes: []Node{}, Dir: env.Dir, Lease: env.TTL.Nanoseconds(), Retry: env.Retry.Nanoseconds(),
		Timeout: env.Timeout.Nanoseconds(), Seed: env.Rand.Uint64() >> 12, // every language has it without loss
		Params: map[string]string{},
	}
	for _, p := range d.Params {
		opening.Params[p.Name] = cmp.Or(env.Values[p.Name], p.Default)
	}
	for _, n := range env.Nodes {
		node, err := nodeOf(n.Name, env.Addr(n.Name))
		if err != nil {
			return nil, err
		}
		opening.Nodes = append(opening.Nodes, node)
	}
	argv, differ := of(argv, env.Client)
	p, err := start(argv, cmp.Or(env.Log, io.Writer(os.Stderr)), env.Now, l.noticed)
	if err != nil {
		return nil, err
	}
	l.program = p
	p.mu.Lock()
	p.unwanted = l.giveBack
	p.mu.Unlock()
	go l.watch()
	if err := l.opened(opening, differ); err != nil {
		l.kill()
		l.end()
		return nil, err
	}
	go l.pulse()
	return l, nil
}

func nodeOf(name, addr string) (Node, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return Node{}, fmt.Errorf("the address of server %s is invalid: %w", name, err)
	}
	n, err := strconv.Atoi(port)
	return Node{Name: name, Host: host, Port: n}, err
}

// opened tells it of the run. Where clients differ, it may be of another version; the servers are those of the first.
func (l *locker) opened(o Opening, differ bool) error {
	again, err := l.hello()
	if err != nil {
		return err
	}
	if differ {
		again.Version, again.Library, again.Versions = l.about.Version, l.about.Library, l.about.Versions
		again.Servers = l.about.Servers
	}
	if !reflect.DeepEqual(again, l.about) {
		return errors.New("the adapter's answers to \"hello\" differ: always send the same description")
	}
	if a := l.call(request{Op: opOpen, Opening: &o}, describeLimit); a.err != nil || a.Answer != ansOK {
		if errors.Is(a.err, errEnded) {
			return fmt.Errorf("the adapter ended before it answered \"open\": %w", l.howEnded())
		}
		if a.err != nil {
			return fmt.Errorf("the adapter did not answer \"open\": %w", a.err)
		}
		return fmt.Errorf("the adapter answered \"open\" with %q, not \"ok\"%s", a.Answer, after(a.Message))
	}
	return l.ping()
}

// ping proves that the adapter's clock is ours.
func (l *locker) ping() error {
	if !l.clock {
		return nil
	}
	for range pings {
		a := l.call(request{Op: opPing}, l.limit)
		switch {
		case a.err != nil:
			return a.err
		case a.Now == nil:
			return breach("the answer to \"ping\" lacks \"now\"")
		}
		if err := l.within("now", *a.Now, a.sent, a.at); err != nil {
			return err
		}
	}
	return nil
}

// within refuses a time that is not between two moments of ours.
func (l *locker) within(what string, t nanos, from, to int64) error {
	at := int64(t) - l.env.ClockBase
	switch {
	case at < from:
		return breach("the adapter's clock is not CLOCK_MONOTONIC of this host: the time in field %q is %v before the request", what,
			time.Duration(from-at))
	case at > to:
		return breach("the adapter's clock is not CLOCK_MONOTONIC of this host: the time in field %q is %v after the message arrived",
			what, time.Duration(at-to))
	}
	return nil
}

// broke passes an error on. Of the first breach, and of an end that nobody asked for, it tells the client: nothing of the run
// counts then.
func (l *locker) broke(err error) error {
	if err == nil || (!isBreach(err) && !errors.Is(err, errEnded)) {
		return err
	}
	l.once.Do(func() {
		said := err
		if errors.Is(err, errEnded) {
			said = breach("the adapter ended by itself: %v", l.howEnded())
		}
		l.fail(err) //nolint:errcheck // it is the error
		l.kill()
		l.env.Breach(said.Error())
	})
	return err
}

// Acquire waits for the lock: in the library where that can wait, else by trying.
func (l *locker) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	if !l.about.Waits {
		return backends.Poll(ctx, l.env, req, l.TryAcquire)
	}
	return l.attempt(ctx, opAcquire, req)
}

// TryAcquire makes one try.
func (l *locker) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return l.attempt(ctx, opTry, req)
}

func (l *locker) attempt(ctx context.Context, op string, req backends.Request) (backends.Lease, error) {
	h := &hold{l: l, req: req}
	id, one, err := l.begin(request{Op: op, Lock: req.Lock, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL.Nanoseconds()}, h)
	if err != nil {
		return nil, l.broke(err)
	}
	var a answer
	if op == opAcquire {
		a = l.waitFor(ctx, id, one)
	} else {
		a = l.await(id, one, l.limit)
	}
	if a.err == nil && a.Answer == ansGranted {
		if a.err = h.granted(a); a.err == nil {
			return h, nil
		}
	} else if a.err == nil && a.Answer == ansOK {
		a.err = breach("the adapter answered %s with \"ok\": say \"granted\", or why not", op)
	}
	if a.err == nil {
		l.forget(id)
		a.err = definite(a.Answer, a.Message)
	}
	return nil, l.broke(a.err)
}

// begin asks for the lock. The attempt is known before its answer can come.
func (l *locker) begin(r request, h *hold) (int64, *call, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, one, err := l.ask(r)
	h.id = id
	l.holds[id] = h
	return id, one, err
}

// waitFor waits until the attempt ends, or ctx does: then it is cancelled, and its answer is waited for.
func (l *locker) waitFor(ctx context.Context, id int64, one *call) answer {
	select {
	case a := <-one.answer:
		return a
	case <-ctx.Done():
	}
	if err := l.send(request{Op: opCancel, Hold: id}); err != nil {
		return answer{err: err}
	}
	return l.await(id, one, l.limit)
}

// giveBack releases what was granted after its attempt had been given up, as a program does whose call returns late: else it
// would be held for ever by somebody who does not know of it. The attempt is of unknown outcome on record.
func (l *locker) giveBack(attempt int64) {
	l.broke(l.leave(request{Op: opRelease, Hold: attempt})) //nolint:errcheck // it is told
}

func (l *locker) forget(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.holds, id)
}

// granted takes over what the adapter says of a grant.
func (h *hold) granted(a answer) error {
	info := backends.Info{Owner: a.Owner, Nodes: a.Nodes}
	if a.Token != nil {
		n, err := strconv.ParseInt(*a.Token, 10, 64)
		if err != nil {
			return breach("the token %q of a grant is no whole number in a string",
				*a.Token)
		}
		info.Token, info.HasToken = n, true
	}
	if h.l.about.Tokens != info.HasToken {
		return breach("description and grant disagree about tokens (promised: %t, in the grant: %t)", h.l.about.Tokens, info.HasToken)
	}
	r, err := h.l.lived(a.line, h.req.TTL, a.sent, a.at)
	if err != nil {
		return err
	}
	info.Sent = r.Sent
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	switch {
	case h.l.about.Model.Session:
		session, known := h.l.sessions[a.Lease]
		if !known {
			return breach("a grant names the session %q: announce it first (\"opened\")", a.Lease)
		}
		info.Lease, info.TTL, info.Deadline = a.Lease, session.TTL, session.Deadline
	case h.l.about.Ends == history.EndsLease:
		info.Lease, info.TTL, info.Deadline = cmp.Or(a.Lease, h.req.LeaseName()), r.TTL, r.Deadline
	}
	h.info = info // the reader names its lease
	return nil
}

// lived is how long a grant or a renewal lives by what the adapter says, between two moments of ours. Without a clock it counts
// from the first of them: no hold is made longer than it is.
func (l *locker) lived(said line, ttl time.Duration, from, to int64) (backends.Renewal, error) {
	r := backends.Renewal{Sent: from, TTL: ttl, Nodes: said.Nodes}
	if said.TTL != nil {
		r.TTL = time.Duration(*said.TTL)
	}
	if r.TTL <= 0 || r.TTL > maxTTL {
		return r, breach("a lease has a time to live of %v: it must be 1 ns to %v", r.TTL,
			maxTTL)
	}
	if l.clock && said.Sent == nil {
		return r, breach("a grant or renewal lacks \"sent\", the time just before the request to the store")
	}
	if l.clock && said.Sent != nil {
		if err := l.within("sent", *said.Sent, from, to); err != nil {
			return r, err
		}
		r.Sent = int64(*said.Sent) - l.env.ClockBase
	}
	r.Deadline = r.Sent + r.TTL.Nanoseconds()
	if l.clock && said.Deadline != nil {
		if d := int64(*said.Deadline) - l.env.ClockBase; d <= r.Deadline {
			r.Deadline = d
		} else {
			return r, breach("the deadline of a grant or renewal is %v after the end of the lease", time.Duration(d-r.Deadline))
		}
	}
	return r, nil
}

const maxTTL = 24 * time.Hour

// Info is what was granted.
func (h *hold) Info() backends.Info { return h.info }

// ask asks something under the grant. The error is that the answer is not ok.
func (h *hold) ask(r request) (answer, error) {
	r.Hold = h.id
	a := h.l.call(r, h.l.limit)
	switch {
	case a.err != nil:
	case a.Answer == ansGranted, a.Answer == ansBusy:
		a.err = breach("the adapter answered %s with %s, which is no answer to it", r.Op, a.Answer)
	default:
		return a, definite(a.Answer, a.Message)
	}
	return a, h.l.broke(a.err)
}

// Release gives the lock back.
func (h *hold) Release(context.Context) error {
	_, err := h.ask(request{Op: opRelease})
	return err
}

// Extend extends the lease.
func (h *hold) Extend(context.Context) (backends.Renewal, error) {
	a, err := h.ask(request{Op: opExtend})
	if err != nil {
		return backends.Renewal{}, err
	}
	r, err := h.l.lived(a.line, h.req.TTL, a.sent, a.at)
	return r, h.l.broke(err)
}

// Held asks whether the lock is still held.
func (h *hold) Held(context.Context) (bool, error) {
	a, err := h.ask(request{Op: opAsk})
	if err != nil {
		return false, err
	}
	if a.Held == nil {
		return false, h.l.broke(breach("the answer to \"ask\" lacks \"held\""))
	}
	return *a.Held, nil
}

// Close holds the clocks against each other once more, and ends the adapter. Leases that are still held are not released.
func (l *locker) Close() error {
	err := l.why()
	if err == nil {
		err = l.ping()
	}
	err = l.broke(err)
	l.end()
	return err
}
