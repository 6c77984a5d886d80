package facts

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// replayed is what the replay of a register's log shows; of one without a log, what acknowledged updates of
// one value show.
type replayed struct {
	Logged bool
	Shown  []Shown // all of it
	Updates
}

func (in *Facts) replay(register string) replayed {
	byLock := in.cells(register)
	out := replayed{Logged: len(byLock) > 0}
	var sections []section // one after the other for each lock
	if out.Logged {
		sections = make([]section, len(in.Grants))
	}
	for _, lock := range in.Locks {
		if !out.Logged {
			shown := in.sameBase(register, lock)
			out.Shown = append(append(out.Shown, shown...), in.tokensTaken(register, lock)...)
			out.add(in.unlogged(register, lock, shown))
			continue
		}
		rp := &replay{
			in: in, register: register, lock: lock, value: in.Run.Registers[register], sections: sections,
			strays: map[string]*section{},
		}
		rp.run(byLock[lock])
		out.add(rp.updates())
		out.Shown = append(out.Shown, rp.shown...)
	}
	return out
}

func (u *Updates) add(of Updates) {
	u.Acked, u.Overwritten, u.BroughtBack = u.Acked+of.Acked, u.Overwritten+of.Overwritten, u.BroughtBack+of.BroughtBack
	u.Lost, u.Most = u.Lost+of.Lost, u.Most+of.Most
}

// request is an event of a register's log, and the grant that it names; nil: there is none.
type request struct {
	*history.Event
	of *history.Grant
}

// cells are the register's own events, by lock, in the order in which it accepted.
func (in *Facts) cells(register string) map[string][]request {
	out := map[string][]request{}
	for i, e := range in.Registered {
		if e.Register() == register && (e.F() == history.FRead || e.F() == history.FWrite) {
			of := out[e.Lock()]
			if of == nil { // about as many for each lock
				of = make([]request, 0, len(in.Registered)/max(1, len(in.Locks)))
			}
			out[e.Lock()] = append(of, request{e, in.Requests[i]})
		}
	}
	return out
}

// sameBase finds two acknowledged updates of one value: the later one replaced the earlier one
// without having seen it. Values that come again are left out: then the later one may have seen
// what the other one left.
func (in *Facts) sameBase(register, lock string) []Shown {
	byBase := map[int64][]*history.Call{}
	news := map[int64]int{}
	for _, g := range in.ByLock[lock] {
		for _, u := range g.Uses {
			e := u.Invoke
			if e.F() == history.FWrite && e.Register() == register && e.Base().Set && e.New().Set && u.Outcome() != history.Fail {
				news[e.New().V]++
				if u.Outcome() == history.OK && hasRead(g, e) {
					byBase[e.Base().V] = append(byBase[e.Base().V], u)
				}
			}
		}
	}
	var out []Shown
	for _, base := range slices.Sorted(maps.Keys(byBase)) {
		calls, times := byBase[base], news[base]
		if base == in.Run.Registers[register] {
			times++ // it was there before anybody wrote it
		}
		if len(calls) < 2 || times > 1 {
			continue
		}
		slices.SortFunc(calls, func(a, b *history.Call) int { return cmp.Compare(a.End(), b.End()) })
		for i, u := range calls[1:] {
			if first := calls[i]; first.Invoke.Grant() != u.Invoke.Grant() {
				out = append(out, Shown{What: ShowsReplaced, Event: u.Return, Others: []*history.Event{first.Return}})
			}
		}
	}
	return out
}

// hasRead reports whether a section had read the value that it replaces.
func hasRead(g *history.Grant, write *history.Event) bool {
	return slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		return u.Invoke.F() == history.FRead && u.Outcome() == history.OK && u.Invoke.Register() == write.Register() &&
			u.Return.Base() == write.Base()
	})
}

// Replayed returns what the log of a register shows.
func (in *Facts) Replayed(register string) replayed {
	switch register {
	case RegPlain:
		return in.lazy.plain()
	case RegFenced:
		return in.lazy.fenced()
	}
	return in.replay(register)
}
