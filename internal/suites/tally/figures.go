// Package tally says what the runs of a cell come to: figures over seeds, each with an interval, whether
// thresholds hold, what the cell is called in one word, and what differs between two suites beyond
// chance. It is arithmetic on stored results: nothing here runs anything.
package tally

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/lists"
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

	of    reading
	over  summary
	share sharing // of figures that are rates
}

type (
	// reading is the figure of one run; ok is false where it was not measured.
	reading = func(Sample) (v float64, ok bool)
	// summary makes one figure of those of the runs.
	summary = func(f Figure, runs []Sample) (Value, bool)
	// sharing are the events and the chances of a run.
	sharing = func(Sample) (events, chances int64, ok bool)
)

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

// registers of the data: one is written without a fence, the other one with it.
var registers = []struct{ name, fence string }{{"plain", "without a fence"}, {"fenced", "with a fence"}}

// Figures are all that there are, in the order of reports.
func Figures() (all []Figure) {
	add := func(name, doc string, unit Unit, of reading, over summary) *Figure {
		all = append(all, Figure{Name: name, Doc: doc, Unit: unit, of: of, over: over})
		return &all[len(all)-1]
	}
	rated := func(name, doc string, unit Unit, scale float64, share sharing, over summary) {
		add(name, doc, unit, rate(share, scale), over).share = share
	}
	add("grants", "grants in all runs", Count, stat("grants"), sum).More = true
	add("throughput", "grants per second (median of the runs)", PerSec, perSecond, median).More = true
	add("exposures", "faults that took effect (without faults: grants)", Count, exposures, sum).More = true
	add("violations", "how often two clients held the lock at once, in all runs", Count, stat("violations"), sum)
	rated("violations.rate", "how often two clients held the lock at once, per thousand grants", PerMille, 1000, violationShare,
		poisson)
	rated("violating.runs", "share of the runs with a violation", Percent, 100, failedShare, binomial)
	add("overlap", "longest time with two holders at once", Time, stat("overlap_max_ns"), most)
	add("first-violation", "time until the first violation (median of the runs that have one)", Time, stat("first_violation_ns"),
		median).More = true
	add("updates", "acknowledged updates in all runs", Count, stat("updates_acked"), sum).More = true
	for _, r := range registers {
		add("lost-updates."+r.name, "acknowledged updates lost for good, "+r.fence, Count, stat("updates_lost_"+r.name), sum)
	}
	for _, r := range registers {
		add("overwritten-updates."+r.name, "acknowledged updates overwritten unseen, "+r.fence, Count, overwritten(r.name), sum)
	}
	for _, r := range registers {
		add("brought-back-updates."+r.name, "overwritten updates that later writes brought back, "+r.fence, Count,
			stat("updates_brought_back_"+r.name), sum)
	}
	for _, r := range registers {
		rated("lost-updates."+r.name+".percent", "share of acknowledged updates lost for good, "+r.fence, Percent, 100,
			lostOf("updates_lost_"+r.name), binomial)
	}
	rated("lost-updates.percent", "share of acknowledged updates lost for good", Percent, 100, lostShare, binomial)
	add("fence.refused", "requests that the fence refused", Count, stat("fence_refused"), sum).More = true
	add("loss-notice", "longest time in which a previous holder could not know of its loss", Time,
		stat("loss_notice_late_max_ns"), most)
	add("recovery", "longest time from a fault's end (fail-over: its beginning) until each lock was granted again", Time,
		stat("recovery_max_ns"), most)
	add("recovery.median", "median over the runs of each run's longest recovery", Time, stat("recovery_max_ns"), median)
	add("orphan", "longest time in which nobody held a lock or could get it", Time, stat("orphan_max_ns"), most)
	add("acquire.p50", "time to acquire, 50th percentile (median of the runs)", Time, stat("acquire_p50_ns"), median)
	add("acquire.p99", "time to acquire, 99th percentile (median of the runs)", Time, stat("acquire_p99_ns"), median)
	add("renew.p99", "time to extend the lease, 99th percentile (median of the runs)", Time, stat("renew_p99_ns"), median)
	return all
}

// Find is the figure of a name.
func Find(name string) (Figure, bool) {
	return lists.Find(Figures(), func(f Figure) bool { return f.Name == name })
}

// Names are those of all figures.
func Names() []string {
	return lists.Map(Figures(), func(f Figure) string { return f.Name })
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

func stat(name string) reading {
	return func(s Sample) (float64, bool) {
		v, ok := s.stat(name)
		return float64(v), ok
	}
}

// overwritten is how many updates of a register were overwritten unseen. Samples of before this was a figure of its own
// called them lost.
func overwritten(register string) reading {
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

func rate(share sharing, scale float64) reading {
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
func lostOf(stat string) sharing {
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
