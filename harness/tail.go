package harness

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// tail follows the clients' logs while they grow: it knows what each client is doing
// and who was granted what last. It only informs faults and progress; nothing is judged
// by it.
type tail struct {
	mu      sync.Mutex
	files   map[string]*tailFile
	granted map[string]*grants
	seen    Seen
	alone   bool                        // only one may hold a lock at a time
	holding map[string]map[string]*stay // lock -> client -> its hold, until it is given back
}

// grants are the last grants of a lock to two clients: enough to know whether anybody but one was granted it.
type grants [2]struct {
	client string
	at     int64
}

// add notes a grant.
func (g *grants) add(client string, at int64) {
	i := 0 // of the client, else of the older one
	if g[0].client != client && (g[1].client == client || g[1].at < g[0].at) {
		i = 1
	}
	if at > g[i].at {
		g[i].client, g[i].at = client, at
	}
}

// after reports whether somebody but not was granted the lock after the moment.
func (g *grants) after(not string, moment int64) bool {
	return g[0].client != not && g[0].at > moment || g[1].client != not && g[1].at > moment
}

// stay is a hold as its client's log tells it so far.
type stay struct {
	deadline int64   // until when its client believes in it; Forever: it does not go by a deadline
	met      []int64 // when others were granted the lock before that, as far as is known yet
}

type tailFile struct {
	*history.Follower
	doing nemesis.Doing
}

func newTail(alone bool) *tail {
	return &tail{files: map[string]*tailFile{}, granted: map[string]*grants{}, alone: alone, holding: map[string]map[string]*stay{}}
}

// follow adds a client's log, which must exist.
func (t *tail) follow(client, path string) error {
	f, err := history.Follow(path)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[client] = &tailFile{Follower: f, doing: nemesis.Idle}
	return nil
}

func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, f := range t.files {
		f.Close() //nolint:errcheck // read only
		delete(t.files, name)
	}
}

// leaveOff reads the rest of the log of a client that was killed, and closes it: it holds nothing any more.
func (t *tail) leaveOff(client string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.files[client]
	if f == nil {
		return
	}
	t.read(client, f)
	f.Close() //nolint:errcheck // read only
	delete(t.files, client)
	for _, holds := range t.holding {
		delete(holds, client)
	}
}

// poll reads what has been written since the last poll.
func (t *tail) poll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for client, f := range t.files {
		t.read(client, f)
	}
}

// read takes what a client has written. A log that cannot be read shows in the end.
func (t *tail) read(client string, f *tailFile) {
	_ = f.Poll(matters, func(e *history.Line) { t.event(client, f, e) }) // see above
}

// matters keeps lines from being decoded that say nothing about who holds what.
func matters(line []byte) bool {
	return bytes.Contains(line, []byte(`acquire"`)) || bytes.Contains(line, []byte(`"f":"release"`))
}

func (t *tail) event(client string, f *tailFile, e *history.Line) {
	switch e.F {
	case history.FAcquire, history.FTryAcquire:
		f.doing = map[history.Type]nemesis.Doing{history.Invoke: nemesis.Waits, history.OK: nemesis.Holds}[e.Type]
		if e.Type == history.OK {
			if t.granted[e.Lock] == nil {
				t.granted[e.Lock] = &grants{}
			}
			t.granted[e.Lock].add(client, e.Time)
			t.seen.Grants++
			t.enter(client, e)
		}
	case history.FRelease:
		f.doing = map[history.Type]nemesis.Doing{history.Invoke: nemesis.Releasing}[e.Type]
		if e.Type == history.Invoke {
			t.leave(client, e)
		}
	}
	if f.doing == "" {
		f.doing = nemesis.Idle
	}
}

// enter notes a grant, and whom it meets. The logs are read one after the other, so that a release may be read later than a
// grant that came after it: only the release tells whether they met.
func (t *tail) enter(client string, e *history.Line) {
	if !t.alone {
		return
	}
	if t.holding[e.Lock] == nil {
		t.holding[e.Lock] = map[string]*stay{}
	}
	own := &stay{deadline: e.Deadline.Or(history.Forever)}
	for other, hold := range t.holding[e.Lock] {
		if other != client && e.Time < hold.deadline {
			hold.met = append(hold.met, e.Time)
		}
	}
	t.holding[e.Lock][client] = own
}

// leave ends a hold: who was granted the lock before it ended was inside with it.
func (t *tail) leave(client string, e *history.Line) {
	hold := t.holding[e.Lock][client]
	if hold == nil {
		return
	}
	delete(t.holding[e.Lock], client)
	for _, at := range hold.met {
		if at < e.Time {
			t.seen.Overlaps++
		}
	}
}

// doing is what a client is doing by its log, read now.
func (t *tail) doing(client string) nemesis.Doing {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.files[client]; f != nil {
		t.read(client, f)
		return f.doing
	}
	return nemesis.Idle
}

// count is what was seen so far.
func (t *tail) count() Seen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}

const tailEvery = time.Millisecond

// waitGrant waits until somebody but not was granted the lock after the moment; with an empty name any lock.
func (t *tail) waitGrant(ctx context.Context, lock, not string, after int64) error {
	for t.poll(); !t.grantedAfter(lock, not, after); t.poll() {
		if !nemesis.Wait(ctx, tailEvery) {
			return ctx.Err()
		}
	}
	return nil
}

func (t *tail) grantedAfter(lock, not string, after int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, g := range t.granted {
		if (name == lock || lock == "") && g.after(not, after) {
			return true
		}
	}
	return false
}
