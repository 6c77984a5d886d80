package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Story tells the first violation in plain words: who was held up, when its lease ran
// out, who entered, what was lost, what the fence refused; then the totals. A line each.
func Story(r *checker.Results, rec *history.Record) []string {
	var out []string
	if f := firstFinding(r); f != nil {
		out = append(out, storyOf(f, r, rec)...)
	}
	if r.Verdict == checker.Pass && r.Stats["violations"] == 0 {
		out = append(out, safeStory(r, rec)...)
	}
	return append(out, totals(r)...)
}

// safeStory tells what a lock withstood.
func safeStory(r *checker.Results, rec *history.Record) []string {
	out := []string{fmt.Sprintf("%d grants, no two clients inside at once.", r.Stats["grants"])}
	const shown = 8
	n := 0
	for _, in := range rec.Faults {
		if !in.Effective() {
			continue
		}
		if n++; n > shown {
			continue
		}
		text := fmt.Sprintf("%s: %s", in.Fault.Fault, in.Proof)
		if in.Point != "" {
			text += fmt.Sprintf(", while %s stood at %s", in.By, in.Point)
		}
		if in.HealEnd != nil {
			text += ", for " + dur(in.HealEnd.Time-in.Effect.Time).String()
		}
		out = append(out, "  "+at(in.Effect.Time)+"  "+text+".")
	}
	if n > shown {
		out = append(out, fmt.Sprintf("  ... and %d more faults.", n-shown))
	}
	return out
}

// firstFinding is the one to tell: of mutual exclusion where there is one, else the
// first of any check that failed and is required.
func firstFinding(r *checker.Results) *checker.Finding {
	order := append([]string{"mutual-exclusion", "ownership", "lock-linearizability", "liveness"}, r.Order...)
	for _, name := range order {
		if c := r.Checks[name]; c.Required && c.Verdict == checker.Fail && len(c.Findings) > 0 {
			return &c.Findings[bestStory(r, c.Findings)]
		}
	}
	return nil
}

// bestStory prefers a defect to what is inherent, and then the first overlap by which an
// update was lost.
func bestStory(r *checker.Results, overlaps []checker.Finding) int {
	worst := slices.ContainsFunc(overlaps, isDefect)
	for i, f := range overlaps {
		if worst && !isDefect(f) {
			continue
		}
		for _, name := range []string{"data-plain", "data-fenced"} {
			for _, d := range r.Checks[name].Findings {
				if len(f.Grants) == 2 && slices.Contains(d.Grants, f.Grants[0]) && slices.Contains(d.Grants, f.Grants[1]) {
					return i
				}
			}
		}
	}
	return max(0, slices.IndexFunc(overlaps, isDefect))
}

func isDefect(f checker.Finding) bool { return f.Class == checker.Defect }

func storyOf(f *checker.Finding, r *checker.Results, rec *history.Record) []string {
	var lines []line
	for _, id := range f.Grants {
		if g := rec.ByID[id]; g != nil {
			lines = append(lines, grantStory(g, f)...)
		}
	}
	for _, in := range rec.Faults {
		if in.Effective() && touches(in, f, rec) {
			lines = append(lines, line{in.Effect.Time, struck(in)})
			if in.HealEnd != nil {
				lines = append(lines, line{in.HealEnd.Time, fmt.Sprintf("%s ended.", in.Fault.Fault)})
			}
		}
	}
	lines = append(lines, serverStory(rec, storySpan(f, rec))...)
	lines = append(lines, dataStory(f, r)...)
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.at - b.at) })
	out := []string{headOf(f.Class) + f.Message + "."}
	for _, l := range slices.Compact(lines) {
		out = append(out, "  "+at(l.at)+"  "+l.text)
	}
	return append(out, "  Cause: "+f.Cause+".")
}

// struck says whom a fault hurt, at the moment of its proof.
func struck(in *history.Injection) string {
	whom := strings.Join(append(slices.Clone(in.Clients), in.Nodes...), ", ")
	if in.Gradual() {
		return fmt.Sprintf("%s, begun at %s, has struck %s: %s.", in.Fault.Fault, strings.TrimSpace(at(in.Invoke.Time)), whom, in.Proof)
	}
	return fmt.Sprintf("%s struck %s: %s.", in.Fault.Fault, whom, in.Proof)
}

// headOf says in front of a story what kind it is.
func headOf(c checker.Class) string {
	switch c {
	case checker.Inherent:
		return "Inherent to leases: "
	case checker.Defect:
		return "A defect of the lock: "
	default:
		return ""
	}
}

type line struct {
	at   int64
	text string
}

// storySpan is the time that the story of a finding tells: from the first acquire of its
// grants on.
func storySpan(f *checker.Finding, rec *history.Record) history.Interval {
	span := history.Interval{From: f.From, To: f.To}
	for _, id := range f.Grants {
		if g := rec.ByID[id]; g != nil && g.Acquire != nil {
			span.From = min(span.From, g.Acquire.Start())
		}
	}
	return span
}

// touches reports whether a fault belongs to the story of a finding.
func touches(in *history.Injection, f *checker.Finding, rec *history.Record) bool {
	span := storySpan(f, rec)
	if in.Invoke.Time > span.To || in.Until() < span.From {
		return false
	}
	if len(in.Clients) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Grants, func(id string) bool {
		g := rec.ByID[id]
		return g != nil && slices.Contains(in.Clients, g.Client)
	})
}

func grantStory(g *history.Grant, f *checker.Finding) []line {
	var out []line
	if g.Granted() {
		text := fmt.Sprintf("%s is granted %s (%s", g.Client, g.Lock, g.ID)
		if t := g.Token(); t.Set {
			text += fmt.Sprintf(", token %d", t.V)
		}
		out = append(out, line{g.From(), text + ")."})
		if d := g.DeadlineAt(f.To); d.Set && d.V <= f.To {
			out = append(out, line{d.V, fmt.Sprintf("the lease of %s runs out.", g.ID)})
		}
	}
	for _, u := range g.Uses {
		if u.Invoke.F != history.FRead && u.Invoke.F != history.FWrite {
			continue
		}
		out = append(out, line{u.Start(), useText(g, u)})
	}
	for _, rel := range g.Releases {
		answer := "no answer"
		if rel.Return != nil {
			answer = string(rel.Outcome())
			if rel.Return.Error != "" {
				answer = rel.Return.Error
			}
		}
		out = append(out, line{rel.Start(), fmt.Sprintf("%s releases %s: %s.", g.Client, g.ID, answer)})
	}
	return out
}

func useText(g *history.Grant, u *history.Call) string {
	reg := u.Invoke.Register
	switch {
	case u.Outcome() == history.Fail && u.Return.Error == history.ErrStaleToken:
		return fmt.Sprintf("the fence refuses the %s of %s: its token %d is old.", u.Invoke.F, g.Client, u.Invoke.Token.V)
	case u.Invoke.F == history.FRead && u.Outcome() == history.OK:
		return fmt.Sprintf("%s reads %d from %s.", g.Client, u.Return.Value.Base.V, reg)
	case u.Invoke.F == history.FRead:
		return fmt.Sprintf("%s reads %s: %s.", g.Client, reg, outcomeText(u))
	default:
		return fmt.Sprintf("%s writes %d to %s: %s.", g.Client, u.Invoke.Value.New.V, reg, outcomeText(u))
	}
}

func outcomeText(c *history.Call) string {
	switch c.Outcome() {
	case history.OK:
		return "acknowledged"
	case history.Fail:
		return "failed, " + c.Return.Error
	default:
		return "outcome unknown"
	}
}

// dataStory adds the update that the same two grants lost.
func dataStory(f *checker.Finding, r *checker.Results) []line {
	for _, name := range []string{"data-plain", "data-fenced"} {
		for _, d := range r.Checks[name].Findings {
			shared := 0
			for _, id := range d.Grants {
				if slices.Contains(f.Grants, id) {
					shared++
				}
			}
			if shared >= 2 {
				return []line{{d.To, "LOST: " + d.Message + "."}}
			}
		}
	}
	return nil
}

// totals are the sums that matter: without the fence, and with it.
func totals(r *checker.Results) []string {
	var out []string
	if n := r.Stats["violations"]; n > 0 {
		text := fmt.Sprintf("In the whole run clients overlapped %d %s, for %v at most.", n, plural(int(n), "time"), dur(r.Stats["overlap_max_ns"]))
		if c := r.Checks["mutual-exclusion"]; !gates(c) {
			text += " (Reported, not gating: with --fencing on the data is what counts.)"
		}
		out = append(out, text)
	}
	if n, ok := r.Stats["updates_lost_plain"]; ok {
		out = append(out, fmt.Sprintf("In the whole run without a fence: %d acknowledged %s lost.", n, plural(int(n), "update")))
	}
	if n, ok := r.Stats["updates_lost_fenced"]; ok {
		out = append(out, fmt.Sprintf("In the whole run with the fence: %d acknowledged %s lost, %d stale %s refused.", n, plural(int(n), "update"),
			r.Stats["fence_refused"], plural(int(r.Stats["fence_refused"]), "request")))
	}
	if c := r.Checks["data-fenced"]; c.Verdict == checker.Skipped && c.Reason == "issues no tokens" && r.Stats["updates_lost_plain"] > 0 {
		out = append(out, fmt.Sprintf("A fence cannot help here: the backend %s issues no tokens.", r.Backend))
	}
	return out
}

// figures are the statistics that every run has.
func figures(r *checker.Results) []string {
	out := []string{
		fmt.Sprintf("%d events", r.Stats["events"]), fmt.Sprintf("%d grants", r.Stats["grants"]),
		fmt.Sprintf("faults: %d injected, %d effective", r.Stats["faults_injected"], r.Stats["faults_effective"]),
	}
	if v, ok := r.Stats["acquire_p50_ns"]; ok {
		out = append(out, fmt.Sprintf("acquire p50 %v, p99 %v", dur(v), dur(r.Stats["acquire_p99_ns"])))
	}
	if v, ok := r.Stats["recovery_max_ns"]; ok {
		out = append(out, fmt.Sprintf("recovery %v at most", dur(v)))
	}
	if v, ok := r.Stats["ready_ns"]; ok {
		out = append(out, fmt.Sprintf("first grant after %v", dur(v)))
	}
	return out
}

func dur(ns int64) time.Duration {
	d := time.Duration(ns)
	if d > 10*time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}

func at(ns int64) string { return fmt.Sprintf("%8.3f s", float64(ns)/1e9) }
