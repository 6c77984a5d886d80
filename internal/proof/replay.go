package proof

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// damage is what the log of a register, or what its clients were told, shows to be wrong: an event, and the writes of others
// that it is about.
type damage struct {
	rule   string
	event  *history.Event
	others []*history.Event
}

// registersOf are those that a check is about.
var registersOf = map[string][]string{"data-plain": {plainReg}, "data-fenced": {fencedReg}, "stock": {"ledger"}}

// damaged checks that a finding about data is one of those that the record shows of its registers, unchanged.
func (s *scene) damaged(c Claim) (story []string, err error) {
	for _, register := range registersOf[c.Check] {
		_, used := s.Run.Registers[register]
		if !used || !s.Run.Resource {
			return nil, fmt.Errorf("the run does not use the register %s", register)
		}
		found, logged := s.damages(register)
		if !logged && len(c.Grants) == 0 && c.Rule == lostUpdate && (c.Class == noClass) != s.Run.OwnFence {
			return nil, ErrJudge // only a search through all sections can tell
		}
		if slices.ContainsFunc(found, func(d damage) bool { return s.isClaim(d, c, logged) }) {
			return s.sawWhole(c), nil
		}
	}
	if found, _ := s.damages("stock"); c.Check == "stock" && slices.ContainsFunc(found, func(d damage) bool {
		return d.rule == lostUpdate && s.isClaim(d, c, true) && s.pieces(d.event.Lock(), found)
	}) {
		return s.sawWhole(c), nil
	}
	return nil, errors.New("no register was damaged as the finding says: its rule, class, reason, grants or times are wrong")
}

// pieces reports whether a stock is off by lost changes: then they are the findings.
func (s *scene) pieces(lock string, found []damage) bool {
	for _, d := range found {
		if d.event.Lock() == lock && d.rule != lostUpdate && d.rule != split {
			return false
		}
		if d.event.Lock() == lock && d.rule == lostUpdate {
			if _, class, _ := s.blamed(d.event, d.others); class == noClass {
				return false
			}
		}
	}
	last, sum, known := s.stockOf(lock)
	return known && last.Return.Base().V != sum
}

// isClaim reports whether a damage is what a finding says.
func (s *scene) isClaim(d damage, c Claim, logged bool) bool {
	rule, class, reason := d.rule, noClass, ""
	switch {
	case rule == split:
		if _, class, reason = s.blamed(d.event, d.others); reason == "together" {
			return false
		}
	case rule == lostUpdate && logged:
		rule, class, reason = s.blamed(d.event, d.others)
	case rule == lostUpdate:
		_, class, reason = s.blamed(d.event, d.others)
	}
	grants, from := []string{d.event.Grant()}, d.event.Time
	for _, o := range d.others {
		from = min(from, o.Time)
		if !slices.Contains(grants, o.Grant()) {
			grants = append(grants, o.Grant())
		}
	}
	if !logged {
		slices.Reverse(grants)
	}
	return rule == c.Rule && class == c.Class && reason == c.Reason &&
		slices.Equal(grants, c.Grants) && from == c.From && d.event.Time == c.To
}

// damages are those of a register, lock by lock; of one without a log, the acknowledged updates of one value.
func (s *scene) damages(register string) (out []damage, logged bool) {
	byLock := map[string][]*history.Event{}
	for _, e := range s.Registered {
		if e.Register() == register && (e.F() == history.FRead || e.F() == history.FWrite) {
			byLock[e.Lock()] = append(byLock[e.Lock()], e)
		}
	}
	for _, lock := range s.Locks {
		if len(byLock) == 0 {
			out = append(append(out, s.sameBase(register, lock)...), s.tookOutdated(register, lock)...)
			continue
		}
		p := &player{s: s, register: register, value: s.Run.Registers[register]}
		p.of, p.lost = map[string]*section{}, map[*history.Call]bool{}
		for _, e := range byLock[lock] {
			if e.Type() == history.OK {
				p.plays(e)
			}
		}
		out = append(out, p.out...)
	}
	return out, len(byLock) > 0
}

// player follows the log of a register of a lock.
type player struct {
	s        *scene
	register string
	value    int64
	writes   []*history.Event
	of       map[string]*section // by grant
	lost     map[*history.Call]bool
	top      *history.Event // that brought the highest token first
	out      []damage
}

// section is what a grant did so far, by the number of writes that were accepted before. -1: not yet.
type section struct {
	began, read, wrote, whole int
	cut                       bool
}

func (p *player) shows(rule string, e *history.Event, others ...*history.Event) {
	p.out = append(p.out, damage{rule, e, others})
}

// plays takes the next request that the register accepted.
func (p *player) plays(e *history.Event) {
	if p.register == fencedReg {
		p.fence(e)
	}
	sec := p.of[e.Grant()]
	if sec == nil {
		sec = &section{began: -1, read: -1}
		p.of[e.Grant()] = sec
	}
	n := len(p.writes)
	if e.F() == history.FRead {
		if e.Base().Set && e.Base().V != p.value {
			p.shows("log-mismatch", e)
		}
		if sec.read = n; sec.began < 0 {
			sec.began = n
		} else {
			p.cuts(sec, e)
		}
		return
	}
	if sec.read < 0 {
		sec.read = n // it sets a value
	}
	var unseen []*history.Event
	for _, w := range p.writes[max(sec.read, sec.wrote):] {
		if call := p.s.acknowledged(w); w.Grant() != e.Grant() && call != nil && !p.lost[call] {
			p.lost[call] = true
			unseen = append(unseen, w)
		}
	}
	if sec.wrote = n; len(unseen) > 0 {
		p.shows(lostUpdate, e, unseen...)
	}
	p.writes, p.value = append(p.writes, e), e.New().V
}

// cuts looks for writes of others between the first read of a section and the last one.
func (p *player) cuts(sec *section, e *history.Event) {
	between := slices.Clone(p.writes[max(sec.began, sec.whole):])
	others := slices.DeleteFunc(between, func(w *history.Event) bool { return w.Grant() == e.Grant() })
	switch {
	case sec.cut:
	case len(others) == 0:
		sec.whole = len(p.writes)
	default:
		sec.cut = true
		p.shows(split, e, others...)
	}
}

// fence holds a token against those that the register accepted before.
func (p *player) fence(e *history.Event) {
	switch top := p.top; {
	case !e.Token().Set:
		p.shows("no-token", e)
	case top != nil && e.Token().V < top.Token().V:
		p.shows("stale-accepted", e)
	case top != nil && e.Token().V == top.Token().V && e.Grant() != top.Grant() && !p.s.together(e.Grant(), top.Grant()):
		p.shows("equal-token", e)
	default:
		p.top = e
	}
}

func (s *scene) together(a, b string) bool {
	x, y := s.ByID[a], s.ByID[b]
	return x != nil && y != nil && s.Model.Together(x, y)
}

// sameBase are acknowledged updates of one value, which each client had read, one after the other; where the value was there
// once.
func (s *scene) sameBase(register, lock string) (out []damage) {
	bases, news := map[int64][]*history.Call{}, map[int64]int{s.Run.Registers[register]: 1}
	for _, g := range s.ByLock[lock] {
		for _, u := range g.Uses {
			e := u.Invoke
			if e.F() != history.FWrite || e.Register() != register || !e.Base().Set || !e.New().Set || u.Outcome() == history.Fail {
				continue
			}
			news[e.New().V]++
			if u.Outcome() == history.OK && slices.ContainsFunc(g.Uses, func(r *history.Call) bool {
				read := r.Invoke.F() == history.FRead && r.Invoke.Register() == register && r.Outcome() == history.OK
				return read && r.Return.Base() == e.Base()
			}) {
				bases[e.Base().V] = append(bases[e.Base().V], u)
			}
		}
	}
	for base, calls := range bases {
		slices.SortFunc(calls, func(a, b *history.Call) int { return cmp.Compare(a.End(), b.End()) })
		for i := 1; i < len(calls) && news[base] <= 1; i++ {
			if calls[i-1].Invoke.Grant() != calls[i].Invoke.Grant() {
				out = append(out, damage{lostUpdate, calls[i].Return, []*history.Event{calls[i-1].Return}})
			}
		}
	}
	return out
}

// blamed says what a loss comes of: the overlap of its grants that counts most, or a write that was applied late; else nobody
// knows.
func (s *scene) blamed(e *history.Event, others []*history.Event) (rule, class, reason string) {
	g, all := s.ByID[e.Grant()], append([]*history.Event{e}, others...)
	switch {
	case g == nil || !g.Granted():
		return lostUpdate, noClass, "not-granted"
	case slices.ContainsFunc(all, s.wroteAfterRelease):
		return lostUpdate, noClass, "used-after-release"
	case s.Run.OwnFence:
		return lostUpdate, defect, ownFence
	}
	rank := []string{defect, undetermined, inherent}
	together := false
	for _, w := range others {
		h := s.ByID[w.Grant()]
		if h == nil || !h.Granted() {
			continue
		}
		first, second := g, h
		if h.From() < g.From() {
			first, second = h, g
		}
		switch both := s.belief(first).Overlap(s.belief(second)); {
		case both.Empty():
		case s.Model.Together(g, h):
			together = true
		default:
			if is, why := s.class(first, second, both.From); class == "" || slices.Index(rank, is) < slices.Index(rank, class) {
				class, reason = is, why
			}
		}
	}
	switch {
	case class != "":
		return lostUpdate, class, reason
	case slices.ContainsFunc(all, func(w *history.Event) bool {
		h := s.ByID[w.Grant()]
		return h != nil && h.Granted() && s.appliedLate(w)
	}):
		return lateWrite, inherent, applied
	case together:
		return lostUpdate, noClass, "together"
	}
	return lostUpdate, noClass, "no-overlap"
}

// wroteAfterRelease reports whether a write was asked for after the store had answered the release of its grant.
func (s *scene) wroteAfterRelease(w *history.Event) bool {
	g := s.ByID[w.Grant()]
	return g != nil && slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		same := u.Invoke.F() == history.FWrite && u.Invoke.Register() == w.Register() && u.Invoke.New() == w.New()
		return same && u.Start() > g.Answered()
	})
}

// stockOf is the last look at a stock, and what it should have shown; known is false where that depends on writes of unknown
// outcome.
func (s *scene) stockOf(lock string) (last *history.Call, sum int64, known bool) {
	sum = s.Run.Registers["stock"]
	var uses []*history.Call
	for _, g := range s.ByLock[lock] {
		for _, u := range g.Uses {
			if u.Invoke.Register() != "stock" || u.Outcome() == history.Fail {
				continue
			}
			uses = append(uses, u)
			if u.Invoke.F() == history.FRead && u.Outcome() == history.OK && (last == nil || u.Start() > last.Start()) {
				last = u
			}
		}
	}
	for _, u := range uses {
		switch {
		case last == nil || (u.Outcome() == history.OK && u.Start() > last.End()) || u.Invoke.F() != history.FWrite:
		case u.End() >= last.Start():
			return last, 0, false
		default:
			sum += u.Invoke.New().V - u.Invoke.Base().V
		}
	}
	return last, sum, last != nil
}

// stockOff: the last look at the stock shows something else than what was acknowledged before, and no lost change explains it.
func (s *scene) stockOff(c Claim) (story []string, err error) {
	g := s.ByID[one(c.Grants)]
	if g == nil {
		return nil, errors.New("the finding must name exactly one grant that is in the record")
	}
	last, sum, known := s.stockOf(g.Lock)
	found, _ := s.damages("stock")
	found = slices.DeleteFunc(found, func(d damage) bool { return d.event.Lock() != g.Lock || d.rule == split })
	switch {
	case !known:
		return nil, errors.New("it is unknown which writes took effect before the client read the stock, so what it should have read " +
			"is unknown")
	case last.Invoke.Grant() != g.ID || last.Start() != c.From || last.End() != c.To || last.Return.Base().V == sum:
		return nil, errors.New("at the time of the finding no client read a stock that differs from the initial stock plus the " +
			"acknowledged changes")
	case len(found) > 0 && s.pieces(g.Lock, found):
		return nil, errors.New("lost changes explain why the stock is off: they are the findings")
	}
	return []string{fmt.Sprintf("%s read a stock of %d, but the initial stock plus the acknowledged changes is %d.",
		g.Client, last.Return.Base().V, sum)}, nil
}

// one is the only one of some names; empty where there are none or more.
func one(names []string) string {
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// sawWhole returns the story of a finding that only the record as a whole shows.
func (s *scene) sawWhole(c Claim) []string {
	return []string{fmt.Sprintf("The whole record shows this, from %s to %s.", seconds(c.From), seconds(c.To))}
}
