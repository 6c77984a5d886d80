package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/reports/internal/stage"
)

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
