package audit

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// manyRequests is how many requests under one grant are looked through for each call; where there are
// more, they are looked up, so that a long section is not judged in the square of its length.
const manyRequests = 64

// kind is what requests under one grant are told apart by.
type kind struct{ register, f string }

func kindOf(e *history.Event) kind { return kind{e.Register(), e.F()} }

// requests are what a register's log has under one grant.
type requests struct {
	asked   map[kind]bool             // clients have some
	all     map[kind][]*history.Event // in order of time
	answers map[request]*history.Event
	one     [1]*history.Event // what like has found
}

// request is all that [sameRequest] compares, and the type. An event stands under its token, and under any.
type request struct {
	kind
	what      history.Type
	base, new history.Opt
	token     history.Opt
	any       bool
}

// requestsOf are those of a chain in the register's log.
func requestsOf(log []received, first int) *requests {
	r := &requests{asked: map[kind]bool{}, all: map[kind][]*history.Event{}, answers: map[request]*history.Event{}}
	for i := first; i != 0; i = log[i].next {
		e := log[i].Event
		k := kindOf(e)
		r.asked[k] = r.asked[k] || log[i].sent
		r.all[k] = append(r.all[k], e)
		a := valuesOf(e.F(), e.Type(), e.Value())
		a.kind, a.token = k, e.Token()
		r.keep(a, e)
		a.token, a.any = history.Opt{}, true
		r.keep(a, e)
	}
	return r
}

// keep notes the first event of its values: whether there is one is all that is asked.
func (r *requests) keep(a request, e *history.Event) {
	if r.answers[a] == nil {
		r.answers[a] = e
	}
}

// valuesOf has the values that matter: those of a write, the value of a read that was answered.
func valuesOf(f string, what history.Type, v history.Value) request {
	switch {
	case f == history.FWrite:
		return request{what: what, base: v.Base, new: v.New}
	case what == history.OK:
		return request{what: what, base: v.Base}
	default:
		return request{what: what}
	}
}

// like are events that may be of a call: enough of them for [audit.answered] to say what it would say of all. They are
// valid until the next call.
func (r *requests) like(c *history.Call) []*history.Event {
	k := kindOf(c.Invoke)
	r.asked[k] = true
	what := c.Outcome()
	if c.Return == nil {
		return nil
	}
	if what == history.Info || (what == history.Fail && c.Return.Code() != history.ErrStaleToken) {
		all := r.all[k]
		from, _ := slices.BinarySearchFunc(all, c.Start(), atTime)
		to, _ := slices.BinarySearchFunc(all, c.Return.Time+1, atTime)
		return all[from:max(from, to)]
	}
	v := c.Invoke.Value()
	if c.Invoke.F() == history.FRead {
		v = c.Return.Value()
	}
	a := valuesOf(c.Invoke.F(), what, v)
	a.kind = k
	if t := c.Invoke.Token(); t.Set {
		a.token = t
		if r.answers[a] == nil {
			a.token = history.Opt{} // one that says none
		}
	} else {
		a.any = true
	}
	if r.one[0] = r.answers[a]; r.one[0] == nil {
		return nil
	}
	return r.one[:]
}

func atTime(e *history.Event, t int64) int { return cmp.Compare(e.Time, t) }
