package plant

import (
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

func timeBack(r *rand.Rand, h *record) bool {
	i := ordinary(r, h)
	if i <= 0 || h.Events[i-1].Time < 2 {
		return false
	}
	h.Events[i].Time = h.Events[i-1].Time - 1
	return true
}

// overlapping begins an operation inside another one of the same process.
func overlapping(r *rand.Rand, h *record) bool {
	i := pick(r, h, func(e *history.Line) bool { return anyInvoke(e) && e.F == history.FRead })
	if i < 0 {
		return false
	}
	e := h.Events[i]
	e.F, e.Register, e.Value = history.FWork, "", history.Value{}
	back := e
	back.Type = history.OK
	return insert(h, i+1, e) && insert(h, i+2, back) && sequence(h)
}

// died takes the end of a living client away.
func died(r *rand.Rand, h *record) bool {
	i := pick(r, h, func(e *history.Line) bool { return e.F == history.FEnd && e.Client != "" })
	return remove(h, i) && sequence(h)
}

func afterEnd(r *rand.Rand, h *record) bool {
	i := pick(r, h, func(e *history.Line) bool { return e.F == history.FEnd && e.Client != "" })
	if i < 0 {
		return false
	}
	e := h.Events[i]
	e.F, e.Value = history.FStall, history.ValueOf(history.Stall{})
	before := slices.Clone(h.Events[i].Value.JSON)
	ok := insert(h, i+1, e) && sequence(h)
	h.Events[i].Value.JSON = before // it says what it said
	return ok
}

func partyCount(_ *rand.Rand, h *record) bool {
	return changeEnd(h, func(end *history.End, party string) { end.Parties[party]++ })
}

func partyUncounted(_ *rand.Rand, h *record) bool {
	return changeEnd(h, func(end *history.End, party string) { delete(end.Parties, party) })
}

func changeEnd(h *record, do func(*history.End, string)) bool {
	e := &h.Events[len(h.Events)-1]
	var end history.End
	if e.Value.Into(&end) != nil || end.Parties["c1"] == 0 {
		return false
	}
	do(&end, "c1")
	e.Value = history.ValueOf(end)
	return true
}

// grantTwice gives a later attempt the id of an earlier one.
func grantTwice(_ *rand.Rand, h *record) bool {
	first := ""
	for i := range h.Events {
		e := &h.Events[i]
		if e.F != history.FAcquire || !byClient(e) {
			continue
		}
		if first == "" {
			first = e.Grant
		} else if e.Type == history.Invoke && e.Grant != first {
			again := e.Grant
			for j := range h.Events {
				if h.Events[j].Grant == again {
					h.Events[j].Grant = first
				}
			}
			return true
		}
	}
	return false
}

// processOfTwo lets a client use the number of another one.
func processOfTwo(_ *rand.Rand, h *record) bool {
	for i := range h.Events {
		e := &h.Events[i]
		if !byClient(e) || e.Client == "c1" || e.Type != history.Invoke {
			continue
		}
		return swap(h, e.Process.N, 1_000_001)
	}
	return false
}

func swap(h *record, from, to int64) bool {
	used := slices.ContainsFunc(h.Events, func(e history.Line) bool { return e.Process.N == to && byClient(&e) })
	for i := range h.Events {
		if byClient(&h.Events[i]) && h.Events[i].Process.N == from {
			h.Events[i].Process.N = to
		}
	}
	return used
}

// clockStep is somebody who set the wall clock.
func clockStep(r *rand.Rand, h *record) bool {
	i := ordinary(r, h)
	if i < 0 {
		return false
	}
	e := history.Line{
		Time: h.Events[i].Time, Process: history.Process{Name: history.PartyController}, Type: history.Info, F: history.FClock,
		Party: history.PartyController, Value: history.ValueOf(history.ClockStep{Step: 50_000_000}),
	}
	return insert(h, i+1, e) && sequence(h)
}

// namedProcess takes the number of a grant's events away: it vanishes from the operations.
func namedProcess(r *rand.Rand, h *record) bool {
	i := pick(r, h, func(e *history.Line) bool { return anyInvoke(e) && e.F == history.FAcquire })
	if i < 0 {
		return false
	}
	for j := range h.Events {
		e := &h.Events[j]
		if e.Grant == h.Events[i].Grant && byClient(e) {
			e.Process = history.Process{Name: e.Client}
		}
	}
	return true
}

// usedAfterInfo lets a client go on under the number whose last operation has no outcome.
func usedAfterInfo(_ *rand.Rand, h *record) bool {
	for i := range h.Events {
		e := &h.Events[i]
		if !byClient(e) || e.Type != history.Info || e.F == history.FRenew {
			continue
		}
		for j := i + 1; j < len(h.Events); j++ {
			n := &h.Events[j]
			if byClient(n) && n.Client == e.Client && n.F != history.FRenew {
				return swap(h, n.Process.N, e.Process.N)
			}
		}
	}
	return false
}

// otherToken lets a client present a token that its grant was not given: by its log and by the register's.
func otherToken(r *rand.Rand, h *record) bool {
	i := pick(r, h, func(e *history.Line) bool { return anyInvoke(e) && e.Register != "" && e.Token.Set })
	if i < 0 {
		return false
	}
	grant := h.Events[i].Grant
	for j := range h.Events {
		if e := &h.Events[j]; e.Grant == grant && e.Register != "" && e.Token.Set {
			e.Token.V += 1000
		}
	}
	return true
}
