package proof

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// kind says what an operation on a lock did.
type kind uint8

const (
	takes   kind = iota // the grant takes the lock
	frees               // the store removed it: it was held
	renews              // it was held at one moment
	notHeld             // the store said that it is not held
	may                 // it may have ended, or not: an expiry, a release of unknown outcome, a death
	ends                // what may have ended it did, since something later shows it
)

// operation took effect once between its call and its return, both included.
type operation struct {
	kind      kind
	grant     int
	call, ret int64
}

// mostOperations is how many the search takes: more are no proof for people.
const mostOperations = 60

// object: no lock could have answered so. Each operation takes effect at one moment between its request and its answer; no order
// of them is one of a lock.
func (s *scene) object(c Claim) (span history.Interval, err error) {
	if len(c.Grants) == 0 {
		return span, errors.New("the finding must name at least one grant")
	}
	var of []*history.Grant
	for _, id := range c.Grants {
		g := s.ByID[id]
		if g == nil || g.Acquire == nil {
			return span, fmt.Errorf("the finding names grant %s, but the events do not show the request for this grant", id)
		}
		if len(of) > 0 && g.Lock != of[0].Lock {
			return span, fmt.Errorf("grants %s and %s belong to different locks, but all grants of a finding must belong to the same lock",
				of[0].ID, id)
		}
		if slices.Contains(of, g) {
			return span, fmt.Errorf("the finding names grant %s twice, but a finding must name different grants", id)
		}
		of = append(of, g)
	}
	t := &tale{s: s, of: of}
	if err := t.prepare(); err != nil {
		return span, err
	}
	if t.legal(nil) {
		return span, errLegal
	}
	s.order, s.stuck = t.longest()
	if rule := t.rule(); rule != c.Rule {
		return span, fmt.Errorf("%w: the events show a violation of rule %s, but the finding names rule %s", errRule, rule, c.Rule)
	}
	return t.span, nil
}

// core: no lock could have answered so about the grants of the finding, and about fewer of them it could.
func (s *scene) core(c Claim) (story []string, err error) {
	span, err := s.object(c)
	span.From = s.began
	switch {
	case s.Model.Counts() && (errors.Is(err, errLegal) || errors.Is(err, errRule)):
		// It may turn on attempts that the finding does not name.
		return nil, fmt.Errorf("%w (%w)", ErrJudge, err)
	case err != nil:
		return nil, err
	case span.From != c.From || span.To != c.To:
		return nil, fmt.Errorf("the record shows the violation from %s to %s, but the finding says from %s to %s",
			seconds(span.From), seconds(span.To), seconds(c.From), seconds(c.To))
	case !slices.IsSortedFunc(c.Grants, func(a, b string) int {
		x, y := s.ByID[a], s.ByID[b]
		return cmp.Or(cmp.Compare(begins(x), begins(y)), s.place(x)-s.place(y))
	}):
		return nil, errors.New("the finding must name its grants in the order of their requests")
	}
	for i := range c.Grants {
		less := c
		less.Grants = slices.Delete(slices.Clone(c.Grants), i, i+1)
		if _, err := s.object(less); (err == nil || errors.Is(err, errRule)) && !s.Model.Counts() {
			return nil, fmt.Errorf("the finding must not name grant %s: the others alone show the violation", c.Grants[i])
		}
	}
	return s.sawWhole(c), nil
}

// begins is from when on a grant may have taken the lock.
func begins(g *history.Grant) int64 {
	if g.Granted() {
		return min(g.Sent(), g.From())
	}
	return min(g.Sent(), firstSign(g))
}

var (
	errLegal = errors.New("a correct lock could have given these answers, so the events show no violation")
	errRule  = errors.New("the events show a violation of another rule")
)

var reasons = map[string]string{
	"double-grant": "not-over", "lost-lease": "gone-early", "foreign-release": "not-owner",
	"revived-lease": "renewed-late",
}

// tale is what some grants of a lock did.
type tale struct {
	s    *scene
	of   []*history.Grant
	ops  []operation
	span history.Interval
	ok   []int64 // when each grant was known
}

// prepare makes the operations: the wait for a lock is not part of taking it, which is from its request to its answer. Unless
// something shows that it did, a grant of unknown outcome took nothing.
func (t *tale) prepare() error {
	last := int64(unset)
	begins := func(at, ok int64) {
		if at >= last {
			last, t.s.began = at, ok
		}
	}
	for n, g := range t.of {
		sent, ok := g.Sent(), int64(0)
		t.span.To = max(t.span.To, returned(g.Acquire))
		switch {
		case g.Granted():
			ok = g.From()
		case g.Acquire.Outcome() == history.Fail:
			return fmt.Errorf("the proof names grant %s, but the lock refused the request for this grant", g.ID)
		case t.s.Model.Counts(): // it is not known whether its owner has one more: only what it gave back counts
			t.ok = append(t.ok, history.Forever)
			t.after(n, g)
			for _, rel := range g.Releases {
				if rel.Outcome() == history.OK {
					ok = max(ok, rel.End())
				}
			}
			begins(sent, max(sent, ok))
			continue
		default:
			if ok = firstSign(g); ok == history.Forever {
				return fmt.Errorf("the finding names grant %s, but no event shows that the request for this grant succeeded", g.ID)
			}
		}
		t.ok = append(t.ok, ok)
		t.add(takes, n, min(sent, ok), ok)
		t.span.From = max(t.span.From, ok)
		begins(min(sent, ok), ok)
		t.after(n, g)
	}
	if len(t.of) == 1 {
		t.span.From, t.s.began = t.span.To, t.span.To
	}
	if len(t.ops) > mostOperations {
		return fmt.Errorf("the finding covers %d operations, but a proof by events can cover at most %d", len(t.ops), mostOperations)
	}
	return nil
}

func returned(c *history.Call) int64 {
	if c.Return == nil {
		return 0
	}
	return c.Return.Time
}

// saidBy is when the store had said something at the latest: before a release that the log of its party has after the answer,
// at the same time.
func saidBy(g *history.Grant, c *history.Call) int64 {
	for _, rel := range g.Releases {
		asked, said := rel.Invoke, c.Return
		if asked.Time == said.Time && asked.Party() == said.Party() && asked.Index > said.Index && c.Start() < c.End() {
			return c.End() - 1
		}
	}
	return c.End()
}

func firstSign(g *history.Grant) int64 {
	sign := int64(history.Forever)
	for _, calls := range [][]*history.Call{g.Renews, g.Releases} {
		for _, c := range calls {
			if c.Outcome() == history.OK {
				sign = min(sign, c.End())
			}
		}
	}
	return sign
}

func (t *tale) add(k kind, grant int, call, ret int64) {
	t.ops = append(t.ops, operation{kind: k, grant: grant, call: call, ret: ret})
}

// after is what was done under a grant, and what may have ended it.
func (t *tale) after(n int, g *history.Grant) {
	base, over := g.RunsOut(t.s.Run.Tolerance), t.doubtOf(g)
	for _, rn := range g.Renews {
		switch {
		case rn.Outcome() == history.OK:
			t.add(renews, n, rn.Start(), rn.End())
			if t.s.Model.Counts() { // it may have been of another grant of the owner
				base = min(base, g.Sent()+t.s.Run.TTL-t.s.Run.Tolerance)
			}
		case rn.NotHeld():
			t.add(notHeld, n, rn.Start(), saidBy(g, rn))
		}
	}
	for _, rel := range g.Releases {
		switch {
		case rel.Outcome() == history.OK:
			t.add(frees, n, rel.Start(), rel.End())
		case rel.NotHeld():
			t.add(notHeld, n, rel.Start(), saidBy(g, rel))
		case rel.Outcome() == history.Info:
			over = min(over, rel.Start())
		}
		t.span.To = max(t.span.To, returned(rel))
	}
	if g.InSession() {
		released := int64(history.Forever)
		for _, rel := range g.Releases {
			if rel.Outcome() == history.OK {
				released = min(released, rel.End())
			}
		}
		for _, rn := range g.Under.Refused() {
			if rn.End() >= g.Sent() && rn.Start() <= released { // after that it says nothing new
				t.add(notHeld, n, rn.Start(), saidBy(g, rn))
				t.span.To = max(t.span.To, returned(rn))
			}
		}
	}
	if t.s.Leased() {
		over = min(over, base)
	}
	if over = min(over, t.s.freed(g)); over < history.Forever { // the first of them allows what the others do
		t.add(may, n, max(over, g.Sent()), history.Forever)
	}
}

// doubtOf is from when on a release of unknown outcome may have taken a grant of a counted lock: the store carries it out at any
// later time, on whatever its owner holds then, and more than once where the library sends again what was not answered.
func (t *tale) doubtOf(g *history.Grant) int64 {
	doubt := int64(history.Forever)
	if !t.s.Model.Counts() {
		return doubt
	}
	for _, o := range t.of {
		for _, rel := range o.Releases {
			if o != g && history.SameOwner(o, g) && rel.Outcome() == history.Info {
				doubt = min(doubt, rel.Start())
			}
		}
	}
	return doubt
}

// rule names the rule by the kind of answer that, taken back, makes the record legal.
func (t *tale) rule() string {
	back := func(k kind) bool {
		return t.legal(func(op operation) operation {
			switch op.kind {
			case k:
				op.kind, op.ret = may, history.Forever
			case may: // and what ended it for certain still did
				if by := t.overBy(op); op.call <= by && by < history.Forever {
					op.kind, op.ret = ends, by
				}
			}
			return op
		})
	}
	switch {
	case back(notHeld):
		return "lost-lease"
	case back(frees):
		return "foreign-release"
	case t.revived():
		return "revived-lease"
	}
	return "double-grant"
}

// overBy is when it was known that what may have ended a grant had: by its own release or refusal. That another grant was given
// which cannot be held beside it shows it as well, and no order of operations forgets that.
func (t *tale) overBy(end operation) int64 {
	by := int64(history.Forever)
	for _, op := range t.ops {
		if op.grant == end.grant && (op.kind == frees || (op.kind == notHeld && op.call > t.ok[op.grant])) {
			by = min(by, op.ret)
		}
	}
	return by
}

// revived reports whether a grant was renewed after another one, which came later, was known.
func (t *tale) revived() bool {
	for n, g := range t.of {
		for _, rn := range g.Renews {
			for m, o := range t.of {
				if m != n && rn.Outcome() == history.OK && t.ok[m] < rn.Start() && min(o.Sent(), t.ok[m]) > t.ok[n] {
					return true
				}
			}
		}
	}
	return false
}

// legal looks for an order of the operations that is one of a lock, as each is after a change.
func (t *tale) legal(change func(operation) operation) bool {
	q := &search{t: t, seen: map[state]bool{}}
	for _, op := range t.ops {
		if change != nil {
			op = change(op)
		}
		q.ops = append(q.ops, op)
	}
	return q.from(state{}, nil)
}

// longest is the longest order that is one of a lock, where there is none of all operations, and the first answer that cannot
// follow it.
func (t *tale) longest() (order []string, stuck string) {
	q := &search{t: t, seen: map[state]bool{}, ops: t.ops}
	q.from(state{}, nil)
	done := map[int]bool{}
	for _, i := range q.best {
		done[i] = true
		order = append(order, t.says(q.ops[i]))
	}
	first := -1
	for i, op := range q.ops {
		if !done[i] && op.kind != may && (first < 0 || op.ret < q.ops[first].ret) {
			first = i
		}
	}
	if first >= 0 {
		stuck = t.says(q.ops[first])
	}
	return order, stuck
}

// says what an operation is.
func (t *tale) says(op operation) string {
	g := t.of[op.grant]
	switch op.kind {
	case takes:
		return fmt.Sprintf("%s acquires lock %s (grant %s)", g.Client, g.Lock, g.ID)
	case frees:
		return fmt.Sprintf("%s releases the lock (grant %s)", g.Client, g.ID)
	case renews:
		return "grant " + g.ID + " is renewed"
	case notHeld:
		return "the store answers that " + g.Client + " does not hold the lock (grant " + g.ID + ")"
	}
	return "grant " + g.ID + " ends without an acknowledged release"
}
