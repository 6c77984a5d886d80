package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Registers of the protected resource.
const (
	regPlain  = "plain"
	regFenced = "fenced"
)

func dataPlain(in *Input) Result {
	return in.data(regPlain)
}

func dataFenced(in *Input) Result {
	return in.data(regFenced)
}

func usesPlain(in *Input) (Code, string) {
	return in.uses(regPlain, "--fencing on uses only the fenced register")
}

func usesFenced(in *Input) (Code, string) {
	if code, why := hasTokens(in); code != "" {
		return code, why
	}
	return in.uses(regFenced, "--fencing off uses only the plain register")
}

// uses says why a register has nothing to be judged by.
func (in *Input) uses(register, otherwise string) (Code, string) {
	if !in.Run.Resource {
		return CodeNoData, fmt.Sprintf("workload %s touches no data", in.Run.Workload)
	}
	if _, used := in.Run.Registers[register]; !used {
		return CodeUnused, otherwise
	}
	return "", ""
}

// DataProof is the proof of the data checks: what Porcupine says of what the clients were
// told.
type DataProof struct {
	Porcupine Verdict `json:"porcupine"`
}

// data judges one register twice: by replaying the register's own log, which is the
// order of what it accepted, and by Porcupine over what the clients were told. The
// first explains, the second confirms.
func (in *Input) data(register string) Result {
	var findings []Finding
	lost, acked := map[*history.Call]bool{}, 0
	byLock := in.cells(register)
	for _, lock := range in.Locks {
		rp := &replay{in: in, register: register, lock: lock, value: in.Run.Registers[register], lost: lost}
		rp.run(byLock[lock])
		findings = append(findings, rp.findings...)
		acked += rp.acked
	}
	r := Conclude("replay of the register's log, confirmed by Porcupine over the clients' view", findings, len(findings))
	r.Figures = Figures{"updates_acked": int64(acked), "updates_lost_" + register: int64(len(lost))}
	answer, why := in.linearizableData(register)
	switch {
	case r.Verdict == Pass && answer == Fail:
		// The two views contradict each other: suspect the record, not the lock.
		r.Verdict, r.Code, r.Reason = Unknown, CodeContradiction, "Porcupine rejects what the clients saw, but the register's log explains it: suspect the record"
	case r.Verdict == Pass && answer == Unknown:
		r.Reason = "by the register's log alone: " + why
	case r.Verdict == Fail && answer == Pass:
		r.Reason = "the damage shows in the register's log; what the clients were told does not contradict one order"
	}
	r.Proof = NewProof(DataProof{Porcupine: answer})
	return r
}

// cells are the register's own events, by lock, in the order in which it accepted.
func (in *Input) cells(register string) map[string][]*history.Event {
	out := map[string][]*history.Event{}
	for i := range in.Events {
		e := &in.Events[i]
		if e.Party == history.PartyRegister && e.Register == register && (e.F == history.FRead || e.F == history.FWrite) {
			out[e.Lock] = append(out[e.Lock], e)
		}
	}
	return out
}

// replay follows one register of one lock through its log.
type replay struct {
	in             *Input
	register, lock string
	value          int64
	acked          int // updates that clients were told of
	highest        history.Opt
	holder         string                 // the grant that brought the highest token
	reads          map[string]int         // grant -> number of writes before its last read
	writes         []*history.Event       // accepted, in order
	lost           map[*history.Call]bool // acknowledged updates that were overwritten unseen
	findings       []Finding
}

func (r *replay) run(events []*history.Event) {
	r.reads = map[string]int{}
	applied := map[string]int{}
	for _, e := range events {
		if e.Type != history.OK {
			continue
		}
		if r.register == regFenced {
			r.fence(e)
		}
		if e.F == history.FRead {
			if e.Value.Base.Set && e.Value.Base.V != r.value {
				r.add("log-mismatch", NoClass, e, nil, fmt.Sprintf("the register answered %d to the read of %s, but its log says %d", e.Value.Base.V, e.Grant, r.value))
			}
			r.reads[e.Grant] = len(r.writes)
			continue
		}
		r.write(e)
		applied[e.Grant]++
	}
	r.acknowledged(applied)
}

// write looks for updates of others between the read and the write of one section: what
// was acknowledged there is lost.
func (r *replay) write(e *history.Event) {
	since, read := r.reads[e.Grant]
	if !read {
		since = len(r.writes)
	}
	var overwritten []*history.Event
	for _, w := range r.writes[since:] {
		call := r.ackOf(w)
		if w.Grant == e.Grant || call == nil || r.lost[call] {
			continue
		}
		r.lost[call] = true
		overwritten = append(overwritten, w)
	}
	r.writes = append(r.writes, e)
	r.value = e.Value.New.V
	if len(overwritten) > 0 {
		r.lostUpdate(e, overwritten)
	}
}

// ackOf is the client's write call of an accepted write, if the client was told that it
// succeeded.
func (r *replay) ackOf(w *history.Event) *history.Call {
	g := r.in.ByID[w.Grant]
	if g == nil {
		return nil
	}
	i := slices.IndexFunc(g.Uses, func(c *history.Call) bool {
		return c.Invoke.F == history.FWrite && c.Invoke.Register == r.register && c.Outcome() == history.OK &&
			c.Invoke.Value.New == w.Value.New
	})
	if i < 0 {
		return nil
	}
	return g.Uses[i]
}

// lostUpdate explains a stale write by the grants that met there.
func (r *replay) lostUpdate(e *history.Event, overwritten []*history.Event) {
	message := fmt.Sprintf("the write of %s (grant %s, %d -> %d) at %s was accepted on top of what it had not read: %d acknowledged %s lost, of %s",
		e.Client, e.Grant, e.Value.Base.V, e.Value.New.V, Seconds(e.Time), len(overwritten), updates(len(overwritten)), grantsOf(overwritten))
	why := r.in.explainLoss(e, overwritten)
	f := r.add(why.rule, why.class, e, overwritten, message)
	f.because(why.cause)
	f.Reason, f.Doubtful = why.reason, why.class == NoClass || (why.class == Inherent && why.cause.unasked())
}

// lossReason is the rule, class and cause of a lost update.
type lossReason struct {
	rule   string
	class  Class
	reason Reason
	cause  Cause
}

// suspect is a loss for which no lock can be blamed.
func suspect(reason Reason, text string) lossReason {
	return lossReason{"lost-update", NoClass, reason, Cause{Kind: CauseRecord, Text: text}}
}

// explainLoss gives a lost update the class of the overlap of its grants. Without an
// overlap, a write of either side that was invoked inside its own hold but applied
// after it is inherent, too; anything else makes the record suspect.
func (in *Input) explainLoss(e *history.Event, overwritten []*history.Event) lossReason {
	g := in.ByID[e.Grant]
	if g == nil || !g.Granted() {
		return suspect(ReasonNotGranted, "suspect the record: nobody was granted "+e.Grant)
	}
	var worst *overlap
	worstClass, worstReason, together := Inherent, Reason(""), false
	for _, w := range overwritten {
		h := in.ByID[w.Grant]
		if h == nil || !h.Granted() {
			continue
		}
		o := overlap{first: g, second: h, span: in.Hold(g).Overlap(in.Hold(h))}
		if h.From() < g.From() {
			o.first, o.second = h, g
		}
		if o.span.Empty() {
			continue
		}
		if in.Model.Together(g, h) {
			together = true
			continue
		}
		if class, reason, _ := in.classify(o); worst == nil || class == Defect {
			worst, worstClass, worstReason = &o, class, reason
		}
	}
	if worst != nil {
		return lossReason{"lost-update", worstClass, worstReason, in.overlapCause(*worst, worstClass)}
	}
	for _, w := range append([]*history.Event{e}, overwritten...) {
		if late := in.ByID[w.Grant]; late != nil && in.appliedLate(late, w) {
			return lossReason{"late-write", Inherent, ReasonAppliedLate, in.lateWriteCause(late, w)}
		}
	}
	if together {
		return suspect(ReasonTogether, "suspect the workload: its grants may be held at once")
	}
	return suspect(ReasonNoOverlap, "suspect the record: the two grants do not overlap")
}

// lateWriteCause is why a request arrived late: a stall of the host between its
// invocation and its effect, or whatever touched its client.
func (in *Input) lateWriteCause(g *history.Grant, w *history.Event) Cause {
	span := history.Interval{From: g.Sent(), To: w.Time}
	held := in.stalled(g.Client, span)
	late := func(f *history.Injection) bool { return f.Late(g.Client) }
	if d := g.DeadlineAt(w.Time); in.faultOn(g, w.Time, late) == nil && held > 0 && d.Set && held >= w.Time-d.V-in.Run.Tolerance {
		return Cause{Kind: CauseStall, Text: fmt.Sprintf("unplanned stall of the host, which held %s or the register up for %s", g.Client, Millis(held))}
	}
	return in.CauseOf(g, w.Time)
}

// appliedLate reports whether a write was invoked inside its own hold and applied after
// it: a delayed request.
func (in *Input) appliedLate(g *history.Grant, w *history.Event) bool {
	hold := in.Hold(g)
	return w.Time >= hold.To && slices.ContainsFunc(g.Uses, func(u *history.Call) bool {
		return u.Invoke.F == history.FWrite && u.Invoke.Register == w.Register && u.Start() <= hold.To
	})
}

// fence checks the token rules on what the fenced register accepted, reads included.
func (r *replay) fence(e *history.Event) {
	switch {
	case !e.Token.Set:
		r.add("no-token", NoClass, e, nil, fmt.Sprintf("the fenced register accepted a %s of %s without a token", e.F, e.Grant))
	case r.highest.Set && e.Token.V < r.highest.V:
		r.add("stale-accepted", NoClass, e, nil, fmt.Sprintf("the fenced register accepted the %s of %s with token %d after token %d: the fence is open", e.F, e.Grant, e.Token.V, r.highest.V))
	case r.highest.Set && e.Token.V == r.highest.V && !r.sameHolder(e.Grant):
		r.add("equal-token", NoClass, e, nil, fmt.Sprintf("the fenced register accepted the token %d from %s and from %s", e.Token.V, r.holder, e.Grant))
	default:
		r.highest, r.holder = e.Token, e.Grant
	}
}

// sameHolder reports whether a grant may bring the highest token again: it brought it before,
// or is held together with the one that did.
func (r *replay) sameHolder(grant string) bool {
	if grant == r.holder {
		return true
	}
	a, b := r.in.ByID[grant], r.in.ByID[r.holder]
	return a != nil && b != nil && r.in.Model.Together(a, b)
}

// acknowledged checks that what clients were told was done is in the register's log.
func (r *replay) acknowledged(applied map[string]int) {
	for _, g := range r.in.ByLock[r.lock] {
		told := 0
		var last *history.Event
		for _, u := range g.Uses {
			if u.Invoke.F == history.FWrite && u.Invoke.Register == r.register && u.Outcome() == history.OK {
				told++
				last = u.Return
			}
		}
		r.acked += told
		if told > applied[g.ID] {
			r.add("ack-without-apply", NoClass, last, nil, fmt.Sprintf("%s was told that its write succeeded, but the register's log does not have it", g.ID))
		}
	}
}

func (r *replay) add(rule string, class Class, e *history.Event, others []*history.Event, message string) *Finding {
	f := Finding{Rule: rule, Class: class, Cause: noCause.Text, CauseKind: CauseNone, Gating: true, Message: message, Events: []int64{e.Index}, From: e.Time, To: e.Time, Grants: []string{e.Grant}}
	for _, o := range others {
		f.Events = append(f.Events, o.Index)
		f.From = min(f.From, o.Time)
		if !slices.Contains(f.Grants, o.Grant) {
			f.Grants = append(f.Grants, o.Grant)
		}
	}
	slices.Sort(f.Events)
	r.findings = append(r.findings, f)
	return &r.findings[len(r.findings)-1]
}

func updates(n int) string {
	if n == 1 {
		return "update"
	}
	return "updates"
}

func grantsOf(events []*history.Event) string {
	var ids []string
	for _, e := range events {
		ids = append(ids, e.Grant)
	}
	const shown = 3
	if len(ids) > shown {
		return fmt.Sprintf("%s and %d more", joined(ids[:shown], nil), len(ids)-shown)
	}
	return joined(ids, nil)
}
