// Package tally says what the runs of a cell come to: figures over seeds, each with an interval, whether
// thresholds hold, what the cell is called in one word, and what differs between two suites beyond
// chance. It is arithmetic on stored results: nothing here runs anything.
package tally

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
)

// Unit is what a figure counts.
type Unit string

// The units.
const (
	Count    Unit = "count"
	Time     Unit = "ns"
	PerMille Unit = "per 1000" // of grants
	Percent  Unit = "%"
	PerSec   Unit = "per s"
)

// Sample is what a run measured: the stats of its results, and how long it was. A run without results has
// none.
type Sample struct {
	Stats  checker.Figures
	Length time.Duration
}

func (s Sample) stat(name string) (int64, bool) {
	v, ok := s.Stats[name]
	return v, ok
}

// Figure is a named number over the runs of a cell, as thresholds, reports and comparisons know it.
type Figure struct {
	Name string
	Doc  string
	Unit Unit
	More bool // more of it is better

	// of is the figure of one run; ok is false where it was not measured.
	of func(Sample) (v float64, ok bool)
	// over makes one figure of those of the runs.
	over func(f Figure, runs []Sample) (Value, bool)
	// share are the events and the chances of a run, of figures that are rates.
	share func(Sample) (events, chances int64, ok bool)
}

// Value is a figure of a cell. Low and High are the ends of its interval.
type Value struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Kind says what the ends are: of 95 % confidence, or the range of too few runs.
	Kind string `json:"interval"`
	Runs int    `json:"runs"` // that measured it
}

// Kinds of intervals.
const (
	Confidence = "95 %"
	Range      = "range"
)

// Figures are all that there are, in the order of reports.
func Figures() []Figure {
	return []Figure{
		{Name: "grants", Doc: "grants in all runs", Unit: Count, More: true, of: stat("grants"), over: sum},
		{Name: "throughput", Doc: "grants per second (median of the runs)", Unit: PerSec, More: true, of: perSecond, over: median},
		{Name: "exposures", Doc: "faults that took effect (without faults: grants)", Unit: Count, More: true, of: exposures, over: sum},
		{
			Name: "violations", Doc: "how often two clients held the lock at once, in all runs", Unit: Count, of: stat("violations"),
			over: sum,
		},
		{
			Name: "violations.rate", Doc: "how often two clients held the lock at once, per thousand grants", Unit: PerMille,
			of: rate(violationShare, 1000), over: poisson, share: violationShare,
		},
		{
			Name: "violating.runs", Doc: "share of the runs with a violation", Unit: Percent, of: rate(failedShare, 100), over: binomial,
			share: failedShare,
		},
		{Name: "overlap", Doc: "longest time with two holders at once", Unit: Time, of: stat("overlap_max_ns"), over: most},
		{
			Name: "first-violation", Doc: "time until the first violation (median of the runs that have one)", Unit: Time, More: true,
			of: stat("first_violation_ns"), over: median,
		},
		{
			Name: "updates", Doc: "acknowledged updates in all runs", Unit: Count, More: true, of: stat("updates_acked"),
			over: sum,
		},
		{
			Name: "lost-updates.plain", Doc: "acknowledged updates lost for good, without a fence",
			Unit: Count, of: stat("updates_lost_plain"), over: sum,
		},
		{
			Name: "lost-updates.fenced", Doc: "acknowledged updates lost for good, with a fence",
			Unit: Count, of: stat("updates_lost_fenced"), over: sum,
		},
		{
			Name: "overwritten-updates.plain", Doc: "acknowledged updates overwritten unseen, without a fence",
			Unit: Count, of: overwritten("plain"), over: sum,
		},
		{
			Name: "overwritten-updates.fenced", Doc: "acknowledged updates overwritten unseen, with a fence",
			Unit: Count, of: overwritten("fenced"), over: sum,
		},
		{
			Name: "brought-back-updates.plain", Doc: "overwritten updates that later writes brought back, without a fence",
			Unit: Count, of: stat("updates_brought_back_plain"), over: sum,
		},
		{
			Name: "brought-back-updates.fenced", Doc: "overwritten updates that later writes brought back, with a fence",
			Unit: Count, of: stat("updates_brought_back_fenced"), over: sum,
		},
		{
			Name: "lost-updates.plain.percent", Doc: "share of acknowledged updates lost for good, without a fence", Unit: Percent,
			of: rate(lostOf("updates_lost_plain"), 100), over: binomial, share: lostOf("updates_lost_plain"),
		},
		{
			Name: "lost-updates.fenced.percent", Doc: "share of acknowledged updates lost for good, with a fence", Unit: Percent,
			of: rate(lostOf("updates_lost_fenced"), 100), over: binomial, share: lostOf("updates_lost_fenced"),
		},
		{
			Name: "lost-updates.percent", Doc: "share of acknowledged updates lost for good", Unit: Percent, of: rate(lostShare, 100),
			over: binomial, share: lostShare,
		},
		{Name: "fence.refused", Doc: "requests that the fence refused", Unit: Count, More: true, of: stat("fence_refused"), over: sum},
		{
			Name: "loss-notice", Doc: "longest time in which a previous holder could not know of its loss", Unit: Time,
			of: stat("loss_notice_late_max_ns"), over: most,
		},
		{
			Name: "recovery", Doc: "longest time from a fault's end (fail-over: its beginning) until each lock was granted again",
			Unit: Time, of: stat("recovery_max_ns"), over: most,
		},
		{
			Name: "recovery.median", Doc: "median over the runs of each run's longest recovery", Unit: Time, of: stat("recovery_max_ns"),
			over: median,
		},
		{
			Name: "orphan", Doc: "longest time in which nobody held a lock or could get it", Unit: Time, of: stat("orphan_max_ns"),
			over: most,
		},
		{
			Name: "acquire.p50", Doc: "time to acquire, 50th percentile (median of the runs)", Unit: Time, of: stat("acquire_p50_ns"),
			over: median,
		},
		{
			Name: "acquire.p99", Doc: "time to acquire, 99th percentile (median of the runs)", Unit: Time, of: stat("acquire_p99_ns"),
			over: median,
		},
		{
			Name: "renew.p99", Doc: "time to extend the lease, 99th percentile (median of the runs)", Unit: Time, of: stat("renew_p99_ns"),
			over: median,
		},
	}
}

// Find is the figure of a name.
func Find(name string) (Figure, bool) {
	all := Figures()
	i := slices.IndexFunc(all, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		return Figure{}, false
	}
	return all[i], true
}

// Names are those of all figures.
func Names() []string {
	var out []string
	for _, f := range Figures() {
		out = append(out, f.Name)
	}
	return out
}

// Over is the figure over runs; ok is false where no run has measured it.
func (f Figure) Over(runs []Sample) (v Value, ok bool) { return f.over(f, runs) }

// Each are the figures of single runs that measured it.
func (f Figure) Each(runs []Sample) []float64 {
	var out []float64
	for _, r := range runs {
		if v, ok := f.of(r); ok {
			out = append(out, v)
		}
	}
	return out
}

// Timed reports whether a figure is of times: a busy host makes it worse.
func (f Figure) Timed() bool { return f.Unit == Time || f.Unit == PerSec }

func stat(name string) func(Sample) (float64, bool) {
	return func(s Sample) (float64, bool) {
		v, ok := s.stat(name)
		return float64(v), ok
	}
}

// overwritten is how many updates of a register were overwritten unseen. Samples of before this was a figure of its own
// called them lost.
func overwritten(register string) func(Sample) (float64, bool) {
	return func(s Sample) (float64, bool) {
		v, ok := s.stat("updates_overwritten_" + register)
		if !ok {
			v, ok = s.stat("updates_lost_" + register)
		}
		return float64(v), ok
	}
}

func perSecond(s Sample) (float64, bool) {
	v, ok := s.stat("grants")
	return float64(v) / max(s.Length.Seconds(), 1e-9), ok && s.Length > 0
}

// Injected is the stat of the faults that were tried; it is in every record of a run with faults.
const injected = "faults_injected"

func exposures(s Sample) (float64, bool) {
	if n, ok := s.stat(injected); ok && n > 0 {
		v, _ := s.stat("faults_effective")
		return float64(v), true
	}
	v, ok := s.stat("grants")
	return float64(v), ok
}

func rate(share func(Sample) (int64, int64, bool), scale float64) func(Sample) (float64, bool) {
	return func(s Sample) (float64, bool) {
		events, chances, ok := share(s)
		return scale * float64(events) / float64(max(chances, 1)), ok
	}
}

func violationShare(s Sample) (events, chances int64, ok bool) {
	events, ok = s.stat("violations")
	chances, has := s.stat("grants")
	return events, chances, ok && has && chances > 0
}

// Violated is a stat that a gate adds: 1 where the run ended with a violation, else 0.
const Violated = "violated"

func failedShare(s Sample) (events, chances int64, ok bool) {
	events, ok = s.stat(Violated)
	return events, 1, ok
}

func lostShare(s Sample) (events, chances int64, ok bool) {
	chances, ok = s.stat("updates_acked")
	plain, hasPlain := s.stat("updates_lost_plain")
	fenced, hasFenced := s.stat("updates_lost_fenced")
	return plain + fenced, chances, ok && chances > 0 && (hasPlain || hasFenced)
}

// lostOf is the share of the acknowledged updates that one of the registers lost.
func lostOf(stat string) func(Sample) (events, chances int64, ok bool) {
	return func(s Sample) (events, chances int64, ok bool) {
		chances, ok = s.stat("updates_acked")
		events, has := s.stat(stat)
		return events, chances, ok && has && chances > 0
	}
}

func sorted(vs []float64) []float64 {
	slices.SortFunc(vs, cmp.Compare)
	return vs
}
