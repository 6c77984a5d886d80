package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// steps are the story of one finding, in order of time: what its grants did, the faults
// and the servers in the time of it, the update that was lost.
func steps(f *checker.Finding, r *checker.Results, rec *history.Record) []Step {
	var out []Step
	for _, g := range grantsOf(rec, f) {
		out = append(out, grantSteps(g, f.To)...)
		out = append(out, renewalSteps(g, f)...)
	}
	out = append(out, deadlockSteps(f, rec)...)
	out = append(out, faultSteps(f, rec)...)
	out = append(out, serverSteps(rec, around(f, rec))...)
	out = append(out, lossSteps(f, r, rec)...)
	blame(out, f, rec)
	slices.SortStableFunc(out, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return slices.CompactFunc(out, func(a, b Step) bool { return a.At == b.At && a.Text == b.Text })
}

// blame marks the release that freed the lock of another client. It is told when it was answered, although it may
// have been asked for long before.
func blame(out []Step, f *checker.Finding, rec *history.Record) {
	clients := clientsOf(rec, f)
	if f.Rule != "foreign-release" || len(clients) != 2 {
		return
	}
	for i := range out {
		s := &out[i]
		if s.Kind != StepRelease || s.Party != clients[0] || !slices.Contains(f.Events, s.Events[0]) {
			continue
		}
		asked := ""
		if s.At < f.From {
			asked, s.At = ", asked for at "+moment(s.At), f.To
		}
		s.Bad, s.Text = true, strings.TrimSuffix(s.Text, ".")+asked+", although "+clients[1]+" holds "+lockOf(rec, f)+"."
	}
}

// grantSteps tells a grant; its lease runs out in the story only if it did so by a moment.
func grantSteps(g *history.Grant, until int64) []Step {
	var out []Step
	if g.Granted() {
		out = append(out, granted(g))
		if d := g.DeadlineAt(until); d.Set && d.V <= until {
			out = append(out, Step{
				At: d.V, Party: g.Client, Kind: StepLeaseOver, Events: []int64{deadlineEvent(g, d.V)},
				Text: fmt.Sprintf("the lease of grant %s runs out.", g.ID),
			})
		}
	}
	if len(g.Losses) > 0 {
		told := g.Losses[0]
		out = append(out, Step{
			At: told.Time, Party: g.Client, Kind: StepTold, Events: []int64{told.Index},
			Text: fmt.Sprintf("%s is notified that grant %s is lost: %s.", g.Client, g.ID, told.Message()),
		})
	}
	for _, u := range g.Uses {
		if u.Invoke.F() == history.FRead || u.Invoke.F() == history.FWrite {
			out = append(out, Step{At: u.Start(), Party: g.Client, Kind: useKind(u), Events: eventsOf(u), Text: useText(g, u)})
		}
	}
	for _, rel := range g.Releases {
		text := fmt.Sprintf("%s releases grant %s (answer: %s).", g.Client, g.ID, answerOf(rel))
		if rel.Unasked() {
			text = fmt.Sprintf("the library of %s releases grant %s by itself (answer: %s).", g.Client, g.ID, answerOf(rel))
		}
		out = append(out, Step{At: rel.Start(), Party: g.Client, Kind: StepRelease, Events: eventsOf(rel), Text: text})
	}
	return out
}

// renewalSteps tell the renewal that a finding turns on, where it turns on a lease that was still running.
func renewalSteps(g *history.Grant, f *checker.Finding) []Step {
	if !slices.Contains([]checker.Reason{checker.ReasonBothValid, checker.ReasonNotOver, checker.ReasonGoneEarly}, f.Reason) {
		return nil
	}
	rn := g.RenewedBy(f.From)
	if rn == nil {
		return nil
	}
	text := fmt.Sprintf("the lease of grant %s is renewed until %s (", g.ID, moment(rn.Return.Deadline().V))
	if rn.Return.Sent().Set {
		text += "renewal sent at " + moment(rn.Return.Sent().V) + ", "
	}
	text += "acknowledged"
	if len(rn.Return.Nodes()) > 0 {
		text += " by " + strings.Join(rn.Return.Nodes(), ", ")
	}
	text += ")"
	return []Step{{
		At: rn.Return.Time, Party: g.Client, Kind: StepRenewed, Events: []int64{rn.Return.Index, rn.Invoke.Index},
		Text: text + ".",
	}}
}

func granted(g *history.Grant) Step {
	text := fmt.Sprintf("%s is granted lock %s (grant %s", g.Client, g.Lock, g.ID)
	if t := g.Token(); t.Set {
		text += fmt.Sprintf(", token %d", t.V)
	}
	return Step{At: g.From(), Party: g.Client, Kind: StepGranted, Events: eventsOf(g.Acquire), Text: text + ")."}
}

// deadlineEvent is the event that told the client of a deadline: the grant, or a renewal.
func deadlineEvent(g *history.Grant, deadline int64) int64 {
	for _, rn := range g.Renews {
		if rn.Outcome() == history.OK && rn.Return.Deadline() == history.Some(deadline) {
			return rn.Return.Index
		}
	}
	return g.Acquire.Return.Index
}

func eventsOf(c *history.Call) []int64 {
	out := []int64{c.Invoke.Index}
	if c.Return != nil {
		out = append(out, c.Return.Index)
	}
	return out
}

func useKind(u *history.Call) StepKind {
	switch {
	case refused(u):
		return StepRefused
	case u.Invoke.F() == history.FRead:
		return StepRead
	default:
		return StepWrite
	}
}

func refused(u *history.Call) bool {
	return u.Outcome() == history.Fail && u.Return.Code() == history.ErrStaleToken
}

func useText(g *history.Grant, u *history.Call) string {
	reg := u.Invoke.Register()
	switch {
	case refused(u):
		return fmt.Sprintf("the fence refuses the %s of %s: token %d is outdated.", u.Invoke.F(), g.Client, u.Invoke.Token().V)
	case u.Invoke.F() == history.FRead && u.Outcome() == history.OK:
		return fmt.Sprintf("%s reads %d from register %s.", g.Client, u.Return.Base().V, reg)
	case u.Invoke.F() == history.FRead:
		return fmt.Sprintf("%s reads register %s: %s.", g.Client, reg, outcomeText(u))
	default:
		return fmt.Sprintf("%s writes %d to register %s: %s.", g.Client, u.Invoke.New().V, reg, outcomeText(u))
	}
}

func outcomeText(c *history.Call) string {
	switch c.Outcome() {
	case history.OK:
		return "acknowledged"
	case history.Fail:
		return "failed (" + c.Return.Code() + ")"
	default:
		return "outcome unknown"
	}
}

// answerOf is what a release was answered.
func answerOf(rel *history.Call) string {
	switch {
	case rel.Return == nil:
		return "no answer"
	case rel.Return.Code() != "":
		return rel.Return.Code()
	default:
		return string(rel.Outcome())
	}
}

// faultSteps are the faults that belong to the story of a finding.
func faultSteps(f *checker.Finding, rec *history.Record) []Step {
	var out []Step
	for _, in := range rec.Faults {
		if !in.Effective() || !touches(in, f, rec) {
			continue
		}
		out = append(out, strikes(in, rec)...)
		if in.HealEnd != nil {
			text := in.Fault.Fault + " ended (at this time or just before)." // it is recorded when it is over
			out = append(out, Step{
				At: in.HealEnd.Time, Party: history.PartyNemesis, Kind: StepHeal, Events: []int64{in.HealEnd.Index},
				Text: text,
			})
		}
	}
	return out
}

// touches reports whether a fault belongs to the story of a finding.
func touches(in *history.Injection, f *checker.Finding, rec *history.Record) bool {
	span := around(f, rec)
	if in.Began() > span.To || in.Until() < span.From {
		return false
	}
	if len(in.Clients) == 0 {
		return true
	}
	return slices.ContainsFunc(clientsOf(rec, f), func(c string) bool { return slices.Contains(in.Clients, c) })
}

// sourceOf is the line of code at which a fault struck, in brackets; empty: nobody told it.
func sourceOf(in *history.Injection, rec *history.Record) string {
	if in.By == "" {
		return ""
	}
	for i := range rec.Events {
		e := &rec.Events[i]
		reached := e.F() == history.FPoint && e.Type() == history.Invoke && e.Party() == in.By && e.Grant() == in.Grant
		if reached && e.Message() != "" && e.Time <= in.Effect.Time {
			return " (" + e.Message() + ")"
		}
	}
	return ""
}

// strikes is the beginning of a fault with its proof; where that came later, it is a step of its own.
func strikes(in *history.Injection, rec *history.Record) []Step {
	step := func(at int64, kind StepKind, text string, events ...int64) Step {
		return Step{At: at, Party: history.PartyNemesis, Kind: kind, Events: events, Text: text + "."}
	}
	text := in.Fault.Fault + " strikes"
	if whom := inRoles(in); len(whom) > 0 {
		text += " " + strings.Join(whom, ", ")
	}
	if trigger := checker.Trigger(in.Fault); trigger != "" {
		text += ", triggered " + trigger + sourceOf(in, rec)
	}
	if !in.Gradual() {
		return []Step{step(in.Began(), StepFault, text+": "+in.Proof, in.Invoke.Index, in.Effect.Index)}
	}
	return []Step{
		step(in.Began(), StepFault, text, in.Invoke.Index, in.Effect.Index),
		step(in.Effect.Time, StepProof, "the effect of "+in.Fault.Fault+" is observed: "+in.Proof, in.Effect.Index),
	}
}

// inRoles is whom a fault strikes; of servers that lead, that they do.
func inRoles(in *history.Injection) []string {
	whom := slices.Clone(in.Clients)
	for _, n := range in.Nodes {
		if role := in.Roles[n]; history.Leads(role) {
			n += " (" + role + ")"
		}
		whom = append(whom, n)
	}
	return whom
}

// lossSteps adds the update that was lost by what a finding shows.
func lossSteps(f *checker.Finding, r *checker.Results, rec *history.Record) []Step {
	d := r.LossOf(f)
	if d == nil {
		return nil
	}
	text := strings.Replace(d.Message, " at "+checker.Seconds(d.To), "", 1) + "." // the step has the time
	lost := Step{At: d.To, Kind: StepLost, Text: "LOST: " + text, Bad: true}
	if d.Lost == 0 {
		lost.Kind, lost.Text = StepOverwritten, "OVERWRITTEN: "+text
	}
	if g := rec.ByID[d.Grants[0]]; g != nil {
		lost.Party = g.Client
	}
	lost.Events = slices.Concat(d.Events, overwritten(d, rec))
	slices.Sort(lost.Events)
	return []Step{lost}
}

// overwritten are the events of clients that show the writes that a loss overwrote.
func overwritten(d *checker.Finding, rec *history.Record) (out []int64) {
	for _, i := range d.Events {
		e := &rec.Events[i]
		g := rec.ByID[e.Grant()]
		if e.Grant() == d.Grants[0] || g == nil {
			continue
		}
		for _, u := range g.Uses {
			if u.Invoke.F() == history.FWrite && u.Invoke.Register() == e.Register() && u.Invoke.New() == e.New() {
				out = append(out, eventsOf(u)...)
			}
		}
	}
	return out
}
