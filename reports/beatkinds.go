package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/reports/internal/stage"
)

// jobs are the beats of a job that was done twice: its faults, and each time that it was done.
func (b *beater) jobs(steps []Step) []stage.Beat {
	b.faults(steps)
	var before *history.Grant
	for i, g := range grantsOf(b.rec, b.f) {
		for _, u := range g.Uses {
			if u.Invoke.F() != history.FWork {
				continue
			}
			word, text := "does the job", "Nobody has done it yet."
			if i > 0 {
				word, text = "again", "Two clients are at it."
			}
			if before != nil && slices.ContainsFunc(before.Releases, func(c *history.Call) bool { return c.End() <= g.From() }) {
				text = before.Client + " has given the lock back, and nothing tells " + g.Client + " that the job is done."
			}
			b.add(Step{At: u.Start(), Events: eventsOf(u), Bad: i > 0}, word, g.Client+" does the job", text)
		}
		before = g
	}
	return b.inOrder()
}

// attempts are the beats of clients that replaced the same value, where no lock is in play.
func (b *beater) attempts(steps []Step) []stage.Beat {
	b.faults(steps)
	replaced := map[history.Opt]bool{}
	for _, g := range grantsOf(b.rec, b.f) {
		var write *history.Call
		for _, u := range g.Uses {
			if u.Invoke.F() == history.FWrite && u.Outcome() == history.OK {
				write = u
			}
		}
		if write == nil {
			continue
		}
		v := write.Invoke.Value()
		b.add(Step{At: g.From(), Events: eventsOf(g.Acquire)}, "reads", fmt.Sprintf("%s reads %d", g.Client, v.Base.Or(0)), "")
		title, text := fmt.Sprintf("%s replaces %d by %d", g.Client, v.Base.Or(0), v.New.Or(0)), "The store accepts it."
		if replaced[v.Base] {
			title, text = title+", too", "The store accepts it, although the value was replaced before: that update is lost."
		}
		b.add(Step{At: write.End(), Events: eventsOf(write), Bad: replaced[v.Base]}, "writes", title, text)
		replaced[v.Base] = true
	}
	return b.inOrder()
}

func (b *beater) faults(steps []Step) {
	for _, s := range steps {
		if s.Kind == StepFault {
			b.fault(s)
		}
	}
}

// inOrder returns the beats in order of time, no more than there is room for.
func (b *beater) inOrder() []stage.Beat {
	slices.SortStableFunc(b.out, func(x, y stage.Beat) int { return cmp.Compare(x.At, y.At) })
	return b.out[:min(len(b.out), maxBeats)]
}

// ordeals are what a fault did to those whom it hit, for a run that survived it.
var ordeals = map[string]string{
	"client-pause": "slept", "client-stall": "stalled", "partition-client": "was cut off", "client-kill": "was killed",
	"server-pause": "stood still", "slow-server": "was slow", "server-restart": "restarted", "server-kill": "was killed",
	"failover-kill": "was killed", "partition-server": "was cut off", "session-expire": "lost its session",
	"power-loss": "lost its power",
}

// survivedHeadline says what the hardest fault did, and that nobody was hurt; empty: there was none.
func survivedHeadline(survived *Survived, rec *history.Record) string {
	in := hardestOf(survived, rec)
	if in == nil || in.Whom() == "" || ordeals[in.Fault.Fault] == "" {
		return ""
	}
	whom := in.Clients
	if len(whom) == 0 {
		whom = in.Nodes
	}
	text := listed(whom, 2) + " " + ordeals[in.Fault.Fault]
	if len(whom) > 1 {
		text = strings.Replace(text, " was ", " were ", 1)
	}
	if in.HealEnd != nil {
		text += " for " + span(in.Until()-in.Began())
	}
	return text + ", and nobody was hurt"
}

// hardestOf is the fault that a run survived and whose picture it shows: one that hit a holder of the lock, and the longest.
func hardestOf(survived *Survived, rec *history.Record) (hardest *history.Injection) {
	holder := func(in *history.Injection) int {
		if heldAt(rec, in) != nil {
			return 1
		}
		return 0
	}
	harder := func(a, b *history.Injection) bool {
		return b == nil || cmp.Or(cmp.Compare(holder(a), holder(b)), cmp.Compare(a.Until()-a.Began(), b.Until()-b.Began())) > 0
	}
	for _, s := range survived.Steps {
		for _, in := range rec.Faults {
			if in.Invoke != nil && slices.Contains(s.Events, in.Invoke.Index) && harder(in, hardest) {
				hardest = in
			}
		}
	}
	return hardest
}

// heldAt is the grant under which a client held the lock when a fault hit it; nil: it held none.
func heldAt(rec *history.Record, in *history.Injection) *history.Grant {
	g, _ := lists.Find(rec.Grants, func(g *history.Grant) bool {
		return g.Granted() && slices.Contains(in.Clients, g.Client) && g.From() <= in.Began() && in.Began() <= facts.Of(rec).Hold(g).To
	})
	return g
}

// hardestBeats are the beginning and the end of the hardest fault that a run survived, and the next grant.
func hardestBeats(survived *Survived, rec *history.Record) (out []stage.Beat) {
	longest := hardestOf(survived, rec)
	if longest == nil {
		return nil
	}
	word := longest.Fault.Fault
	out = append(out, struckBy(longest, rec))
	if longest.HealEnd != nil {
		out = append(out, stage.Beat{At: longest.Until(), Word: "ends", Title: word + " ends", Event: longest.HealEnd.Index})
	}
	var next *history.Grant
	for _, g := range rec.Grants {
		if g.Granted() && g.From() > longest.Until() && (next == nil || g.From() < next.From()) {
			next = g
		}
	}
	if next != nil {
		late := ""
		if due := next.DeadlineAt(next.From()); due.Set && due.V <= next.From() {
			late = "Its lease was over when the answer came, so it does not use it."
		}
		out = append(out, stage.Beat{
			At: next.From(), Word: "goes on", Title: next.Client + " gets the lock", Text: late, Event: next.Acquire.Return.Index,
		})
	}
	return out
}
