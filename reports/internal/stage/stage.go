// Package stage is the picture of an incident: what the store knew of a lock, what each client believed, and what became of the
// data. It is drawn once, in Go; the page's script only moves a cursor over it.
//
//	history.Record, Scene -> Of -> Stage -> SVG (for a width), its JSON (for the cursor)
package stage

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// Scene is what is to be shown.
type Scene struct {
	Grants []*history.Grant // of the incident, in order; none: the lock that has most grants
	Window history.Interval
	Beats  []Beat
	Wrong  map[int64]bool // writes, by index, that overwrote what their client had not seen
	Titles map[string]Title
	Leads  []Fault          // servers while they led, where they take turns; What is their role
	Freed  map[string]int64 // grants, by id, whose lock another client released, and when
	Ring   int64            // when the waits of a deadlock closed their ring; 0: there is none
	Passed bool             // nobody was hurt: who outlives its lease is wrong only once another client has the lock
}

// Beat is a step of the story, with a word for the picture and a sentence for its side.
type Beat struct {
	At    int64  `json:"t"`
	Word  string `json:"-"`
	Title string `json:"-"`
	Text  string `json:"-"`
	Bad   bool   `json:"-"` // the damage itself

	Event  int64  `json:"ev"`            // of the record, that shows it; -1: none does
	Source string `json:"src,omitempty"` // the line of the adapter's code that it told
}

// Title stands over the staircase of a register.
type Title struct {
	Text string
	Bad  bool // else nothing was lost
}

// Stage is the picture, as data; its JSON is what a script needs to say what is true at a moment. Times are ns since the start of
// the run.
type Stage struct {
	From   int64   `json:"from"`
	To     int64   `json:"to"`
	Me     string  `json:"me"` // the client of the story
	Truth  []Truth `json:"truth"`
	Lanes  []Lane  `json:"lanes"`
	Stairs []Stair `json:"stairs"`
	Beats  []Beat  `json:"beats"`

	Periods []Period `json:"periods,omitempty"`
	Locks   []string `json:"locks"`
	Free    bool     `json:"free,omitempty"` // there is no lock: who begins has read, and who ends has written
	Ring    int64    `json:"ring,omitempty"`

	faults []Fault // of servers, or of nobody in particular
	leads  []Fault
	others int  // clients without a lane
	shares bool // several may own the lock at once
	titles map[string]Title
}

// Truth is a grant as the store kept it: from when it was known until it was given back, ran out, or went to another one.
type Truth struct {
	Client string `json:"c"`
	Token  int64  `json:"token,omitempty"`
	Lock   int    `json:"lock"`
	From   int64  `json:"b"`
	Until  int64  `json:"e"`
	Due    int64  `json:"due,omitempty"` // the end of its lease; 0: it has none
	Reads  bool   `json:"reads,omitempty"`
	Renews bool   `json:"renews,omitempty"` // its lease was renewed meanwhile, so that Due was earlier before
	Late   bool   `json:"late,omitempty"`   // its lease was over when the client was told of the grant
}

// Lane is what a client believed.
type Lane struct {
	Client string   `json:"c"`
	Holds  []Belief `json:"holds"`
	Waits  []Wait   `json:"waits"`
	faults []Fault
}

// Belief is a hold as its client saw it; after Until it was wrong.
type Belief struct {
	From  int64  `json:"b"`
	To    int64  `json:"e"`
	Until int64  `json:"u"`
	Over  int64  `json:"o,omitempty"` // its lease had ended, although it was not wrong yet; 0: not before Until
	Token int64  `json:"token,omitempty"`
	Lock  int    `json:"lock"`
	does  string // reads or writes, where a lock tells them apart
}

// Part is a part of time.
type Part struct {
	From int64 `json:"b"`
	To   int64 `json:"e"`
}

// Wait is a request for a lock that is not answered yet.
type Wait struct {
	Part

	Lock int `json:"lock"`
}

// Fault is one that took effect.
type Fault struct {
	Part

	Name, What string // as on the command line, and in a word: paused, cut off
}

// Stair is the value of a register.
type Stair struct {
	Register string  `json:"r"`
	Start    int64   `json:"v"`
	Writes   []Write `json:"w"`
	falls    bool    // as it should: a stock
	told     bool    // in the order in which clients were told, for the register keeps no log
}

// Write is a request that the register answered.
type Write struct {
	At     int64  `json:"t"`
	Client string `json:"c"`
	Base   int64  `json:"-"`
	New    int64  `json:"n"`
	OK     bool   `json:"ok"`
	Wrong  bool   `json:"wrong,omitempty"`
}

// maxLanes is how many clients have a lane of their own; maxBars how many grants are drawn.
const (
	maxLanes = 6
	maxBars  = 60
)

// Of gathers what a picture shows; nil where no grant is in its window.
func Of(rec *history.Record, sc Scene) *Stage {
	in := facts.Of(rec)
	s := &Stage{
		From: sc.Window.From, To: max(sc.Window.To, sc.Window.From+1), Beats: sc.Beats, titles: sc.Titles, shares: in.Model.Shares(),
		Free: !in.Model.Locks(), Locks: locksOf(rec, sc.Grants), leads: sc.Leads, Ring: sc.Ring,
		Truth: []Truth{}, Lanes: []Lane{}, Stairs: []Stair{},
	}
	if len(sc.Grants) > 0 {
		s.Me = sc.Grants[0].Client
	}
	lanes := map[string]*Lane{}
	count := map[string]int{}
	for i, lock := range s.Locks {
		for _, g := range rec.Grants {
			if g.Lock == lock {
				s.add(in, g, i, lanes, count, sc)
			}
		}
	}
	if len(s.Truth) == 0 {
		return nil
	}
	slices.SortStableFunc(s.Truth, func(a, b Truth) int { return cmp.Compare(a.From, b.From) })
	s.Truth = s.Truth[:min(len(s.Truth), maxBars*len(s.Locks))]
	s.choose(sc.Grants, lanes, count)
	s.hurt(rec)
	s.hold(in)
	if len(s.Locks) == 1 {
		s.climb(rec, sc, false)
	}
	if s.Free && len(s.Stairs) == 0 {
		s.climb(rec, sc, true)
	}
	s.periods(rec)
	return s
}

// locksOf are the locks of grants; else the one that was granted most.
func locksOf(rec *history.Record, grants []*history.Grant) (out []string) {
	for _, g := range grants {
		if !slices.Contains(out, g.Lock) {
			out = append(out, g.Lock)
		}
	}
	if len(out) > 0 || len(rec.Locks) == 0 {
		return out[:min(len(out), 3)]
	}
	count := map[string]int{}
	for _, g := range rec.Grants {
		count[g.Lock]++
	}
	return []string{slices.MaxFunc(rec.Locks, func(a, b string) int { return cmp.Compare(count[a], count[b]) })}
}

// add puts a grant into the picture, if it is in its window.
func (s *Stage) add(in *facts.Facts, g *history.Grant, lock int, lanes map[string]*Lane, count map[string]int, sc Scene) {
	if g.Acquire == nil || g.Acquire.Start() > s.To || in.Last[g.Client] < s.From && in.Last[g.Client] > 0 {
		return
	}
	lane := lanes[g.Client]
	if lane == nil {
		lane = &Lane{Client: g.Client, Holds: []Belief{}, Waits: []Wait{}}
		lanes[g.Client] = lane
	}
	if !g.Granted() {
		end := in.Last[g.Client]
		if g.Acquire.Return != nil {
			end = g.Acquire.Return.Time
		}
		if end >= s.From {
			lane.Waits = append(lane.Waits, Wait{Part{g.Acquire.Start(), end}, lock})
		}
		return
	}
	hold := in.Hold(g)
	until, due, taken := Kept(in, g, sc.Freed)
	if max(hold.To, until) < s.From {
		return
	}
	lane.Waits = append(lane.Waits, Wait{Part{g.Acquire.Start(), g.From()}, lock})
	token := g.Token().Or(0)
	if until > g.From() && g.From() <= s.To {
		s.Truth = append(s.Truth, truth(in, g, lock, token, until, due))
	}
	if !hold.Empty() && hold.From <= s.To {
		does := ""
		switch {
		case s.Free:
			does = replaced(g)
		case s.shares:
			does = map[bool]string{true: "reads", false: "writes"}[g.Mode == history.ModeShared]
		}
		over := int64(0)
		if sc.Passed && taken > until {
			until, over = taken, until
		}
		lane.Holds = append(lane.Holds, Belief{hold.From, hold.To, until, over, token, lock, does})
		count[g.Client]++
	}
}

func truth(in *facts.Facts, g *history.Grant, lock int, token, until, due int64) Truth {
	return Truth{
		Client: g.Client, Token: token, Lock: lock, From: g.From(), Until: until, Due: due, Reads: g.Mode == history.ModeShared,
		Renews: due > 0 && due != g.DeadlineAt(g.From()).V,
		Late:   in.Leased() && due == 0 && g.DeadlineAt(history.Forever).Set,
	}
}

// replaced is what an attempt without a lock read and wrote.
func replaced(g *history.Grant) string {
	text := ""
	for _, u := range g.Uses {
		if u.Invoke.F() == history.FWrite && u.Invoke.New().Set {
			text = fmt.Sprintf("%d → %d", u.Invoke.Base().Or(0), u.Invoke.New().V)
			if u.Outcome() != history.OK {
				text += " refused"
			}
		}
	}
	return text
}

// Kept is until when the store kept a grant, as far as the record says, when its lease ends, and when it was given back or
// another client had it.
func Kept(in *facts.Facts, g *history.Grant, freed map[string]int64) (until, due, taken int64) {
	until = history.Forever
	if at, ok := freed[g.ID]; ok {
		until = at
	}
	for _, rel := range g.Releases {
		if rel.Outcome() == history.OK {
			until = min(until, rel.End())
		}
	}
	dies := in.Run.Ends == history.EndsProcess || in.Run.Ends == history.EndsConnection
	if killed, ok := in.Kills[g.Client]; ok && dies && killed > g.From() {
		until = min(until, killed)
	}
	later := in.ByOK(g.Lock)
	later = later[sort.Search(len(later), func(i int) bool { return later[i].From() > g.From() }):]
	for _, next := range later[:min(len(later), maxBars)] {
		if !in.Model.Together(g, next) {
			until = min(until, next.From())
			break
		}
	}
	taken = until
	// A lease counts from the request. One that was over when the request was answered was not what kept the lock.
	if d := g.DeadlineAt(history.Forever); in.Leased() && d.Set && d.V > g.From() {
		until, due = min(until, d.V), d.V
		if then := g.DeadlineAt(taken); then.Set { // a session lives on
			due = max(then.V, until)
		}
	}
	return until, due, taken
}

// choose gives a lane to the clients of the incident, then to those with most grants.
func (s *Stage) choose(grants []*history.Grant, lanes map[string]*Lane, count map[string]int) {
	rank := map[string]int{}
	for i, g := range grants {
		if _, ok := rank[g.Client]; !ok {
			rank[g.Client] = i - len(grants)
		}
	}
	var names []string
	for name, lane := range lanes {
		if len(lane.Holds)+len(lane.Waits) > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(count[b], count[a]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	if s.others = max(len(names)-maxLanes, 0); s.others == 1 {
		s.others = 0
	}
	for _, name := range names[:len(names)-s.others] {
		s.Lanes = append(s.Lanes, *lanes[name])
	}
}

// words are faults in a word, for who suffers them.
var words = map[string]string{
	"client-pause": "paused", "client-stall": "stalled", "partition-client": "cut off", "client-kill": "killed",
	"server-pause": "paused", "server-restart": "restarted", "server-kill": "killed", "slow-server": "slow",
	"power-loss": "lost power",
}

// hurt adds the faults: in the lane of a client, else over all.
func (s *Stage) hurt(rec *history.Record) {
	for _, f := range rec.Faults {
		if !f.Effective() || f.Began() > s.To || f.Until() < s.From {
			continue
		}
		fault := Fault{Part{f.Began(), max(f.Until(), f.Effect.Time)}, f.Fault.Fault, cmp.Or(words[f.Fault.Fault], f.Fault.Fault)}
		own := false
		for i := range s.Lanes {
			if slices.Contains(f.Clients, s.Lanes[i].Client) {
				s.Lanes[i].faults, own = append(s.Lanes[i].faults, fault), true
			}
		}
		if !own {
			s.faults = append(s.faults, fault)
		}
	}
}

// hold adds the times for which lockstorm kept a client at a point.
func (s *Stage) hold(in *facts.Facts) {
	for i := range s.Lanes {
		for _, stand := range in.Stands()[s.Lanes[i].Client] {
			if stand.To > s.From && stand.From < s.To {
				at := Fault{Part{stand.From, stand.To}, "stopped at a point by lockstorm", "stopped by lockstorm"}
				s.Lanes[i].faults = append(s.Lanes[i].faults, at)
			}
		}
	}
}
