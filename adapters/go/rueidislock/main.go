// Command rueidislock is the locker of github.com/redis/rueidis as an adapter of lockstorm. Built with more than one release of
// it:
//
//	lockstorm run --backend exec:cmd=adapters/go/launch --nemesis client-pause -- rueidislock
//	MODFILE=old.mod lockstorm run --backend exec:cmd=adapters/go/launch --nemesis client-pause -- rueidislock
//
// KeyMajority is 1, as the library's README has it for one Redis server; all else has its default.
package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

const module = "github.com/redis/rueidis"

type adapter struct {
	program *lockstorm.Program
	open    lockstorm.Request
	spy     *spy
	locker  rueidislock.Locker
}

func (a *adapter) About() lockstorm.Fields {
	version := lockstorm.Version(module)
	return lockstorm.Fields{
		"name": "rueidislock", "version": "1", "doc": "rueidislock with KeyMajority 1", "library": module + " " + version,
		"topologies": []string{"redis-single", "redis-single-aof"}, "ends": "lease", "waits": true, "renews": true,
		"signals":  []lockstorm.Fields{{"kind": "context", "name": "the context that WithContext returns"}},
		"keys":     []string{"lockstorm-{run}:0:{lock}"},
		"versions": lockstorm.Fields{"rueidis": version},
		"params": []lockstorm.Fields{
			{"name": "disable-cache", "default": "no", "doc": "yes: the library's option DisableCache"},
			{"name": "retry", "default": "yes", "doc": "no: the library's option DisableRetry"},
		},
	}
}

func (a *adapter) Open(p *lockstorm.Program, r lockstorm.Request) error {
	for _, name := range []string{"disable-cache", "retry"} {
		if v := r.Params[name]; v != "yes" && v != "no" {
			return fmt.Errorf("the parameter %s is %q: choose from yes, no", name, v)
		}
	}
	a.program, a.open, a.spy = p, r, &spy{program: p}
	return nil
}

// connect makes the library's locker on first use: it connects at once, and a server that is down is no reason to give up.
func (a *adapter) connect() error {
	if a.locker != nil {
		return nil
	}
	option := rueidis.ClientOption{
		InitAddress:  []string{a.open.Nodes[0].Address()},
		DisableCache: a.open.Params["disable-cache"] == "yes", DisableRetry: a.open.Params["retry"] == "no",
	}
	option.Dialer.Control = func(string, string, syscall.RawConn) error {
		a.spy.dials.Add(1)
		return nil
	}
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: option,
		KeyPrefix:    "lockstorm-" + a.open.Run, KeyMajority: 1, KeyValidity: a.open.Lease, ClientBuilder: a.spy.build,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", lockstorm.ErrNotSent, err)
	}
	a.locker = locker
	return nil
}

func (a *adapter) Attempt(ctx context.Context, r lockstorm.Request) (lockstorm.Hold, lockstorm.Fields, error) {
	if err := a.connect(); err != nil {
		return nil, nil, err
	}
	take := a.locker.TryWithContext
	if r.Op == "acquire" {
		take = a.locker.WithContext
	}
	a.spy.begin(r.ID)
	own, granted := until(ctx)
	held, cancel, err := take(own, r.Lock)
	granted()
	switch {
	case err != nil && a.spy.doubt():
		return nil, nil, fmt.Errorf("the library returned the error %v, but one of its requests to Redis got no answer and may have "+
			"acquired the lock", err)
	case err != nil: // every request that could have set the key was refused, or there was none
		return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrBusy, err)
	}
	h := &hold{spy: a.spy, cancel: cancel, over: make(chan struct{})}
	sent := a.spy.granted(h)
	go func() {
		defer close(h.over)
		<-held.Done()
		if !a.spy.isReleasing(h) {
			a.program.Lost(r.ID, "the library cancelled the context of the lock, which means that the lock is lost")
		}
	}()
	return h, lockstorm.Fields{"sent": sent, "deadline": sent + a.open.Lease.Nanoseconds()}, nil
}

// until is a context that ends with another one, until the lock is granted: what the library is given would end the lock, too.
func until(ctx context.Context) (own context.Context, granted func()) {
	own, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	return own, func() { stop() }
}

type hold struct {
	spy    *spy
	cancel context.CancelFunc
	over   chan struct{}
}

// Release has the library delete its key, which its cancel function waits for.
func (h *hold) Release() error {
	h.spy.release()
	h.cancel()
	<-h.over
	return h.spy.released()
}

func main() { lockstorm.Serve(&adapter{}) }

// spy sees what the library sends: scripts that extend and delete the key, and in later releases those that set it.
type spy struct {
	program *lockstorm.Program
	dials   atomic.Int64 // connections that were made: the library sends anew, on the next one, what had no answer

	mu        sync.Mutex
	attempt   int64
	sent      int64 // of the last request that could have set the key
	unheard   bool  // a request that could have set the key had no answer
	holding   *hold
	releasing bool
	last      error  // of the last script of this hold
	word      string // the lease's end in Unix milliseconds, as the last script that was answered had it
	end       int64  // the same by our clock
}

func (s *spy) begin(attempt int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempt, s.sent, s.unheard, s.holding, s.releasing, s.last = attempt, 0, false, nil, false,
		errors.New("the library did not send the command that deletes the lock's key")
}

func (s *spy) doubt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unheard
}

func (s *spy) granted(h *hold) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = h
	return s.sent
}

func (s *spy) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releasing = true
}

func (s *spy) isReleasing(h *hold) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holding != h || s.releasing
}

func (s *spy) released() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *spy) build(option rueidis.ClientOption) (rueidis.Client, error) {
	c, err := rueidis.NewClient(option)
	if err != nil {
		return nil, err
	}
	return &spied{Client: c, spy: s}, nil
}

// spied is the client that the library has.
type spied struct {
	rueidis.Client
	spy *spy
}

// DoMulti sets and gets the key, in early releases.
func (c *spied) DoMulti(ctx context.Context, multi ...rueidis.Completed) []rueidis.RedisResult {
	c.spy.setting()
	answers := c.Client.DoMulti(ctx, multi...)
	c.spy.set(answers[0])
	return answers
}

// Do runs scripts: EVALSHA sha 1 key value [word].
func (c *spied) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	words := append([]string(nil), cmd.Commands()...)
	if len(words) < 6 || (words[0] != "EVALSHA" && words[0] != "EVAL") {
		return c.Client.Do(ctx, cmd)
	}
	n, mine := c.spy.before()
	sent, dials := lockstorm.Now(), c.spy.dials.Load()
	resp := c.Client.Do(ctx, cmd)
	twice := c.spy.dials.Load() != dials
	if !mine {
		c.spy.set(resp)
		return resp
	}
	c.spy.after(resp, twice, n, sent, words[5])
	return resp
}

func (s *spy) setting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = lockstorm.Now()
}

// set notes what came of a request that may have set the key.
func (s *spy) set(resp rueidis.RedisResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := resp.Error()
	_, said := rueidis.IsRedisErr(err)
	s.unheard = s.unheard || err != nil && !said && !rueidis.IsRedisNil(err)
}

// before is called with a script on its way; whether it is one that extends or deletes the key of a hold. An extension is told
// of, and waits.
func (s *spy) before() (n int64, mine bool) {
	s.mu.Lock()
	mine, releasing, attempt := s.holding != nil, s.releasing, s.attempt
	s.mu.Unlock()
	if !mine {
		s.setting()
		return 0, false
	}
	if releasing {
		return 0, true
	}
	return s.program.Wait("renewing", lockstorm.Fields{"hold": attempt}), true
}

// after notes what came of it.
func (s *spy) after(resp rueidis.RedisResult, twice bool, n, sent int64, word string) {
	changed, err := resp.AsInt64()
	if said, ok := rueidis.IsRedisErr(resp.Error()); ok && said.IsNoScript() && n == 0 {
		return // it is sent again, as EVAL
	}
	switch {
	case err == nil && changed == 0 && twice:
		err = errors.New("the lock's key does not belong to this client, but the library may have sent its script twice, and the " +
			"script may have succeeded the first time")
	case err == nil && changed == 0:
		err = lockstorm.ErrNotHeld
	}
	s.mu.Lock()
	s.last = err
	s.mu.Unlock()
	if n == 0 {
		return
	}
	s.program.Tell("renewed", n, s.outcome(err, sent, word))
}

// outcome returns the outcome of a renewal: the word of its script is the lease's end, in Unix milliseconds. The library asks for
// the same end many times: it stays the same on the other clock.
func (s *spy) outcome(err error, sent int64, word string) lockstorm.Fields {
	end, bad := strconv.ParseInt(word, 10, 64)
	switch {
	case errors.Is(err, lockstorm.ErrNotHeld):
		return lockstorm.Fields{"failed": "not-held", "message": "the lock's key no longer has the value that this client set"}
	case err != nil:
		return lockstorm.Fields{"failed": "error", "message": err.Error()}
	case bad != nil:
		return lockstorm.Fields{"failed": "error", "message": "cannot parse the end of the lease: " + word}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.word != word {
		s.word, s.end = word, lockstorm.Now()+time.Until(time.UnixMilli(end)).Nanoseconds()
	}
	return lockstorm.Fields{"sent": sent, "ttl_ns": s.end - sent, "deadline": s.end}
}
