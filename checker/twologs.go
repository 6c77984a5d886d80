package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// requests are the requests of one kind under one grant to one register.
type requests struct{ grant, register, f string }

// twoLogs compares what the clients say of their requests with the register's own log. Where
// the two contradict each other one of them is wrong, and nobody knows which.
func (a *audit) twoLogs() {
	if !a.in.Finished[history.PartyRegister] || a.in.End == nil {
		return // it keeps no log, or that is not complete
	}
	said := map[requests][]*history.Event{}
	for i := range a.in.Events {
		e := &a.in.Events[i]
		if e.Party == history.PartyRegister && (e.F == history.FRead || e.F == history.FWrite) {
			k := requests{e.Grant, e.Register, e.F}
			said[k] = append(said[k], e)
		}
	}
	calls := map[requests]int{}
	for _, c := range a.in.Calls {
		if e := c.Invoke; e.F == history.FRead || e.F == history.FWrite {
			k := requests{e.Grant, e.Register, e.F}
			calls[k]++
			a.answered(c, said[k])
		}
	}
	for k, events := range said {
		if calls[k] == 0 {
			a.add("two-logs", fmt.Sprintf("the register has a %s of %s (event %d) that no client has sent", k.f, k.grant, events[0].Index), events[0])
		}
	}
}

// answered looks for the register's answer to a call that has one.
func (a *audit) answered(c *history.Call, said []*history.Event) {
	want := c.Outcome()
	if want == history.Info || (want == history.Fail && c.Return.Error != history.ErrStaleToken) {
		a.sent(c, said)
		return
	}
	for _, e := range said {
		if e.Type == want && sameRequest(c, e) {
			return
		}
	}
	a.add("two-logs", fmt.Sprintf("event %d says that the register answered %s to the %s of %s, and the register's log does not", c.Return.Index, want, c.Invoke.F, c.Invoke.Grant), c.Return)
}

// sent checks that a request that never left did not arrive.
func (a *audit) sent(c *history.Call, said []*history.Event) {
	if c.Outcome() != history.Fail || c.Return.Error != history.ErrNotSent {
		return
	}
	for _, e := range said {
		if sameRequest(c, e) && e.Time >= c.Start() && e.Time <= c.Return.Time {
			a.add("two-logs", fmt.Sprintf("event %d says that a %s of %s was never sent, and the register has it", c.Return.Index, e.F, e.Grant), c.Return)
		}
	}
}

// sameRequest reports whether an event of the register can be of a call: the same values, and
// the same token where both say one.
func sameRequest(c *history.Call, e *history.Event) bool {
	if t := c.Invoke.Token; t.Set && e.Token.Set && t.V != e.Token.V {
		return false
	}
	switch {
	case e.F == history.FWrite:
		return c.Invoke.Value.Base == e.Value.Base && c.Invoke.Value.New == e.Value.New
	case c.Outcome() == history.OK:
		return c.Return.Value.Base == e.Value.Base
	default:
		return true
	}
}
