package faults

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// gate has clients stand at points where somebody waits for them.
type gate struct {
	mu    sync.Mutex
	waits []*gateWait
}

type gateWait struct {
	nemesis.Arm
	hit chan *nemesis.Hit
}

// wanted takes out who waits for this client at this point.
func (g *gate) wanted(client, point string) *gateWait {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.waits, func(w *gateWait) bool {
		return (w.Point == "" || w.Point == point) && (len(w.Clients) == 0 || slices.Contains(w.Clients, client))
	})
	if i < 0 {
		return nil
	}
	w := g.waits[i]
	g.waits = slices.Delete(g.waits, i, i+1)
	return w
}

func (g *gate) arm(ctx context.Context, a nemesis.Arm) (*nemesis.Hit, error) {
	w := &gateWait{a, make(chan *nemesis.Hit, 1)}
	g.mu.Lock()
	g.waits = append(g.waits, w)
	g.mu.Unlock()
	if a.Armed != nil {
		a.Armed()
	}
	select {
	case h := <-w.hit:
		return h, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	g.waits = slices.DeleteFunc(g.waits, func(x *gateWait) bool { return x == w })
	g.mu.Unlock()
	select {
	case h := <-w.hit: // it came at the last moment
		h.Go()
	default:
	}
	return nil, ctx.Err()
}

func (g *gate) armAll(ctx context.Context, point string, clients []nemesis.Client) ([]*nemesis.Hit, error) {
	hits, errs := make([]*nemesis.Hit, len(clients)), make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() { hits[i], errs[i] = g.arm(ctx, nemesis.Arm{Point: point, Clients: []string{c.Name()}}) })
	}
	wg.Wait()
	return slices.DeleteFunc(hits, func(h *nemesis.Hit) bool { return h == nil }), errors.Join(errs...)
}

// reach stands at a point for as long as somebody wants that.
func (g *gate) reach(ctx context.Context, h nemesis.Hit) {
	w := g.wanted(h.Client.Name(), h.Point)
	if w == nil {
		return
	}
	gone := make(chan struct{})
	h.Go = sync.OnceFunc(func() { close(gone) })
	w.hit <- &h
	select {
	case <-gone:
	case <-ctx.Done():
	}
}

// labGrant is a grant of a worker.
type labGrant struct {
	lock, client, node string
	at                 int64
}

// work has every client acquire and release the lock until the test ends, by its own links.
func (l *lab) work() {
	for _, c := range l.clients {
		l.workers.Go(func() {
			for nemesis.Wait(l.ctx, time.Millisecond) {
				l.section(c)
			}
		})
	}
}

func (l *lab) section(c *labClient) {
	l.reach(l.ctx, nemesis.Hit{Client: c, Point: history.AtBeforeAcquire})
	sent := l.clock.Now()
	node := l.acquire(c)
	if node == "" {
		return
	}
	g := labGrant{labLock, c.name, node, l.clock.Now()}
	l.mu.Lock()
	l.grants = append(l.grants, g)
	l.mu.Unlock()
	l.reach(l.ctx, nemesis.Hit{
		Client: c, Point: history.AtAcquired, Lock: labLock,
		Deadline: history.Some(sent + labTTL.Nanoseconds()),
	})
	l.release(c)
}

// release gives back what a client was granted, or may have been granted. Its links may be
// broken and the lock has no time to live: so it goes past them.
func (l *lab) release(c *labClient) {
	for _, n := range l.Nodes() {
		if n.Data() {
			l.askBriefly(n.Addr(), "RELEASE", labLock, c.name)
		}
	}
}

// acquire tries every store once; the name is of the one that granted.
func (l *lab) acquire(c *labClient) string {
	for _, n := range l.Nodes() {
		if n.Data() && l.askBriefly(l.way(c.name, n.Name()), "SETNX", labLock, c.name) {
			return n.Name()
		}
	}
	l.release(c)
	return ""
}

func (l *lab) askBriefly(addr string, words ...string) bool {
	ctx, cancel := context.WithTimeout(l.ctx, labTTL/4)
	defer cancel()
	_, err := clustertest.Ask(ctx, addr, words...)
	return err == nil
}

// grantsAt are the grants by a node, so far.
func (l *lab) grantsAt(node string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.grants {
		if g.node == node {
			n++
		}
	}
	return n
}

// threads are the states of all threads of a process, as the kernel has them.
func threads(t *testing.T, pid int) string {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil {
		t.Fatal(err)
	}
	var states strings.Builder
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		states.WriteString(rest[:1])
	}
	return states.String()
}

// stopped reports whether every thread of a process is stopped.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	states := threads(t, pid)
	return states != "" && strings.Trim(states, "T") == ""
}

// cannot are settings in which a fault cannot work, by the sentence that says why. All else is
// there (see wide), and then it can.
func cannot(t *testing.T, fault nemesis.Fault, settings map[string]func(*nemesis.Setting)) {
	t.Helper()
	if err := fault.Available(wide().Setting); err != nil {
		t.Errorf("it cannot work where all is there: %v", err)
	}
	for want, without := range settings {
		s := wide().Setting
		without(&s)
		if err := fault.Available(s); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func noServer(s *nemesis.Setting)    { s.Nodes = 0 }
func noStore(s *nemesis.Setting)     { s.Stores = false }
func noKeys(s *nemesis.Setting)      { s.Keys = false }
func nobodyRules(s *nemesis.Setting) { s.FailOver = 0 }

const (
	withoutServer = "topology t of backend b has no servers, but this fault acts on servers"
	withoutStore  = "this fault needs servers on which lockstorm can delete data: on the servers of topology t this is impossible"
	withoutKeys   = "this fault must know the keys under which the servers keep a lock: lockstorm does not know the keys of " +
		"backend b on topology t"
	withoutFleet = "topology t has no automatic fail-over: choose a topology whose servers replace a failed leader by themselves"
)

// planned plans requests: the value is what the error says, empty where there is none.
func planned(t *testing.T, requests map[string]string) {
	t.Helper()
	for spec, want := range requests {
		_, err := nemesis.NewPlan(all(), wide(spec))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", spec, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
	}
}
