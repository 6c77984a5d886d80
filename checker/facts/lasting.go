package facts

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Updates counts the acknowledged updates of a register by their fate.
type Updates struct {
	Acked       int
	Overwritten int // by a write of a client that had not seen them
	BroughtBack int // of these: the last value is built upon them again; only a log shows it
	// The last value is missing from Lost to Most of them, as writes of unknown outcome allow.
	Lost, Most int
}

// tree are the accepted writes of a register, in order: each was built upon the one whose value its section had read, or had
// written itself. Writes are numbered from 1; 0 is the first value.
type tree struct {
	writes []write
	last   int           // the write whose value the register has
	latest map[int64]int // value -> the last write of it; nil before a read contradicts the log
}

type write struct {
	*history.Event
	by     *section
	parent int
}

// read finds the write whose value a read was answered with. Where that is not the value of the last one, the register
// forgot what it had accepted.
func (t *tree) read(e *history.Event, value int64) (built int) {
	t.last = len(t.writes)
	if v := e.Base(); v.Set && v.V != value {
		if t.latest == nil {
			t.latest = map[int64]int{}
			for i, w := range t.writes {
				t.latest[w.New().V] = i + 1
			}
		}
		t.last = t.latest[v.V]
	}
	return t.last
}

// write adds a write by a section, which is built upon what that knows; what knows nothing sets a value, whatever that was.
func (t *tree) write(e *history.Event, by *section) {
	parent := by.built
	if parent < 0 {
		parent = len(t.writes)
	}
	t.writes = append(t.writes, write{e, by, parent})
	t.last = len(t.writes)
	if t.latest != nil {
		t.latest[e.New().V] = t.last
	}
	by.built = t.last
}

// lasting calls f for the writes that the last value is built upon, the last one first.
func (t *tree) lasting(f func(write)) {
	for i := t.last; i > 0; i = t.writes[i-1].parent {
		f(t.writes[i-1])
	}
}

// updates says what became of the updates that clients were told of. That the register's log has them is what
// assumptions asks.
func (r *replay) updates() (u Updates) {
	r.tree.lasting(func(w write) {
		if ack := r.ackOf(w); ack != nil {
			ack.lasts = true
		}
	})
	for _, g := range r.in.ByLock[r.lock] {
		for _, c := range g.Uses {
			if r.acked(c) {
				u.Acked++
				if !r.acksOf(r.of(g, g.ID)).of(c.Invoke.New()).lasts {
					u.Lost++
				}
			}
		}
	}
	for i := range r.shown {
		s := &r.shown[i]
		if s.What != ShowsLoss {
			continue
		}
		u.Overwritten += len(s.Others)
		for _, w := range s.Others {
			if r.acksOf(r.of(r.in.ByID[w.Grant()], w.Grant())).of(w.New()).lasts {
				u.BroughtBack++
			} else {
				s.Gone = append(s.Gone, w)
			}
		}
	}
	u.Most = u.Lost
	return u
}

// unlogged says what became of the updates of a register without a log, by the last value that somebody saw: which
// updates it is built upon, the values tell where each write raises the value. Of several writes of one value it is built
// upon one, and nobody knows whether one of unknown outcome was accepted.
func (in *Facts) unlogged(register, lock string, shown []Shown) (u Updates) {
	var writes, seen []*history.Call // that may have been accepted; whose answers show a value
	rising, latest := true, int64(0)
	for _, g := range in.ByLock[lock] {
		for _, c := range g.Uses {
			write := c.Invoke.F() == history.FWrite
			if c.Invoke.Register() != register || c.Outcome() == history.Fail || (!write && c.Invoke.F() != history.FRead) {
				continue
			}
			if write {
				writes = append(writes, c)
				rising = rising && c.Invoke.New().V > c.Invoke.Base().V && knew(g, c)
			}
			if c.Outcome() != history.OK {
				continue
			}
			seen, latest = append(seen, c), max(latest, c.Start())
			if write {
				u.Acked++
			}
		}
	}
	u.Overwritten = len(shown)
	u.Lost, u.Most = u.Acked, 0
	upon := ways(in.Run.Registers[register], writes)
	for _, c := range seen {
		if c.End() >= latest { // nobody looked later
			w := upon[valueAfter(c)]
			u.Lost, u.Most = min(u.Lost, u.Acked-w.most), max(u.Most, u.Acked-w.least)
		}
	}
	if !rising {
		u.Lost, u.Most = 0, u.Acked
	}
	u.Lost = max(u.Lost, len(shown)) // each is lost for certain
	u.Most = max(u.Most, u.Lost)
	return u
}

// valueAfter is the value that a register had after a call.
func valueAfter(c *history.Call) int64 {
	if c.Invoke.F() == history.FWrite {
		return c.Invoke.New().V
	}
	return c.Return.Base().V
}

// knew reports whether a section had read the value that it replaces, or had written it itself.
func knew(g *history.Grant, write *history.Call) bool {
	e := write.Invoke
	return hasRead(g, e) || slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		own := u.Invoke
		return own.F() == history.FWrite && own.Register() == e.Register() && own.Time < e.Time && own.New() == e.Base()
	})
}

// way is how many acknowledged writes a value is built upon, at least and at most.
type way struct{ least, most int }

// ways are those to each value, by writes of which each raises the value. A value that nobody wrote is built upon none.
func ways(first int64, writes []*history.Call) map[int64]way {
	out := map[int64]way{first: {}}
	base := func(c *history.Call) int64 { return c.Invoke.Base().V }
	slices.SortFunc(writes, func(a, b *history.Call) int { return cmp.Compare(base(a), base(b)) })
	for _, c := range writes {
		to, w := c.Invoke.New().V, out[base(c)]
		if c.Outcome() == history.OK {
			w.least, w.most = w.least+1, w.most+1
		}
		if old, known := out[to]; known {
			w = way{min(w.least, old.least), max(w.most, old.most)}
		}
		out[to] = w
	}
	return out
}
