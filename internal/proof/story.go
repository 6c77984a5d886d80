package proof

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// tell is what the events of a proof show, a line each, and what follows from them.
func (s *scene) tell(c Claim) (lines []string) {
	if n := len(s.Events); n > 1 && s.Events[n-1].Time-s.Events[1].Time < soon {
		s.digits = 6
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.F() != history.FRun {
			lines = append(lines, fmt.Sprintf("%12s  %s", s.seconds(e.Time), s.sentence(e)))
		}
	}
	return append(lines, s.follows(c)...)
}

// soon is how close events are whose times are told by the microsecond.
const soon = int64(100 * time.Millisecond)

func (s *scene) seconds(ns int64) string {
	return fmt.Sprintf("%.*f s", max(s.digits, 3), float64(ns)/1e9)
}

// sentence says what an event is.
func (s *scene) sentence(e *history.Event) string {
	of := s.ByID[e.Grant()]
	lock := e.Lock()
	if lock == "" && of != nil {
		lock = of.Lock
	}
	held := "grant " + e.Grant()
	if e.Grant() == "" {
		held = "lease " + e.Lease()
	}
	who := e.Client()
	if e.Party() == history.PartyRegister {
		who = "the register"
	}
	switch e.F() {
	case history.FAcquire, history.FTryAcquire:
		return s.asked(e, who, lock)
	case history.FRelease:
		return s.answered(e, who, fmt.Sprintf("to release lock %s (grant %s)", lock, e.Grant()),
			fmt.Sprintf("%s released lock %s (grant %s)", who, lock, e.Grant()))
	case history.FRenew:
		return s.answered(e, who, "to renew "+held, s.lasting(fmt.Sprintf("%s renewed %s", who, held), e))
	case history.FRead, history.FWrite:
		return s.used(e, who)
	case history.FWork:
		if e.Type() == history.Invoke {
			return fmt.Sprintf("%s began work under grant %s", who, e.Grant())
		}
		return fmt.Sprintf("%s ended its work under grant %s (the work %s)", who, e.Grant(), result(e))
	case history.FLost:
		return fmt.Sprintf("%s was notified of the loss of %s", who, held)
	case history.FLease:
		return s.lasting(fmt.Sprintf("%s began to use lease %s", who, e.Lease()), e)
	case history.FKill:
		return fmt.Sprintf("%s was killed", firstOf(e.Client(), e.Node()))
	case history.FEnd:
		return fmt.Sprintf("the log of %s ends here", e.Party())
	case history.FPoint:
		return fmt.Sprintf("%s reached a point (a step at which lockstorm can inject faults)", e.Party())
	case history.FStall:
		return fmt.Sprintf("an unplanned stall of the host delayed %s", e.Party())
	case history.FFault, history.FHeal:
		var f history.Fault
		if e.Value().Into(&f) == nil {
			return fmt.Sprintf(faultSentence(e), f.Fault, f.ID)
		}
	}
	return fmt.Sprintf("the log of %s has an event with the type %s and the operation %s", e.Party(), e.Type(), e.F())
}

// lasting adds until when a lease is valid, where that is on record.
func (s *scene) lasting(text string, e *history.Event) string {
	if !e.Deadline().Set {
		return text
	}
	return text + ", which is now valid until " + s.seconds(e.Deadline().V)
}

// faultSentence says what an event of a fault means; the name and the number of the fault are put in.
func faultSentence(e *history.Event) string {
	switch {
	case e.F() == history.FFault && e.Type() == history.Invoke:
		return "lockstorm started to inject the fault %s (number %d)"
	case e.F() == history.FFault && e.Type() == history.OK:
		return "lockstorm observed the effect of the fault %s (number %d)"
	case e.F() == history.FFault && e.Type() == history.Fail:
		return "the fault %s (number %d) was not injected"
	case e.F() == history.FFault:
		return "it is unknown whether the fault %s (number %d) took effect"
	case e.Type() == history.Invoke:
		return "lockstorm started to end the fault %s (number %d)"
	case e.Type() == history.OK:
		return "lockstorm ended the fault %s (number %d)"
	}
	return "it is unknown whether lockstorm ended the fault %s (number %d)"
}

// meanings say what the errors of an operation mean, where the word alone does not.
var meanings = map[string]string{
	history.ErrBusy: "another client held the lock", history.ErrNotHeld: "the store answered that the client did not hold the lock",
	history.ErrNotSent: "the request was not sent", history.ErrTimeout: "no answer in time",
	history.ErrClosed:     "the connection was lost before the answer",
	history.ErrStaleToken: "the data store refused an outdated fencing token", history.ErrDeadlock: "the store reported a deadlock",
	history.ErrConflict: "the store rolled the operation back because of a conflict", history.ErrOther: "another error",
}

// result says how an operation ended.
func result(e *history.Event) string {
	outcomes := map[history.Type]string{history.OK: "succeeded", history.Fail: "failed", history.Info: "has an unknown outcome"}
	text := outcomes[e.Type()]
	if e.Code() == "" {
		return text
	}
	return fmt.Sprintf("%s: %s (%s)", text, firstOf(meanings[e.Code()], "error"), e.Code())
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return "a client or server"
}

func (s *scene) asked(e *history.Event, who, lock string) string {
	if e.Type() == history.Invoke {
		return fmt.Sprintf("%s started to acquire lock %s (grant %s)", who, lock, e.Grant())
	}
	if e.Type() != history.OK {
		return fmt.Sprintf("%s tried to acquire lock %s (grant %s), but the attempt %s", who, lock, e.Grant(), result(e))
	}
	text := fmt.Sprintf("%s got lock %s (grant %s", who, lock, e.Grant())
	if e.Token().Set {
		text += fmt.Sprintf(", token %d", e.Token().V)
	}
	text += ")"
	if e.Deadline().Set {
		text += " with a lease until " + s.seconds(e.Deadline().V)
	}
	return text
}

// answered is a request, or what its answer says.
func (s *scene) answered(e *history.Event, who, what, done string) string {
	switch e.Type() {
	case history.Invoke:
		return who + " started " + what
	case history.OK:
		return done
	}
	return fmt.Sprintf("%s made an attempt %s, but the attempt %s", who, what, result(e))
}

func (s *scene) used(e *history.Event, who string) string {
	var text string
	if e.Party() == history.PartyRegister {
		text = fmt.Sprintf("register %s ", e.Register())
		verb := map[history.Type]string{history.OK: "accepted", history.Fail: "refused"}[e.Type()]
		text += firstOf(verb, "received") + " a " + e.F() + " under grant " + e.Grant()
	} else {
		what := fmt.Sprintf("%s of register %s under grant %s", e.F(), e.Register(), e.Grant())
		verb := map[history.Type]string{history.OK: "was acknowledged", history.Fail: "was refused"}[e.Type()]
		if text = fmt.Sprintf("%s's %s %s", who, what, firstOf(verb, "got no answer")); e.Type() == history.Invoke {
			text = fmt.Sprintf("%s sent a %s", who, what)
		}
	}
	switch v := e.Value(); {
	case v.Base.Set && v.New.Set:
		text += fmt.Sprintf(": old value %d, new value %d", v.Base.V, v.New.V)
	case v.New.Set:
		text += fmt.Sprintf(": new value %d", v.New.V)
	case v.Base.Set:
		text += fmt.Sprintf(": value %d", v.Base.V)
	}
	if e.Token().Set {
		text += fmt.Sprintf(" (token %d)", e.Token().V)
	}
	return text
}

// follows is what the events prove.
func (s *scene) follows(c Claim) []string {
	of := func(i int) string {
		if g := s.ByID[c.Grants[i]]; g != nil {
			return fmt.Sprintf("%s (grant %s)", g.Client, g.ID)
		}
		return c.Grants[i]
	}
	span := fmt.Sprintf("from %s to %s", s.seconds(c.From), s.seconds(c.To))
	switch {
	case c.Rule == shortRenewal:
		return []string{fmt.Sprintf("So the library of %s renewed its lease for less than the lease had at first.", of(0))}
	case c.Check == "mutual-exclusion":
		return []string{fmt.Sprintf("So during the time %[3]s, %[1]s and %[2]s both believed that they held the lock.", of(0), of(1),
			span), s.why(c, c.From)}
	case c.Check == "lock-linearizability":
		out := []string{"So no correct lock could produce these results (rule " + c.Rule + "): each operation must take effect at a " +
			"moment between its request and its answer, but for every choice of these moments, the operations break the rules of " +
			"the lock."}
		if len(s.order) > 0 {
			out = append(out, fmt.Sprintf("With a correct lock, these operations are possible in this order: %s. After these "+
				"operations, the next operation is impossible: %s.", strings.Join(s.order, ", "), s.stuck))
		}
		return out
	case c.Rule == lostUpdate || c.Rule == lateWrite:
		return []string{
			fmt.Sprintf("So %s overwrote an acknowledged update of %s without having seen the update.", of(1), of(0)),
			s.why(c, c.To),
		}
	case c.Rule == split:
		return []string{fmt.Sprintf("So %s wrote during the critical section of %s.", of(0), of(1)), s.why(c, c.To)}
	case c.Check == "fencing-tokens":
		return []string{fmt.Sprintf("So the fencing tokens of %s and %s cannot protect data (rule %s).", of(0), of(1), c.Rule)}
	case c.Check == "ownership":
		return []string{fmt.Sprintf("So the release by %s freed the lock that %s held.", of(0), of(1))}
	case c.Check == "loss-notice" && len(c.Grants) > 1:
		return []string{fmt.Sprintf("So during the time %[3]s, %[1]s had no way to know that %[2]s had got the lock.", of(0), of(1),
			span)}
	case c.Check == "loss-notice":
		return []string{fmt.Sprintf("So the library of %s did not report the loss of the lock when the lease ended (%s), but only at "+
			"%s or later.", of(0), s.seconds(c.From), s.seconds(c.To))}
	}
	if c.From == c.To {
		span = "at " + s.seconds(c.From)
	}
	return []string{fmt.Sprintf("So %s (rule %s, %s).", firstOf(broken[c.Rule], "the rule is violated"), c.Rule, span)}
}

// broken says what it means that a rule is violated, where the events need no more.
var broken = map[string]string{
	"late-try":           "the try-acquire (an attempt that must succeed or fail at once) took longer than its time limit",
	"done-twice":         "clients did the job of one period more than once",
	"used-after-release": "the client used the lock after the store had answered the release",
	"log-mismatch":       "the register did not return the last written value",
	"no-token":           "the fenced register accepted a request without a fencing token",
	"stale-accepted":     "the fenced register accepted an outdated fencing token",
	"equal-token":        "the fenced register accepted the same fencing token from two grants",
}

// why says what the class of a claim turns on.
func (s *scene) why(c Claim, at int64) string {
	switch c.Reason {
	case bothValid:
		return "Class defect: both leases were still running (" + s.deadlines(c, at) + ")."
	case noLease:
		return "Class defect: the two grants have no leases, so neither grant had expired."
	case leaseOver:
		return fmt.Sprintf("Class %s: at %s, at least one lease had run out (%s).", c.Class, s.seconds(at), s.deadlines(c, at))
	case toldLate:
		return fmt.Sprintf("Class %s: at %s, at least one lease had run out (%s), and the client's library had not reported the loss "+
			"in time.", c.Class, s.seconds(at), s.deadlines(c, at))
	case deadlineUnknown:
		return fmt.Sprintf("Class %s: no event says when the two leases (or one of them) ended.", c.Class)
	case connectionOver:
		return fmt.Sprintf("Class %s: at least one grant depends on a connection, and at %s this connection may already have ended.",
			c.Class, s.seconds(at))
	case connectionUnknown:
		return fmt.Sprintf("Class %s: at least one grant depends on a connection. At %s this connection may already have ended, but "+
			"no recorded event explains the end.", c.Class, s.seconds(at))
	case ownFence:
		return "Class defect: the lock itself protects each write, by a condition or a transaction, so the lost update should have " +
			"been impossible."
	case applied:
		return "Class inherent: the client sent the write while it held the lock, but the register applied the write only when the " +
			"client no longer held the lock."
	case "":
		return "Class " + c.Class + "."
	}
	return fmt.Sprintf("Class %s, reason %s.", c.Class, c.Reason)
}

func (s *scene) deadlines(c Claim, at int64) string {
	var parts []string
	for _, id := range c.Grants {
		if g := s.ByID[id]; g != nil && g.DeadlineAt(at).Set {
			parts = append(parts, fmt.Sprintf("the lease of grant %s ends at %s", id, s.seconds(g.DeadlineAt(at).V)))
		}
	}
	return strings.Join(parts, "; ")
}
