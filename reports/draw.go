package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

func (p *painter) drawFaults() {
	for _, in := range p.rec.Faults {
		if !in.Effective() {
			continue
		}
		to := max(in.Until(), in.Effect.Time)
		text := func() string { return fmt.Sprintf("%s #%d: %s", in.Fault.Fault, in.ID, in.Proof) }
		for _, party := range slices.Concat(in.Clients, in.Nodes) {
			if y, ok := p.lanes[party]; ok {
				p.span("fault", p.names[y], in.Began(), to, float64(y), laneHeight-4, text)
			}
		}
		if len(in.Clients) == 0 { // of servers, or of neither: it can hurt everybody
			p.span("faultall", "", in.Began(), to, laneTop, float64(p.t.Height-laneTop-10), text)
		}
	}
	for client, t := range p.rec.Kills {
		p.drawKill(client, t)
	}
	for _, e := range p.rec.Deaths {
		p.drawKill(e.Node, e.Time)
	}
}

func (p *painter) drawKill(party string, t int64) {
	if y, ok := p.lanes[party]; ok {
		p.mark(kindCross, "kill", t, y, func() string { return party + " is killed at " + moment(t) }, "killed")
	}
}

func (p *painter) drawGrant(g *history.Grant) {
	lane, ok := p.lanes[g.Client]
	if !ok || g.Acquire == nil {
		return
	}
	row, y := p.names[lane], float64(lane)
	if !g.Granted() {
		end := p.rec.Last[g.Client]
		if g.Acquire.Return != nil {
			end = g.Acquire.Return.Time
		}
		p.span("waiting", row, g.Acquire.Start(), end, y+13.5, 2,
			func() string { return "grant " + g.ID + ": the client waits, but does not get the lock" })
		if g.Acquire.Outcome() == history.Info {
			p.mark(kindCross, "unknown", g.Acquire.Start(), lane, func() string {
				return "grant " + g.ID + ": it is unknown whether the " +
					"client got the lock"
			}, "")
		}
		return
	}
	p.span("waiting", row, g.Acquire.Start(), g.From(), y+13.5, 2,
		func() string { return "grant " + g.ID + ": the client waits for the lock" })
	hold := p.facts().Hold(g)
	p.span("hold", row, hold.From, hold.To, y+6, 16, func() string {
		return fmt.Sprintf("grant %s: %s held lock %s from %s to %s", g.ID, g.Client, g.Lock, moment(hold.From), moment(hold.To))
	})
	if until, orphan := kept(p.facts(), g, hold, p.to); orphan {
		p.span("orphan", row, hold.To, until, y+9, 10, func() string {
			return fmt.Sprintf("grant %s: the store kept the lock for this grant until %s, although no client believed that it held "+
				"the lock", g.ID, moment(until))
		})
	}
	p.drawLease(g, row, y)
	for _, u := range g.Uses {
		p.drawUse(g, u, lane)
	}
}

// drawLease draws the lease from when it was sent for to its deadline or its release.
func (p *painter) drawLease(g *history.Grant, row string, y float64) {
	d := g.DeadlineAt(history.Forever)
	if !d.Set {
		return
	}
	end := d.V
	for _, rel := range g.Releases {
		if rel.Outcome() == history.OK {
			end = min(end, rel.End())
		}
	}
	p.span("lease", row, g.Sent(), end, y+25, 5, func() string {
		return fmt.Sprintf("lease of grant %s: requested at %s, ends at %s", g.ID, moment(g.Sent()), moment(d.V))
	})
}

func (p *painter) drawUse(g *history.Grant, u *history.Call, lane int) {
	text := func() string { return useText(g, u) }
	switch {
	case u.Outcome() == history.Fail:
		p.mark(kindCross, "refused", u.Start(), lane, text, "")
	case u.Invoke.F == history.FWrite:
		p.mark(kindDot, "write", u.Start(), lane, text, "")
	case u.Invoke.F == history.FRead:
		p.mark(kindDot, "read", u.Start(), lane, text, "")
	}
}

// drawLost marks the writes by which updates were lost.
func (p *painter) drawLost(r *checker.Results) {
	for _, name := range dataChecks {
		for _, f := range r.Checks[name].Findings {
			if len(f.Grants) == 0 || !strings.HasPrefix(f.Rule, "lost") && f.Rule != "late-write" {
				continue
			}
			if g := p.rec.ByID[f.Grants[0]]; g != nil {
				if y, ok := p.lanes[g.Client]; ok {
					what := "update lost"
					if f.Lost == 0 {
						what = "update overwritten"
					}
					p.mark(kindCross, "lost", f.To, y, func() string { return f.Message }, what)
				}
			}
		}
	}
}
