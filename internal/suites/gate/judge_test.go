package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/suite"
)

// ended are results that end with a class of overlap, or pass.
func ended(class checker.Class) *checker.Results {
	r := &checker.Results{
		Verdict: checker.Pass, Stats: checker.Figures{"grants": 100, "violations": 0},
		Checks: map[string]checker.Result{
			checker.MutualExclusion: {Verdict: checker.Pass, Required: true},
		},
	}
	if class != "" {
		r.Verdict, r.ExitCode = checker.Fail, harness.ExitViolation
		r.Stats["violations"] = 3
		r.Checks[checker.MutualExclusion] = checker.Result{
			Verdict: checker.Fail, Required: true,
			Findings: []checker.Finding{{Rule: "overlap", Class: class, Gating: true}},
		}
	}
	return r
}

func unknown() *checker.Results {
	r := ended("")
	r.Verdict, r.ExitCode = checker.Unknown, harness.ExitUnknown
	r.Checks[checker.Coverage] = checker.Result{Verdict: checker.Unknown, Required: true, Reason: "the fault hit nobody"}
	return r
}

// What a run comes to, beside what was expected of it.
func TestStatusOf(t *testing.T) {
	blocks := ended("")
	blocks.Verdict, blocks.ExitCode = checker.Fail, 1
	blocks.Checks[checker.Liveness] = checker.Result{
		Verdict: checker.Fail, Required: true,
		Findings: []checker.Finding{{Rule: "no-recovery", Gating: true}},
	}
	both := unknown()
	both.Verdict, both.ExitCode = checker.Fail, 1 // a violation, and beside it something unknown
	both.Checks[checker.MutualExclusion] = ended(checker.Defect).Checks[checker.MutualExclusion]
	word := func(w suite.Outcome) suite.Expectation { return suite.Expectation{Outcome: w} }
	mx := func(v checker.Verdict) suite.Expectation {
		return suite.Expectation{Verdicts: map[string]checker.Verdict{checker.MutualExclusion: v}}
	}
	refused := harness.Environment(errors.New("no server"))
	for _, c := range []struct {
		name    string
		expect  suite.Expectation
		results *checker.Results
		err     error
		want    Status
	}{
		{"safe as it should be", word(suite.Safe), ended(""), nil, Expected},
		{"an overlap", word(suite.Safe), ended(checker.Inherent), nil, Violation},
		{"a defect where leases may overlap", word(suite.Inherent), ended(checker.Defect), nil, Violation},
		{"a defect where either may be", word(suite.Mostly), ended(checker.Defect), nil, Violation},
		{"it blocks where it should overlap", word(suite.Inherent), blocks, nil, Violation},
		{"it overlaps where it should block", word(suite.Blocks), ended(checker.Inherent), nil, Violation},
		{"it passes and should not", word(suite.Violated), ended(""), nil, Passed},
		{"inherent and should pass or not", word(suite.Mostly), ended(checker.Inherent), nil, Expected},
		{"any violation will do", word(suite.Violated), ended(checker.Defect), nil, Expected},
		{"not as bad as it should be", word(suite.Defect), ended(checker.Inherent), nil, Missed},
		{"unknown", word(suite.Safe), unknown(), nil, Inconclusive},
		{"unknown, and should fail", word(suite.Violated), unknown(), nil, Inconclusive},
		{"unknown as it should be", suite.Expectation{Exit: []int{2}}, unknown(), nil, Expected},
		{"a violation is not masked by an unknown", word(suite.Safe), both, nil, Violation},
		{"exit code", suite.Expectation{Exit: []int{0}}, ended(checker.Inherent), nil, Violation},
		{"exit code of a pass", suite.Expectation{Exit: []int{1}}, ended(""), nil, Passed},
		{"exit code of an unknown", suite.Expectation{Exit: []int{1}}, unknown(), nil, Inconclusive},
		{"a check fails", mx(checker.Pass), ended(checker.Inherent), nil, Violation},
		{"a check passes", mx(checker.Fail), ended(""), nil, Passed},
		{
			"a check is skipped",
			suite.Expectation{Verdicts: map[string]checker.Verdict{checker.FencingTokens: checker.Pass}},
			ended(""),
			nil, Missed,
		},
		{"a figure", suite.Expectation{Figures: map[string]suite.Bound{"grants": suite.AtMost(3)}}, ended(""), nil, Missed},
		{
			"a worse class",
			suite.Expectation{Classes: map[string]checker.Class{checker.MutualExclusion: checker.Inherent}},
			ended(checker.Defect), nil, Violation,
		},
		{"it did not run", word(suite.Any), nil, refused, Broken},
		{"refused as it should be", suite.Expectation{Exit: []int{4}}, nil, nil, Expected},
	} {
		exit := harness.ExitEnvironment
		if c.results != nil {
			exit = c.results.ExitCode
		}
		if got := statusOf(c.expect, exit, c.results, c.expect.Compare(exit, c.results), c.err); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// On a busy host what should have shown may not have had the time; a violation is one all the same.
func TestABusyHost(t *testing.T) {
	for _, c := range []struct {
		status    Status
		busy      int64 // ns, of a run of ten seconds
		want      Status
		again     bool
		unplanned int64
	}{
		{Passed, 9e9, Inconclusive, true, 0},
		{Missed, 9e9, Inconclusive, true, 0},
		{Violation, 9e9, Violation, false, 0},
		{Expected, 9e9, Expected, false, 0},
		{Inconclusive, 9e9, Inconclusive, true, 0},
		{Passed, 2e9, Passed, false, 1e9},
		{Inconclusive, 2e9, Inconclusive, false, 0},
		{Inconclusive, 2e9, Inconclusive, true, 1e9},
	} {
		r := ended("")
		r.TTL, r.Duration = 1e9, 10e9
		r.Stats["host_busy_ns"], r.Stats["unplanned_stall_max_ns"] = c.busy, c.unplanned
		got := excused(c.status, r)
		if o := (&RunResult{Status: got, Host: byHost(got, r)}); got != c.want || o.Disturbed() != c.again {
			t.Errorf("%+v: %s, once more: %v", c, got, o.Disturbed())
		}
	}
}

// A run whose faults never struck, on a host that was busy, is made again; on an idle one it says something.
func TestNoFaultOnABusyHost(t *testing.T) {
	for _, c := range []struct {
		busy, effective int64
		class           checker.Class
		want            bool
	}{{9e9, 0, "", true}, {9e9, 1, "", false}, {1e9, 0, "", false}, {9e9, 0, checker.Defect, true}} {
		r := ended(c.class)
		r.TTL, r.Duration = 1e9, 10e9
		r.Stats["host_busy_ns"], r.Stats["faults_effective"] = c.busy, c.effective
		if o := (&RunResult{Status: Expected, Unstruck: unstruck(r)}); o.Disturbed() != c.want {
			t.Errorf("%+v: once more: %v", c, o.Disturbed())
		}
	}
}

// A record that the host made unsound is made again; one that nobody should have written is not, however busy
// the host was: it is a bug, and must be seen.
func TestAnUnsoundRecord(t *testing.T) {
	for rule, want := range map[string]bool{checker.RuleDied: true, checker.RuleClockStep: true, "process-after-info": false} {
		r := ended("")
		r.TTL, r.Duration, r.Stats["host_busy_ns"] = 1e9, 10e9, 9e9
		r.Checks[checker.Assumptions] = checker.Result{
			Verdict: checker.Unknown, Required: true, Code: checker.CodeUnsound,
			Findings: []checker.Finding{
				{Rule: rule, CauseKind: checker.CauseRecord},
				{Rule: "used-after-release", CauseKind: checker.CauseNone},
			},
		}
		if got := byHost(Inconclusive, r); got != want {
			t.Errorf("%s: by the host: %v", rule, got)
		}
	}
}

// fake is a suite whose outcomes are made up: by cell and seed.
func fake(cells map[string][]Status) *Suite {
	s := &Suite{Definition: Definition{Schema: Schema, Name: "fake"}}
	for _, name := range sortedKeys(cells) {
		c := plan.Cell{Case: suite.Case{
			Name: name, Text: name, Run: suite.MustLine("--backend redis-lua"),
			Expect: suite.Expectation{Outcome: suite.Safe},
		}, Row: "redis-lua", Column: name}
		c.Control = strings.HasPrefix(name, "control")
		for i, status := range cells[name] {
			seed := uint64(i + 1)
			c.Seeds = append(c.Seeds, seed)
			if status == NotRun {
				continue
			}
			o := RunResult{
				Cell: name, Seed: seed, Status: status, Outcome: suite.Safe,
				Stats: checker.Figures{"grants": 100, "violations": 0},
			}
			if status == Violation {
				o.Exit, o.Outcome = 1, suite.Defect
				o.Checks = map[string]CheckSummary{checker.MutualExclusion: {
					Verdict: checker.Fail, Required: true,
					Certain: []checker.Class{checker.Defect},
				}}
				o.Deviates = []suite.Deviation{{Check: checker.MutualExclusion, Class: checker.Defect}}
			}
			s.Outcomes = append(s.Outcomes, o)
		}
		s.Cells = append(s.Cells, c)
	}
	return s
}

func judged(t *testing.T, s *Suite) *SuiteResults {
	t.Helper()
	return s.Judge(nil)
}

// The exit codes of suites: 1 before 4, 2, 5 and 0, and a control above all.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		cells map[string][]Status
		want  int
	}{
		{map[string][]Status{"a": {Expected}, "b": {Expected, Expected}}, 0},
		{map[string][]Status{"a": {Expected}, "b": {Skipped}}, 0},
		{map[string][]Status{"a": {Expected, Violation}, "b": {Inconclusive}, "c": {Broken}, "d": {Passed}, "e": {Missed}}, 1},
		{map[string][]Status{"b": {Inconclusive}, "c": {Broken}, "d": {Passed}}, 4},
		{map[string][]Status{"b": {Inconclusive}, "d": {Passed}}, 2},
		{map[string][]Status{"b": {NotRun}, "d": {Passed}}, 2},
		{map[string][]Status{"a": {Expected}, "d": {Passed}}, 5},
		{map[string][]Status{"a": {Expected}, "d": {Missed}}, 5},
		{map[string][]Status{"a": {Passed, Expected}}, 0}, // one seed has shown it
		{map[string][]Status{"a": {Missed, Expected}}, 5},
		{map[string][]Status{"a": {Violation}, "control-x": {Passed}}, 4},
		{map[string][]Status{"a": {Expected}, "control-x": {Violation}}, 4},
		{map[string][]Status{"a": {Expected}, "control-x": {Broken}}, 4},
		{map[string][]Status{"a": {Expected}, "control-x": {Inconclusive}}, 2},
		{map[string][]Status{"a": {Violation}, "control-x": {Inconclusive}}, 1},
	} {
		if r := judged(t, fake(c.cells)); r.ExitCode != c.want {
			t.Errorf("%v: exit %d (%s), want %d", c.cells, r.ExitCode, r.Verdict, c.want)
		}
	}
}

// No mixture of other cells masks a violation, and none makes one.
func TestNothingMasksAViolation(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	others := []Status{Broken, Inconclusive, NotRun, Missed, Passed, Expected, Skipped}
	for range 2000 {
		cells := map[string][]Status{}
		bad := rnd.IntN(2) == 0
		for i := range 1 + rnd.IntN(5) {
			var runs []Status
			for range 1 + rnd.IntN(3) {
				runs = append(runs, others[rnd.IntN(len(others))])
			}
			cells[fmt.Sprintf("cell-%d", i)] = runs
		}
		if bad {
			name := sortedKeys(cells)[rnd.IntN(len(cells))]
			cells[name][rnd.IntN(len(cells[name]))] = Violation
		}
		if got := judged(t, fake(cells)).ExitCode; (got == 1) != bad {
			t.Fatalf("%v: exit %d", cells, got)
		}
	}
}

// A baseline makes known what was so before; what is new is not, and what was known and is cured is told.
func TestBaseline(t *testing.T) {
	cells := func(a, b Status) map[string][]Status { return map[string][]Status{"a": {a, a}, "b": {b, b}} }
	for name, c := range map[string]struct {
		before, after map[string][]Status
		want          int
		told          string
	}{
		"nothing changes":      {cells(Expected, Expected), cells(Expected, Expected), 0, ""},
		"as bad as it was":     {cells(Violation, Expected), cells(Violation, Expected), 0, ""},
		"a new violation":      {cells(Violation, Expected), cells(Violation, Violation), 1, "new violation: b"},
		"one vanishes":         {cells(Violation, Expected), cells(Expected, Expected), 5, "violation no longer found: a"},
		"a new one masks none": {cells(Violation, Expected), cells(Expected, Violation), 1, "new violation: b"},
	} {
		before := judged(t, fake(c.before))
		r := judged(t, fake(c.after))
		r.Measure(before.Slim())
		if r.ExitCode != c.want || !strings.Contains(strings.Join(r.Baseline.Lines(), "\n"), c.told) {
			t.Errorf("%s: exit %d, want %d: %v", name, r.ExitCode, c.want, r.Baseline.Lines())
		}
	}
	// A baseline of a baseline keeps what is known.
	first := judged(t, fake(cells(Violation, Expected)))
	second := judged(t, fake(cells(Violation, Expected)))
	second.Measure(first)
	third := judged(t, fake(cells(Violation, Expected)))
	third.Measure(second.Slim())
	if third.ExitCode != 0 || third.Cells[0].Status != Known {
		t.Errorf("known twice: %s, exit %d", third.Cells[0].Status, third.ExitCode)
	}
}

// slower makes the acquires of a suite take longer, with noise from a seed.
func slower(t *testing.T, rnd *rand.Rand, runs int, by float64) *SuiteResults {
	t.Helper()
	s := fake(map[string][]Status{"a": make([]Status, runs), "b": make([]Status, runs), "c": make([]Status, runs)})
	for i := range s.Outcomes {
		o := &s.Outcomes[i]
		o.Status = Expected
		factor := 1.0
		if o.Cell == "b" {
			factor = by
		}
		for _, name := range []string{"acquire_p50_ns", "acquire_p99_ns", "recovery_max_ns"} {
			o.Stats[name] = int64(1e7 * factor * (1 + 0.3*rnd.NormFloat64()))
		}
	}
	return judged(t, s)
}

// Differences of chance are not told, however many figures there are; large ones are, once there are
// enough seeds.
func TestOnlyWhatIsNoChance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	told := 0
	for range 200 {
		if a := Compare(slower(t, rnd, 10, 1), slower(t, rnd, 10, 1)); len(a.Figures) > 0 {
			told++
		}
	}
	if told > 200*5/100+6 {
		t.Errorf("of 200 comparisons of equals %d find a difference", told)
	}
	a := Compare(slower(t, rnd, 10, 1), slower(t, rnd, 10, 3))
	if len(a.Figures) != 3 {
		t.Errorf("three times as slow: %v", a.Lines())
	}
	for _, c := range a.Figures {
		if c.Cell != "b" || !c.Worse {
			t.Errorf("%s", c)
		}
	}
	if a := Compare(slower(t, rnd, 3, 1), slower(t, rnd, 3, 3)); len(a.Figures) > 0 {
		t.Errorf("three seeds cannot tell: %v", a.Lines())
	}
}

// The time that a suite took is that in which anything ran: not the pause before it was gone on with, and
// once what ran side by side.
func TestWall(t *testing.T) {
	t.Parallel()
	at := func(began, took int) RunResult {
		return RunResult{Began: time.Unix(int64(began), 0), Took: time.Duration(took) * time.Second}
	}
	for name, c := range map[string]struct {
		shard string
		runs  []RunResult
		want  time.Duration
	}{
		"none":          {},
		"side by side":  {runs: []RunResult{at(10, 5), at(12, 2), at(11, 8)}, want: 9 * time.Second},
		"a pause":       {runs: []RunResult{at(500, 3), at(10, 5)}, want: 8 * time.Second},
		"shards":        {shard: "1/2 2/2", runs: []RunResult{at(10, 5)}},
		"an old record": {runs: []RunResult{at(10, 5), {Took: time.Second}}},
	} {
		if got := (&Suite{Definition: Definition{Shard: c.shard}, Outcomes: c.runs}).wall(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A status is read under the name that it had in older files.
func TestStatusOfOlderFiles(t *testing.T) {
	t.Parallel()
	var got struct {
		Status Status
		Counts map[Status]int
	}
	if err := json.Unmarshal([]byte(`{"status": "passed", "counts": {"passed": 2, "not run": 1}}`), &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != Passed || got.Counts[Passed] != 2 || got.Counts[NotRun] != 1 {
		t.Errorf("%+v", got)
	}
}
