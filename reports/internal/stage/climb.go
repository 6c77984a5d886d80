package stage

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// climb adds the registers of a lock.
func (s *Stage) climb(rec *history.Record, lock string, wrong map[int64]bool) {
	at := map[string]int{}
	for i := range rec.Events {
		e := &rec.Events[i]
		if e.Party != history.PartyRegister || e.F != history.FWrite || e.Lock != lock || !e.Value.New.Set || e.Time > s.To {
			continue
		}
		n, ok := at[e.Register]
		if !ok {
			n = len(s.Stairs)
			at[e.Register] = n
			s.Stairs = append(s.Stairs, Stair{Register: e.Register, Start: rec.Run.Registers[e.Register], Writes: []Write{}})
		}
		st := &s.Stairs[n]
		switch took := e.Type == history.OK; {
		case e.Time >= s.From:
			w := Write{At: e.Time, Client: e.Client, Base: e.Value.Base.Or(0), New: e.Value.New.V, OK: took, Wrong: wrong[e.Index]}
			if g := rec.ByID[e.Grant]; w.Client == "" && g != nil {
				w.Client = g.Client
			}
			st.Writes = append(st.Writes, w)
		case took:
			st.Start = e.Value.New.V
		}
	}
	s.tidy()
}

// climbByAnswers adds the registers of the incident where they keep no log: by what clients were told, in the order of answers.
// Of two writes of the incident that replaced the same value the later one is wrong.
func (s *Stage) climbByAnswers(rec *history.Record, of []*history.Grant) {
	at := map[string]int{}
	seen := map[string]map[int64]bool{}
	for i := range rec.Events {
		e := &rec.Events[i]
		g := rec.ByID[e.Grant]
		if e.F != history.FWrite || e.Type != history.OK || !e.Value.New.Set || g == nil || g.Lock != s.Locks[0] || e.Time > s.To {
			continue
		}
		n, ok := at[e.Register]
		if !ok {
			n, seen[e.Register] = len(s.Stairs), map[int64]bool{}
			at[e.Register] = n
			s.Stairs = append(s.Stairs, Stair{Register: e.Register, Start: rec.Run.Registers[e.Register], Writes: []Write{}, told: true})
		}
		st, base := &s.Stairs[n], e.Value.Base.Or(0)
		if e.Time < s.From {
			st.Start = e.Value.New.V
			continue
		}
		mine := slices.Contains(of, g)
		st.Writes = append(st.Writes, Write{
			At: e.Time, Client: g.Client, Base: base, New: e.Value.New.V, OK: true, Wrong: mine && seen[e.Register][base],
		})
		seen[e.Register][base] = seen[e.Register][base] || mine
	}
	s.tidy()
}

// tidy leaves two registers that were written to.
func (s *Stage) tidy() {
	s.Stairs = slices.DeleteFunc(s.Stairs, func(st Stair) bool { return len(st.Writes) == 0 })
	for i := range s.Stairs {
		s.Stairs[i].falls = s.Stairs[i].Register == "stock"
	}
	slices.SortFunc(s.Stairs, func(a, b Stair) int { return cmp.Compare(b.Register, a.Register) }) // plain, then fenced
	s.Stairs = s.Stairs[:min(len(s.Stairs), 2)]
}
