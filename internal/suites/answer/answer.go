// Package answer says of the locks of a suite which one to choose: for each what it survived, what was lost
// without a fence and with one, how long it blocked, how fast it was, a sentence made of these figures,
// and groups of rank in which the runs show no difference. It is arithmetic on what the cells measured.
//
//	[]Cell -> Of -> Answer: a Lock for each row of the matrix, in groups
package answer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// Cell is what is known of a lock under a fault.
type Cell struct {
	Lock, Fault string
	Outcome     suite.Outcome  // the worst of its runs; empty: no run says anything
	Skipped     bool           // it was not run
	Open        int            // runs that nobody can judge, or that are missing
	Samples     []tally.Sample // of the runs that came to an answer
	Blocked     int            // of these, in how many nobody got the lock again
}

// idle is the fault of cells without one.
const idle = "none"

// Ranking is which lock to choose.
type Ranking struct {
	// RankedBy says in a sentence or two what the groups are made of.
	RankedBy string `json:"ranked_by"`
	Groups   int    `json:"groups"` // 3, or 1 where no lock can be told from another one
	// by group, by the worst violation, by what is lost, by the share of runs that violate, by the wait
	Locks []Lock `json:"locks"`
}

// Lock is the answer about one lock. What was not measured is nil.
type Lock struct {
	Name     string       `json:"name"`
	Group    int          `json:"group"` // 1: the fewest violations, 3: the most; 0: nothing was measured
	Sentence string       `json:"sentence"`
	Survived []string     `json:"survived,omitempty"` // faults without a violation
	Violated []Violation  `json:"violated,omitempty"`
	Skipped  []string     `json:"skipped,omitempty"` // faults that it was not run under
	Open     int          `json:"open,omitempty"`    // runs without an answer
	Runs     int          `json:"runs"`              // with one
	Blocked  int          `json:"blocked"`           // of these, in how many nobody got the lock again
	Rate     *tally.Value `json:"violating_runs,omitempty"`
	Plain    *tally.Value `json:"lost_plain,omitempty"`  // acknowledged updates lost for good without a fence
	Fenced   *tally.Value `json:"lost_fenced,omitempty"` // the same with one
	// PlainUnseen and FencedUnseen are the updates that were overwritten unseen, those that later writes brought back among them.
	PlainUnseen  *tally.Value `json:"overwritten_plain,omitempty"`
	FencedUnseen *tally.Value `json:"overwritten_fenced,omitempty"`
	// PlainShare and FencedShare are the same in percent of the acknowledged updates.
	PlainShare  *tally.Value `json:"lost_plain_percent,omitempty"`
	FencedShare *tally.Value `json:"lost_fenced_percent,omitempty"`
	Refused     *tally.Value `json:"refused,omitempty"`  // requests that the fence refused
	Orphan      *tally.Value `json:"orphan,omitempty"`   // the longest time in which nobody could get the lock
	Recovery    *tally.Value `json:"recovery,omitempty"` // median of the runs with faults
	Idle        Speed        `json:"idle"`
	Hurt        Speed        `json:"hurt"`
}

// Violation is a fault under which a lock broke a promise.
type Violation struct {
	Fault     string        `json:"fault"`
	Outcome   suite.Outcome `json:"word"` // the worst
	Runs      int           `json:"runs"`
	Violating int           `json:"violating"` // of them
}

// Speed is how fast a lock was, without faults or under all of them.
type Speed struct {
	P50        *tally.Value `json:"acquire_p50,omitempty"`
	P99        *tally.Value `json:"acquire_p99,omitempty"`
	Throughput *tally.Value `json:"throughput,omitempty"`
}

// Of answers from the cells of a suite, controls left out. nil: there is none.
func Of(cells []Cell) *Ranking {
	byLock := map[string][]Cell{}
	var names []string
	for _, c := range cells {
		if byLock[c.Lock] == nil {
			names = append(names, c.Lock)
		}
		byLock[c.Lock] = append(byLock[c.Lock], c)
	}
	if len(names) == 0 {
		return nil
	}
	a := &Ranking{}
	for _, name := range names {
		a.Locks = append(a.Locks, lockOf(name, byLock[name]))
	}
	a.rank()
	for i := range a.Locks {
		a.Locks[i].Sentence = a.Locks[i].sentence()
	}
	return a
}

func lockOf(name string, cells []Cell) Lock {
	l := Lock{Name: name}
	var all, calm, hurt []tally.Sample
	for _, c := range cells {
		l.tried(c)
		l.Open += c.Open
		l.Blocked += c.Blocked
		all = append(all, c.Samples...)
		if c.Fault == idle {
			calm = append(calm, c.Samples...)
		} else {
			hurt = append(hurt, c.Samples...)
		}
	}
	l.Runs = len(all)
	l.Rate = over("violating.runs", all)
	l.Plain, l.PlainShare = over("lost-updates.plain", all), over("lost-updates.plain.percent", all)
	l.Fenced, l.FencedShare = over("lost-updates.fenced", all), over("lost-updates.fenced.percent", all)
	l.PlainUnseen, l.FencedUnseen = over("overwritten-updates.plain", all), over("overwritten-updates.fenced", all)
	if l.Fenced != nil {
		l.Refused = over("fence.refused", all)
	}
	l.Orphan, l.Recovery = over("orphan", hurt), over("recovery.median", hurt)
	l.Idle, l.Hurt = speed(calm), speed(hurt)
	return l
}

func speed(runs []tally.Sample) Speed {
	return Speed{over("acquire.p50", runs), over("acquire.p99", runs), over("throughput", runs)}
}

// over is a figure over runs; nil where none has measured it.
func over(figure string, runs []tally.Sample) *tally.Value {
	f, known := tally.Find(figure)
	v, ok := f.Over(runs)
	if !known || !ok {
		return nil
	}
	return &v
}

// tried adds what a lock did under a fault.
func (l *Lock) tried(c Cell) {
	violating := 0
	for _, s := range c.Samples {
		violating += int(s.Stats[tally.Violated])
	}
	switch {
	case c.Skipped:
		l.Skipped = append(l.Skipped, c.Fault)
	case len(c.Samples) == 0:
	case violating == 0:
		l.Survived = lists.With(l.Survived, c.Fault)
	default:
		l.violated(Violation{c.Fault, c.Outcome, len(c.Samples), violating})
	}
}

// violated adds a violation; cells of one fault with other flags are one.
func (l *Lock) violated(v Violation) {
	l.Survived = slices.DeleteFunc(l.Survived, func(f string) bool { return f == v.Fault })
	for i := range l.Violated {
		if o := &l.Violated[i]; o.Fault == v.Fault {
			o.Outcome, o.Runs, o.Violating = suite.WorseOf(o.Outcome, v.Outcome), o.Runs+v.Runs, o.Violating+v.Violating
			return
		}
	}
	l.Violated = append(l.Violated, v)
}

// What the groups are made of, where there are three, and where there is one.
const (
	rankedBy = "Grouped by the share of runs with a violation; in a group the less serious violation comes first, then the " +
		"smaller loss. Locks differ if the 95 % intervals of their shares (Clopper-Pearson) do not overlap."
	groups = " Group 1 differs from the worst lock but not from the best, group 3 the other way round, group 2 is the rest. More " +
		"seeds find smaller differences."
	onlyOne  = "One lock: nothing to compare."
	oneGroup = " All locks are in one group: best and worst do not differ. More seeds find smaller differences."
)

// rank sorts the locks and makes the groups. Two locks differ where their intervals do not
// overlap. By chance a lock may go over to the next group, and hardly ever does one go from the first to the last.
func (a *Ranking) rank() {
	a.RankedBy = rankedBy
	slices.SortStableFunc(a.Locks, func(x, y Lock) int {
		if x.Rate == nil || y.Rate == nil { // what was not measured comes last
			return lists.First(x.Rate != nil, y.Rate != nil)
		}
		return cmp.Or(cmp.Compare(x.Rate.Value, y.Rate.Value), cmp.Compare(x.Rate.High, y.Rate.High), strings.Compare(x.Name, y.Name))
	})
	measured := a.Locks
	if n := slices.IndexFunc(measured, func(l Lock) bool { return l.Rate == nil }); n >= 0 {
		measured = measured[:n]
	}
	switch {
	case len(a.Locks) == 1:
		a.Groups, a.RankedBy = 1, onlyOne
		if len(measured) > 0 {
			a.Locks[0].Group = 1
		}
	case len(measured) > 0:
		a.group(measured)
	}
	slices.SortStableFunc(a.Locks, func(x, y Lock) int {
		return cmp.Or(
			cmp.Compare(place(x), place(y)), suite.Compare(x.worst(), y.worst()),
			cmp.Compare(valueOf(x.PlainShare), valueOf(y.PlainShare)),
			cmp.Compare(valueOf(x.Rate), valueOf(y.Rate)), cmp.Compare(x.wait(), y.wait()),
		)
	})
	if slices.ContainsFunc(a.Locks, func(l Lock) bool { return len(l.Skipped) > 0 }) {
		a.RankedBy += " Some locks were not tested under every fault: their entries name what was skipped."
	}
}

// group gives each of the measured locks its group: they are in the order of their shares.
func (a *Ranking) group(measured []Lock) {
	best, worst := measured[0].Rate, measured[len(measured)-1].Rate
	a.Groups = 3
	if best.High >= worst.Low {
		a.Groups = 1
		a.RankedBy += oneGroup
	} else {
		a.RankedBy += groups
	}
	for i := range measured {
		l := &measured[i]
		asBest, asWorst := l.Rate.Low <= best.High, l.Rate.High >= worst.Low
		switch {
		case a.Groups == 1, asBest && !asWorst:
			l.Group = 1
		case asWorst && !asBest:
			l.Group = 3
		default:
			l.Group = 2
		}
	}
}

// valueOf is a figure, the first of several that was measured; where none was, zero.
func valueOf(vs ...*tally.Value) float64 {
	for _, v := range vs {
		if v != nil {
			return v.Value
		}
	}
	return 0
}

// worst is the worst of its violations; empty where it has none.
func (l Lock) worst() (w suite.Outcome) {
	for _, v := range l.Violated {
		w = suite.WorseOf(w, v.Outcome)
	}
	return w
}

// place is the group of a lock; those of which nothing is known come last.
func place(l Lock) int { return cmp.Or(l.Group, 1<<30) }

// wait is the median time to acquire without faults, else under them.
func (l Lock) wait() float64 { return valueOf(l.Idle.P50, l.Hurt.P50) }
