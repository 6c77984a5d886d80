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
		text := fmt.Sprintf("%s #%d: %s", in.Fault.Fault, in.ID, in.Proof)
		for _, party := range slices.Concat(in.Clients, in.Nodes) {
			if y, ok := p.lanes[party]; ok {
				p.span("fault", in.Invoke.Time, to, float64(y), laneHeight-4, text)
			}
		}
		if len(in.Nodes) > 0 && len(in.Clients) == 0 {
			p.span("faultall", in.Invoke.Time, to, laneTop, float64(p.t.Height-laneTop-10), text)
		}
	}
	for client, t := range p.rec.Kills {
		if y, ok := p.lanes[client]; ok {
			p.mark("cross", "kill", t, float64(y+14), client+" is killed", "killed")
		}
	}
}

func (p *painter) drawOverlaps(r *checker.Results) {
	for _, f := range r.Checks[checker.MutualExclusion].Findings {
		p.span("overlap "+string(f.Class), f.From, f.To, laneTop-6, float64(p.t.Height-laneTop), f.Message)
	}
}

func (p *painter) drawGrant(g *history.Grant) {
	lane, ok := p.lanes[g.Client]
	if !ok || g.Acquire == nil {
		return
	}
	y := float64(lane)
	if !g.Granted() {
		end := p.rec.Last[g.Client]
		if g.Acquire.Return != nil {
			end = g.Acquire.Return.Time
		}
		p.span("waiting", g.Acquire.Start(), end, y+13, 3, g.ID+" waits, and is not granted")
		if g.Acquire.Outcome() == history.Info {
			p.mark("cross", "unknown", g.Acquire.Start(), y+14, g.ID+": acquire of unknown outcome", "")
		}
		return
	}
	p.span("waiting", g.Acquire.Start(), g.From(), y+13, 3, g.ID+" waits")
	hold := p.rec.ProvenHold(g)
	p.span("hold", hold.From, hold.To, y+6, 16, fmt.Sprintf("%s: %s holds %s from %s to %s", g.ID, g.Client, g.Lock, at(hold.From), at(hold.To)))
	if d := g.DeadlineAt(history.Forever); d.Set {
		end := d.V
		for _, rel := range g.Releases {
			if rel.Outcome() == history.OK {
				end = min(end, rel.End())
			}
		}
		p.span("lease", g.Sent(), end, y+25, 5, fmt.Sprintf("lease of %s: sent %s, deadline %s", g.ID, at(g.Sent()), at(d.V)))
	}
	for _, u := range g.Uses {
		class := "read"
		if u.Invoke.F == history.FWrite {
			class = "write"
		}
		if u.Outcome() == history.Fail {
			p.mark("cross", "refused", u.Start(), y+14, useText(g, u), "")
		} else if u.Invoke.F != history.FWork {
			p.mark("dot", class, u.Start(), y+14, useText(g, u), "")
		}
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
					p.mark("cross", "lost", f.To, float64(y+14), f.Message, "stale write")
				}
			}
		}
	}
}

// drawServers draws what the servers said of themselves, and their deaths.
func (p *painter) drawServers() {
	for _, t := range tenures(p.rec) {
		y, ok := p.lanes[t.node]
		if !ok || (t.role != roleMaster && t.role != roleDown) {
			continue
		}
		p.span(t.role, t.From, t.To, float64(y)+10, 8, fmt.Sprintf("%s: %s from %s on", t.node, t.role, at(t.From)))
	}
	for _, e := range p.rec.Deaths {
		if y, ok := p.lanes[e.Node]; ok {
			p.mark("cross", "kill", e.Time, float64(y+14), e.Node+" is killed", "killed")
		}
	}
}
