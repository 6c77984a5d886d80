package proof

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/plant"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// What the verifier finds in a record with code of its own is what the judge's facts say, of simulated records of right and of
// wrong locks, as they are and with a clock that ticks in steps. HUNT_TWINS is how many are tried.
func TestTwinsOfFacts(t *testing.T) {
	plants := plant.Services()
	for seed := uint64(1); seed <= uint64(setting.Random(t, "HUNT_TWINS", 60)); seed++ {
		cfg := sim.DrawVaried(seed)
		if p := plants[seed/2%uint64(len(plants))]; seed%2 == 1 {
			cfg = sim.Draw(seed)
			cfg.Bug = p.Bug
			if p.Prepare != nil {
				p.Prepare(&cfg)
			}
		}
		agree(t, fmt.Sprintf("grid %d", seed), sim.Grid(seed))
		h := sim.Run(cfg).History
		agree(t, fmt.Sprintf("seed %d", seed), h)
		for _, step := range []int64{cfg.Tolerance / 2, cfg.Tolerance, 2 * cfg.Tolerance, cfg.TTL / 10} {
			agree(t, fmt.Sprintf("seed %d, step %d", seed, step), sim.Coarse(h, step))
		}
	}
}

// agree holds both sides against each other, of one record.
func agree(t *testing.T, what string, h *history.History) {
	t.Helper()
	rec, err := history.Build(h)
	if err != nil {
		t.Fatal(err)
	}
	s, in := &scene{Record: rec, whole: true}, facts.Of(rec)
	for name, twin := range twins {
		if ours, theirs := twin(s, in); ours != theirs {
			t.Errorf("%s: %s:\nthe verifier: %s\nthe judge:    %s", what, name, ours, theirs)
		}
	}
}

// twins are what both sides find, as texts.
var twins = map[string]func(s *scene, in *facts.Facts) (ours, theirs string){
	"what each client believed": func(s *scene, in *facts.Facts) (ours, theirs string) {
		return ofGrants(s, s.belief), ofGrants(s, in.Hold)
	},
	"when the host held each client up": func(s *scene, in *facts.Facts) (ours, theirs string) {
		return ofClients(in, s.stalled), ofClients(in, in.StallsOf)
	},
	"when a client was kept at a point": func(s *scene, in *facts.Facts) (ours, theirs string) {
		return ofClients(in, s.stood), ofClients(in, func(client string) []history.Interval { return in.Stands()[client] })
	},
	"when the host was busy": func(s *scene, in *facts.Facts) (ours, theirs string) {
		return fmt.Sprint(sorted(s.busy())), fmt.Sprint(in.Busy(0))
	},
	"which leases were over": func(s *scene, in *facts.Facts) (ours, theirs string) {
		over := func(f func(g *history.Grant, at int64) bool) string {
			return ofGrants(s, func(g *history.Grant) (out []bool) {
				base := g.RunsOut(s.Run.Tolerance)
				margin := base + 2*s.Run.Tolerance
				for _, at := range []int64{base, margin, margin + 1, base + s.Run.TTL, g.GaveBack(), s.Last[g.Client]} {
					out = append(out, f(g, at))
				}
				for _, h := range s.ByLock[g.Lock] {
					out = append(out, f(g, h.Sent()))
				}
				return out
			})
		}
		return over(s.over), over(in.Expired)
	},
	"who was robbed": func(s *scene, in *facts.Facts) (string, string) {
		var ours, theirs []string
		for _, lock := range s.Locks {
			for _, r := range s.robberies(lock) {
				ours = append(ours, fmt.Sprint(r.by.ID, r.rel.End(), r.victim.ID))
			}
		}
		for _, r := range in.ForeignReleases() {
			theirs = append(theirs, fmt.Sprint(r.By.ID, r.Release.End(), r.Victim.ID))
		}
		return fmt.Sprint(ours), fmt.Sprint(theirs)
	},
	"who waited under a lock": func(s *scene, in *facts.Facts) (string, string) {
		var ours, theirs []string
		for _, g := range s.Grants {
			for _, w := range s.nested(g) {
				ours = append(ours, fmt.Sprint(g.ID, w.has, w.Interval))
			}
		}
		for _, w := range in.NestedWaits() {
			theirs = append(theirs, fmt.Sprint(w.Wait.ID, w.Has, w.Interval))
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		return fmt.Sprint(ours), fmt.Sprint(theirs)
	},
	"what the registers show": func(s *scene, in *facts.Facts) (string, string) {
		names := map[facts.ShownKind]string{
			facts.ShowsMismatch: "log-mismatch", facts.ShowsLoss: lostUpdate, facts.ShowsSplit: split, facts.ShowsNoToken: "no-token",
			facts.ShowsStale: "stale-accepted", facts.ShowsEqual: "equal-token", facts.ShowsReplaced: lostUpdate,
		}
		var ours, theirs []string
		for _, register := range []string{plainReg, fencedReg} {
			found, _ := s.damages(register)
			for _, d := range found {
				ours = append(ours, fmt.Sprint(register, d.rule, indexes(append([]*history.Event{d.event}, d.others...))))
			}
			for _, d := range in.Replayed(register).Shown {
				theirs = append(theirs, fmt.Sprint(register, names[d.What], indexes(append([]*history.Event{d.Event}, d.Others...))))
			}
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		return fmt.Sprint(ours), fmt.Sprint(theirs)
	},
}

func ofGrants[T any](s *scene, f func(g *history.Grant) T) string {
	var out []string
	for _, g := range s.Grants {
		if g.Granted() {
			out = append(out, fmt.Sprint(g.ID, f(g)))
		}
	}
	return fmt.Sprint(out)
}

func ofClients(in *facts.Facts, f func(client string) []history.Interval) string {
	var out []string
	for _, client := range in.Clients() {
		out = append(out, fmt.Sprint(client, sorted(f(client))))
	}
	return fmt.Sprint(out)
}

// sorted are intervals in order, without those of no length.
func sorted(of []history.Interval) []history.Interval {
	out := slices.DeleteFunc(slices.Clone(of), history.Interval.Empty)
	slices.SortFunc(out, func(a, b history.Interval) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return out
}

func indexes(of []*history.Event) (out []int64) {
	for _, e := range of {
		out = append(out, e.Index)
	}
	return out
}
