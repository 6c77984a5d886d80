package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

const (
	lateWrite  = "late-write"
	ownFence   = "own-fence"
	applied    = "applied-late"
	plainReg   = "plain"
	fencedReg  = "fenced"
	lostUpdate = "lost-update"
	split      = "split-section"
)

// logged are the accepted requests of a grant in the log of a register, in order.
func (s *scene) logged(grant string) (out []*history.Event) {
	for i := range s.Events {
		if e := &s.Events[i]; e.Party() == history.PartyRegister && e.Type() == history.OK && e.Grant() == grant &&
			(e.F() == history.FRead || e.F() == history.FWrite) {
			out = append(out, e)
		}
	}
	return out
}

// at is the one of some events that came at a moment.
func at(events []*history.Event, when int64, kind ...string) *history.Event {
	e, _ := lists.Find(events, func(e *history.Event) bool { return e.Time == when && slices.Contains(kind, e.F()) })
	return e
}

// lost: the client of the second grant read, the first one's write was accepted and acknowledged, and then the second one's write
// was accepted that was computed from what it had read before: what the first had written is lost. Or nothing was lost, and the
// section of the second grant was cut in two.
func (s *scene) lost(c Claim) (span history.Interval, err error) {
	of, err := s.granted(c, 2)
	if err != nil {
		return span, err
	}
	span = history.Interval{From: c.From, To: c.To}
	if len(s.logged(of[1].ID)) == 0 {
		return span, s.replaced(c, of[0], of[1])
	}
	w, e := at(s.logged(of[0].ID), c.From, history.FWrite), (*history.Event)(nil)
	kinds := []string{history.FWrite}
	if c.Rule == split {
		kinds = append(kinds, history.FRead)
	}
	if e = at(s.logged(of[1].ID), c.To, kinds...); e == nil || w == nil || w.Index >= e.Index {
		return span, errors.New("the events do not show that the register accepted the two requests of the finding at the times and " +
			"in the order that the finding gives")
	}
	if w.Register() != e.Register() || w.Lock() != e.Lock() {
		return span, errors.New("the two requests were sent to different registers, but the finding needs two requests to the same " +
			"register")
	}
	read, err := s.readBefore(c, of, w, e)
	if err != nil {
		return span, err
	}
	switch {
	case read == nil || read.Index >= w.Index:
		return span, fmt.Errorf("%s had not read the register before %s wrote to it, so the events do not prove the violation",
			of[1].Client, of[0].Client)
	case c.Rule != split && e.Base().Set && e.Base() != saw(read):
		return span, fmt.Errorf("the value that %s wrote is not based on the value that this client had read before, so the events "+
			"do not prove the violation", of[1].Client)
	case c.Rule != split && s.acknowledged(w) == nil:
		return span, fmt.Errorf("the write by %s was not acknowledged, so the loss of this write is no violation", of[0].Client)
	}
	return span, s.lossClass(c, w, e)
}

// readBefore is the request by which the second client knew the value before the write of the first: the last one, or the first
// at all where it is asked whether its section was cut in two.
func (s *scene) readBefore(c Claim, of []*history.Grant, w, e *history.Event) (read *history.Event, err error) {
	for _, r := range s.logged(of[1].ID) {
		if r.Register() != e.Register() || r.Index >= e.Index || (c.Rule == split && r.F() != history.FRead) {
			continue
		}
		if r.Index > w.Index && c.Rule != split {
			return nil, fmt.Errorf("%[1]s had already read the value that %[2]s wrote, so %[1]s overwrote an update that it had seen, "+
				"which is no violation", of[1].Client, of[0].Client)
		}
		if read == nil || c.Rule != split {
			read = r
		}
	}
	return read, nil
}

// saw is the value that a client knew after a request.
func saw(e *history.Event) history.Opt {
	if e.F() == history.FWrite {
		return e.New()
	}
	return e.Base()
}

// acknowledged is the call of a write of which its client was told that it was accepted.
func (s *scene) acknowledged(w *history.Event) *history.Call {
	g := s.ByID[w.Grant()]
	if g == nil {
		return nil
	}
	u, _ := lists.Find(g.Uses, func(u *history.Call) bool {
		o := u.Invoke
		return o.F() == history.FWrite && o.Register() == w.Register() && u.Outcome() == history.OK && o.New() == w.New()
	})
	return u
}

// replaced: of a register that keeps no log, two acknowledged writes replaced the same value, and each client had read it.
func (s *scene) replaced(c Claim, a, b *history.Grant) error {
	find := func(g *history.Grant, when int64) (write *history.Call, read bool) {
		for _, u := range g.Uses {
			if u.Invoke.F() == history.FWrite && u.Outcome() == history.OK && u.End() == when {
				write = u
			}
		}
		return write, write != nil && slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
			return u.Invoke.F() == history.FRead && u.Outcome() == history.OK && u.Invoke.Register() == write.Invoke.Register() &&
				u.Return.Base() == write.Invoke.Base()
		})
	}
	w, wRead := find(a, c.From)
	e, eRead := find(b, c.To)
	if !wRead || !eRead || w.Invoke.Register() != e.Invoke.Register() || w.Invoke.Base() != e.Invoke.Base() {
		return errors.New("the finding needs two acknowledged writes that replaced the same value of a register, and both clients " +
			"must have read this value before: the events do not show this")
	}
	return s.lossClass(c, w.Return, e.Return)
}

// lossClass: a loss is of the class of the overlap of its two grants; where they did not meet, one of the writes was asked for
// inside its own hold and applied after it, which is inherent. Where the lock's own transaction is the fence, it is a defect.
func (s *scene) lossClass(c Claim, w, e *history.Event) error {
	first, second := s.ByID[w.Grant()], s.ByID[e.Grant()]
	if s.Run.OwnFence {
		return same(c, defect, ownFence)
	}
	for _, g := range []*history.Grant{first, second} {
		if slices.ContainsFunc(g.Uses, func(u *history.Call) bool { return u.Start() > g.Answered() }) {
			return fmt.Errorf("%s wrote although the store had already answered the release by this client: the client is at fault, not "+
				"the lock", g.Client)
		}
	}
	if second.From() < first.From() {
		first, second = second, first
	}
	if both := s.belief(first).Overlap(s.belief(second)); !both.Empty() {
		if s.Model.Together(first, second) {
			return errors.New("by the rules of this lock, two clients are allowed to hold these two grants at the same time, so their " +
				"overlap is no violation")
		}
		if c.Rule == lateWrite {
			return errors.New("the finding has the wrong rule: the rule cannot be late-write, because the two clients believed at the " +
				"same time that they held the lock")
		}
		return s.classed(c, first, second, both.From)
	}
	if !s.appliedLate(w) && !s.appliedLate(e) {
		return errors.New("the two clients never believed at the same time that they held the lock, and no write came late (that is, " +
			"after its client had lost the lock), so the events prove no violation")
	}
	if logged := len(s.logged(e.Grant())) > 0; c.Rule == lostUpdate && logged {
		return errors.New("the finding has the wrong rule: the rule must be late-write, because the two clients never believed at " +
			"the same time that they held the lock, and the write came late (that is, after its client had lost the lock)")
	}
	return same(c, inherent, applied)
}

// same: a claim has the class and the reason that it must have.
func same(c Claim, class, reason string) error {
	if c.Class != class || c.Reason != reason {
		return fmt.Errorf("according to the events the class of the finding is %s (reason %s), but the finding says %s (reason %s)",
			class, reason, c.Class, c.Reason)
	}
	return nil
}

// appliedLate: a write was asked for inside the hold of its grant and applied after it.
func (s *scene) appliedLate(w *history.Event) bool {
	g := s.ByID[w.Grant()]
	hold := s.belief(g)
	return w.Time >= hold.To && slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		return u.Invoke.F() == history.FWrite && u.Invoke.Register() == w.Register() && u.Start() <= hold.To
	})
}

// fence: the fenced register accepted what it must refuse, by its own log.
func (s *scene) fence(c Claim) (span history.Interval, err error) {
	if len(c.Grants) != 1 {
		return span, errors.New("the finding must name exactly one grant")
	}
	span = history.Interval{From: c.From, To: c.To}
	log := s.logged(c.Grants[0])
	if len(log) == 0 && s.ByID[c.Grants[0]] != nil {
		return span, s.outdated(c)
	}
	e := at(log, c.To, history.FRead, history.FWrite)
	if e == nil {
		return span, errors.New("the events do not show that the register accepted a request under the grant of the finding at the " +
			"time of the finding")
	}
	span.From = e.Time
	switch {
	case c.Rule == "log-mismatch":
		return span, s.mismatch(e)
	case e.Register() != fencedReg:
		return span, fmt.Errorf("the register %s does not check fencing tokens, so it is right to accept every token", e.Register())
	case c.Rule == "no-token" && e.Token().Set:
		return span, errors.New("the finding says that the request had no fencing token, but the request had a token")
	case c.Rule == "no-token":
		return span, nil
	case c.Rule == "stale-accepted":
		return span, s.contradicted(e, func(o *history.Event) bool { return o.Token().Set && o.Token().V > e.Token().V })
	}
	return span, s.contradicted(e, func(o *history.Event) bool {
		return o.Token() == e.Token() && o.Grant() != e.Grant() && !s.together(o.Grant(), e.Grant())
	})
}

// accepted are the requests that a register accepted before another one, under the same lock.
func (s *scene) accepted(e *history.Event) (out []*history.Event) {
	for _, o := range s.Registered {
		if o == e {
			break
		}
		if o.Type() == history.OK && o.Register() == e.Register() && o.Lock() == e.Lock() {
			out = append(out, o)
		}
	}
	return out
}

// contradicted: a register accepted something before that it must not have accepted another request after.
func (s *scene) contradicted(e *history.Event, by func(o *history.Event) bool) error {
	if slices.ContainsFunc(s.accepted(e), by) {
		return nil
	}
	return errors.New("the register was right to accept the request: it had accepted no earlier request with a token that forbids " +
		"this request")
}

// mismatch: a read was answered with something else than was written last.
func (s *scene) mismatch(e *history.Event) error {
	value := s.Run.Registers[e.Register()]
	for _, o := range s.accepted(e) {
		if o.F() == history.FWrite {
			value = o.New().V
		}
	}
	if e.F() != history.FRead || !e.Base().Set || e.Base().V == value {
		return errors.New("the read in the finding correctly returned the last written value, so the register made no error")
	}
	return nil
}
