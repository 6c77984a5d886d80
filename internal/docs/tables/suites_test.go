package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/docs/measured"
	"github.com/lockstorm/lockstorm/internal/suites/answer"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/suite"
)

// Matrix puts the cells of the suite full into the data of docs/matrix.md.
func Matrix(t *measured.Table, cat *harness.Catalogue, r *gate.SuiteResults) {
	about(t, r)
	t.Rows = nil
	for _, j := range r.Cells {
		if j.Control {
			continue
		}
		lock, topology, _ := strings.Cut(j.Row, " on ")
		row := measured.Row{
			"store": storeOf(cat, lock), "lock": lock, "topology": topology, "fault": j.Column, "expected": string(j.Expected.Outcome),
			"as_expected_runs": strconv.Itoa(j.AsIt), "status": string(j.Status), "exposures": fmt.Sprint(j.Exposures),
			"command":    j.Command,
			"lost_count": lostCount(r),
		}
		outcomes(row, j.Runs, j.Of)
		if j.NoneIn > 0 {
			row["no_violation_below_percent"] = number(100*j.NoneIn, 1)
		}
		put(row, "violations_per_1000_grants", 1, value(j, "violations.rate"))
		put(row, "lost_percent", 1, value(j, "lost-updates.percent"))
		put(row, "recovery_median_ms", 1e6, value(j, "recovery.median"))
		put(row, "notice_max_ms", 1e6, value(j, "loss-notice"))
		t.Rows = append(t.Rows, row)
	}
}

// Defaults puts the locks with known flaws into the data of docs/defaults.md.
func Defaults(t *measured.Table, _ *harness.Catalogue, r *gate.SuiteResults) {
	about(t, r)
	t.About["seeds"], t.Rows = "column seeds", nil
	for _, j := range r.Cells {
		if j.Control || len(j.Runs) == 0 {
			continue
		}
		t.Rows = append(t.Rows, measured.Row{
			"lock": j.Row, "flaw": j.Text, "fault": j.Column, "seeds": fmt.Sprintf("%d to %d", j.Runs[0].Seed, j.Runs[len(j.Runs)-1].Seed),
			"as_expected_runs": strconv.Itoa(j.AsIt), "runs": strconv.Itoa(j.Of), "command": j.Command,
		})
	}
}

// about says what made the data.
func about(t *measured.Table, r *gate.SuiteResults) {
	seeds := 0
	for _, j := range r.Cells {
		seeds = max(seeds, j.Of)
	}
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		if name != "lockstorm" {
			versions = append(versions, name+" "+strings.TrimPrefix(r.Versions[name], name+" "))
		}
	}
	delete(t.About, "outcomes") // they are exact
	maps.Copy(t.About, measured.Row{
		"date": r.Started.UTC().Format(time.DateOnly), "machine": fmt.Sprintf("%d CPUs", r.CPUs),
		"seeds": strings.TrimSuffix(fmt.Sprintf("1 to %d", seeds), " to 1"), "suite": r.Verdict,
		"versions": strings.Join(versions, "; "),
	})
}

// outcomes counts the runs of a row by how they ended.
func outcomes(row measured.Row, runs []gate.RunResult, of int) {
	n, known := map[suite.Outcome]int{}, 0
	for _, o := range runs {
		if o.Outcome != "" && o.Status != gate.Inconclusive {
			n[o.Outcome]++
			known++
		}
	}
	row["runs"], row["unknown_runs"] = strconv.Itoa(of), strconv.Itoa(of-known)
	for _, w := range []suite.Outcome{suite.Safe, suite.Inherent, suite.Blocks, suite.Defect} {
		row[string(w)+"_runs"] = strconv.Itoa(n[w])
	}
}

func value(j gate.CellResult, figure string) *tally.Value {
	if v, ok := j.Figures[figure]; ok {
		return &v
	}
	return nil
}

// put puts a figure into its column, and the ends of its interval into those of _low and _high.
func put(row measured.Row, column string, unit float64, v *tally.Value) {
	if v != nil {
		row[column], row[column+"_low"], row[column+"_high"] = number(v.Value, unit), number(v.Low, unit), number(v.High, unit)
	}
}

// number has four digits that count.
func number(v, unit float64) string {
	f, err := strconv.ParseFloat(strconv.FormatFloat(v/unit, 'g', 4, 64), 64)
	if err != nil {
		panic(err) // it was a number
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// lostCount says which count of lost updates the runs of a suite used.
func lostCount(r *gate.SuiteResults) string {
	for _, j := range r.Cells {
		for _, s := range j.Samples() {
			if countsUnseen(s.Stats) {
				return "overwritten unseen"
			}
		}
	}
	return "lost for good"
}

// countsUnseen reports whether figures are of before 2026-11-28, when an update that was overwritten unseen was said to be lost.
func countsUnseen(figures map[string]int64) bool {
	for _, register := range []string{facts.RegPlain, facts.RegFenced} {
		_, lost := figures["updates_lost_"+register]
		if _, unseen := figures["updates_overwritten_"+register]; lost && !unseen {
			return true
		}
	}
	return false
}

// The sections of docs/choosing.md, in the order in which a user should take their locks.
var advices = []string{"Take it as it is", "Take it with a fence", "Only to avoid doubled work", "Defects", "One host only"}

// Choosing puts a comparison into the data of docs/choosing.md: for each lock a row for each fault, and one for all of them.
func Choosing(t *measured.Table, cat *harness.Catalogue, r *gate.SuiteResults) {
	about(t, r)
	t.Rows = nil
	var locks []measured.Rows
	for _, l := range r.Answer.Locks {
		all := figuresOf(l)
		all["lost_count"] = lostCount(r)
		var rows measured.Rows
		var runs []gate.RunResult
		for _, j := range r.Cells {
			if j.Row == l.Name && !j.Control {
				row := measured.Row{"lock": l.Name, "fault": j.Column}
				outcomes(row, j.Runs, len(j.Runs))
				rows, runs = append(rows, row), append(runs, j.Runs...)
			}
		}
		outcomes(all, runs, len(runs))
		rows = append(rows, all)
		backend, _, _ := strings.Cut(l.Name, " on ")
		for _, row := range rows {
			row["advice"] = advice(all, storeOf(cat, backend) == "Files")
		}
		locks = append(locks, rows)
	}
	slices.SortStableFunc(locks, func(a, b measured.Rows) int {
		x, y := a[len(a)-1], b[len(b)-1]
		figure := func(name string) int {
			v, _ := strconv.ParseFloat(x[name], 64)
			w, _ := strconv.ParseFloat(y[name], 64)
			return cmp.Compare(v, w)
		}
		return cmp.Or(
			cmp.Compare(slices.Index(advices, x["advice"]), slices.Index(advices, y["advice"])),
			figure("lost_plain_percent"), figure("acquire_p50_without_faults_ms"),
		)
	})
	for _, rows := range locks {
		t.Rows = append(t.Rows, rows...)
	}
}

// advice is what a user should do with a lock.
func advice(all measured.Row, oneHost bool) string {
	switch {
	case oneHost:
		return advices[4]
	case all["defect_runs"] != "0" || all["blocks_runs"] != "0":
		return advices[3]
	case all["inherent_runs"] == "0":
		return advices[0]
	case all["lost_fenced_percent"] != "":
		return advices[1]
	}
	return advices[2]
}

// figuresOf are the figures of a lock over all its runs.
func figuresOf(l answer.Lock) measured.Row {
	row := measured.Row{
		"lock": l.Name, "fault": "all", "group": strconv.Itoa(l.Group),
		"blocked_forever_runs": strconv.Itoa(l.Blocked),
	}
	put(row, "violating_runs_percent", 1, l.Rate)
	put(row, "lost_plain_updates", 1, l.Plain)
	put(row, "lost_plain_percent", 1, l.PlainShare)
	put(row, "lost_fenced_updates", 1, l.Fenced)
	put(row, "lost_fenced_percent", 1, l.FencedShare)
	put(row, "fence_refused_requests", 1, l.Refused)
	put(row, "blocked_max_ms", 1e6, l.Orphan)
	put(row, "recovery_median_ms", 1e6, l.Recovery)
	for name, s := range map[string]answer.Speed{"without_faults": l.Idle, "with_faults": l.Hurt} {
		put(row, "acquire_p50_"+name+"_ms", 1e6, s.P50)
		put(row, "acquire_p99_"+name+"_ms", 1e6, s.P99)
		put(row, "grants_per_s_"+name, 1, s.Throughput)
	}
	return row
}
