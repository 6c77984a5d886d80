package audit

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// received is a request in the register's log.
type received struct {
	*history.Event
	next int  // the next one under the same grant; 0: none
	sent bool // a client has one of this kind
}

// like reports whether two requests are of one kind: under one grant, the same to the same register.
func (r *received) like(e *history.Event) bool { return r.F() == e.F() && r.Register() == e.Register() }

// twoLogs compares what the clients say of their requests with the register's own log. Where
// the two contradict each other one of them is wrong, and nobody knows which.
func (a *audit) twoLogs() {
	if !a.in.Finished[history.PartyRegister] || a.in.End == nil {
		return // it keeps no log, or that is not complete
	}
	log, first := a.registerLog()
	long := map[int]*requests{} // of grants with many, by their numbers
	var same []*history.Event
	for _, c := range a.in.Calls {
		e := c.Invoke
		if e.F() != history.FRead && e.F() != history.FWrite {
			continue
		}
		grant := c.Grant.Number
		if of := long[grant]; of != nil {
			a.answered(c, of.like(c))
			continue
		}
		same = same[:0]
		steps := 0
		for i := first[grant]; i != 0; i = log[i].next {
			steps++
			if r := &log[i]; r.like(e) {
				r.sent = true
				same = append(same, r.Event)
			}
		}
		a.answered(c, same)
		if steps > manyRequests {
			long[grant] = requestsOf(log, first[grant])
		}
	}
	for grant, of := range long {
		for i := first[grant]; i != 0; i = log[i].next {
			log[i].sent = log[i].sent || of.asked[kindOf(log[i].Event)]
		}
	}
	type unsent struct {
		grant string
		kind
	}
	said := map[unsent]bool{}
	for _, r := range log[1:] {
		if k := (unsent{r.Grant(), kindOf(r.Event)}); !r.sent && !said[k] {
			said[k] = true
			a.add("two-logs", fmt.Sprintf("the register logged a %[1]s under grant %[2]s (event %[3]d), but no client sent this %[1]s",
				r.F(), r.Grant(), r.Index), r.Event)
		}
	}
}

// registerLog is what the register did, from 1 on, and where that of each grant begins. What names no grant is in no chain:
// no client can have sent it.
func (a *audit) registerLog() (log []received, first []int) {
	log = make([]received, 1, 1+len(a.in.Registered))
	first, last := make([]int, len(a.in.Grants)), make([]int, len(a.in.Grants))
	for i, e := range a.in.Registered {
		if e.F() != history.FRead && e.F() != history.FWrite {
			continue
		}
		n := len(log)
		log = append(log, received{Event: e})
		g := a.in.Requests[i]
		if g == nil {
			continue
		}
		if before := last[g.Number]; before != 0 {
			log[before].next = n
		} else {
			first[g.Number] = n
		}
		last[g.Number] = n
	}
	return log, first
}

// answered looks for the register's answer to a call that has one.
func (a *audit) answered(c *history.Call, said []*history.Event) {
	want := c.Outcome()
	if want == history.Info || (want == history.Fail && c.Return.Code() != history.ErrStaleToken) {
		a.sent(c, said)
		return
	}
	for _, e := range said {
		if e.Type() == want && sameRequest(c, e) {
			return
		}
	}
	a.add("two-logs", fmt.Sprintf("according to event %d, a client got the answer %s to a %s under grant %s, but the log of the "+
		"register has no such answer", c.Return.Index, want, c.Invoke.F(), c.Invoke.Grant()), c.Return)
}

// sent checks that a request that never left did not arrive.
func (a *audit) sent(c *history.Call, said []*history.Event) {
	if c.Outcome() != history.Fail || c.Return.Code() != history.ErrNotSent {
		return
	}
	for _, e := range said {
		if sameRequest(c, e) && e.Time >= c.Start() && e.Time <= c.Return.Time {
			a.add("two-logs", fmt.Sprintf("according to event %[1]d, the client did not send a %[2]s under grant %[3]s, but the "+
				"register logged this %[2]s", c.Return.Index, e.F(), e.Grant()), c.Return)
		}
	}
}

// sameRequest reports whether an event of the register can be of a call: the same values, and
// the same token where both say one.
func sameRequest(c *history.Call, e *history.Event) bool {
	if t := c.Invoke.Token(); t.Set && e.Token().Set && t.V != e.Token().V {
		return false
	}
	switch {
	case e.F() == history.FWrite:
		return c.Invoke.Base() == e.Base() && c.Invoke.New() == e.New()
	case c.Outcome() == history.OK:
		return c.Return.Base() == e.Base()
	default:
		return true
	}
}
