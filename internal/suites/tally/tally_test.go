package tally

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-3*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func of(stats ...checker.Figures) (out []Sample) {
	for _, s := range stats {
		out = append(out, Sample{Stats: s, Length: 10 * time.Second})
	}
	return out
}

func figure(t *testing.T, name string, runs []Sample) Value {
	t.Helper()
	f, ok := Find(name)
	if !ok {
		t.Fatalf("no figure %s", name)
	}
	v, ok := f.Over(runs)
	if !ok {
		t.Fatalf("%s was not measured", name)
	}
	return v
}

// Intervals are those of the textbooks.
func TestIntervals(t *testing.T) {
	low, high := Share(5, 10)
	near(t, "5 of 10, low", low, 0.1871)
	near(t, "5 of 10, high", high, 0.8129)
	low, high = Share(0, 10)
	near(t, "0 of 10, low", low, 0)
	near(t, "0 of 10, high", high, 0.3085)
	low, high = Share(18, 20)
	near(t, "18 of 20, low", low, 0.6830)
	near(t, "18 of 20, high", high, 0.9877)
	_, high = Share(10, 10)
	near(t, "10 of 10, high", high, 1)
	near(t, "none in 100", NoneIn(100), 0.0295)
	near(t, "none in none", NoneIn(0), 1)

	v := figure(t, "violations.rate", of(checker.Figures{"violations": 4, "grants": 500},
		checker.Figures{"violations": 6, "grants": 500}))
	near(t, "10 in 1000", v.Value, 10)
	near(t, "10 in 1000, low", v.Low, 4.795)
	near(t, "10 in 1000, high", v.High, 18.39)
	v = figure(t, "violations.rate", of(checker.Figures{"violations": 0, "grants": 1000}))
	near(t, "0 in 1000, high", v.High, 3.689)
	v = figure(t, "lost-updates.percent", of(checker.Figures{"updates_acked": 10, "updates_lost_plain": 5}))
	near(t, "5 of 10 lost", v.High, 81.29)
}

// Fewer than six runs have no interval of 95 %, and it is not claimed.
func TestMedians(t *testing.T) {
	runs := func(n int) (out []Sample) {
		for i := range n {
			out = append(out, of(checker.Figures{"acquire_p99_ns": int64(i + 1)})...)
		}
		return out
	}
	for n, want := range map[int]Value{
		1: {Value: 1, Low: 1, High: 1, Kind: Range, Runs: 1}, 2: {Value: 1.5, Low: 1, High: 2, Kind: Range, Runs: 2},
		5: {Value: 3, Low: 1, High: 5, Kind: Range, Runs: 5}, 6: {Value: 3.5, Low: 1, High: 6, Kind: Confidence, Runs: 6},
		20: {Value: 10.5, Low: 6, High: 15, Kind: Confidence, Runs: 20},
	} {
		if got := figure(t, "acquire.p99", runs(n)); got != want {
			t.Errorf("%d runs: %+v, want %+v", n, got, want)
		}
	}
}

// The intervals hold the truth as often as they say: a twin by simulation.
func TestIntervalsHoldTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const tries = 2000
	medians, rates := 0, 0
	for range tries {
		var runs []Sample
		for range 12 {
			runs = append(runs, of(checker.Figures{
				"acquire_p50_ns": int64(r.ExpFloat64() * 1e9), "updates_acked": 30,
				"updates_lost_plain": lost(r, 30, 0.1),
			})...)
		}
		if v := figure(t, "acquire.p50", runs); v.Low <= math.Ln2*1e9 && math.Ln2*1e9 <= v.High {
			medians++
		}
		if v := figure(t, "lost-updates.percent", runs); v.Low <= 10 && 10 <= v.High {
			rates++
		}
	}
	for what, n := range map[string]int{"medians": medians, "shares": rates} {
		if share := float64(n) / tries; share < 0.94 {
			t.Errorf("intervals of %s hold the truth in %.3f of the cases", what, share)
		}
	}
}

func lost(r *rand.Rand, n int, p float64) (k int64) {
	for range n {
		if r.Float64() < p {
			k++
		}
	}
	return k
}

// What was not measured is absent, and not 0.
func TestNotMeasured(t *testing.T) {
	for _, f := range Figures() {
		if v, ok := f.Over(nil); ok {
			t.Errorf("%s of no run: %+v", f.Name, v)
		}
		if v, ok := f.Over(of(checker.Figures{})); ok {
			t.Errorf("%s of a run without stats: %+v", f.Name, v)
		}
		if f.Doc == "" || f.Unit == "" {
			t.Errorf("%s is not explained", f.Name)
		}
	}
	v := figure(t, "exposures", of(checker.Figures{"faults_injected": 3, "faults_effective": 2, "grants": 90},
		checker.Figures{"grants": 7}))
	if v.Value != 9 {
		t.Errorf("exposures: %+v, want two faults and seven grants", v)
	}
}

// The exact tests against known values, and against all permutations.
func TestChances(t *testing.T) {
	near(t, "Fisher's own", fisher(1, 10, 11, 14), 0.002759)
	near(t, "Fisher, nothing differs", fisher(3, 10, 3, 10), 1)
	for _, c := range [][4]int{{0, 4, 3, 5}, {2, 6, 5, 6}, {1, 7, 0, 3}, {4, 4, 1, 5}} {
		near(t, "Fisher by counting", fisher(float64(c[0]), float64(c[1]), float64(c[2]), float64(c[3])),
			counted(c[0], c[1], c[2], c[3]))
	}
	near(t, "two counts", twoPoisson(0, 100, 5, 100), 2*math.Pow(0.5, 5))
	near(t, "no counts", twoPoisson(0, 100, 0, 100), 1)

	f, _ := Find("acquire.p99")
	var slow, fast []Sample
	for i := range int64(8) {
		fast = append(fast, of(checker.Figures{"acquire_p99_ns": 10 + i})...)
		slow = append(slow, of(checker.Figures{"acquire_p99_ns": 100 + i})...)
	}
	if p, ok := f.Chance(fast, slow); !ok || p > 0.001 {
		t.Errorf("eight and eight that do not meet: p = %v", p)
	}
	if p, ok := f.Chance(fast, fast); !ok || p < 0.9 {
		t.Errorf("the same: p = %v", p)
	}
	if _, ok := f.Chance(fast, nil); ok {
		t.Error("compared with nothing")
	}
}

// counted is Fisher's test by counting every way to deal the events out.
func counted(a, n, b, m int) float64 {
	k, seen, ways := a+b, 0.0, map[int]float64{}
	for mask := range 1 << (n + m) {
		ones, first := 0, 0
		for i := range n + m {
			if mask>>i&1 == 1 {
				ones++
				if i < n {
					first++
				}
			}
		}
		if ones == k {
			ways[first]++
			seen++
		}
	}
	p := 0.0
	for _, w := range ways {
		if w <= ways[a] {
			p += w / seen
		}
	}
	return p
}

func TestThresholds(t *testing.T) {
	runs := of(checker.Figures{"acquire_p99_ns": 40e6, "recovery_max_ns": 1500e6, "updates_lost_fenced": 0, "violated": 1})
	for text, want := range map[string]bool{
		"acquire.p99 < 50ms": true, "acquire.p99 < 40ms": false, "acquire.p99<=40ms": true, "recovery < 2*ttl": true,
		"recovery < 1.5 ttl": false,
		"recovery <= 1.5ttl": true, "recovery > ttl": true, "lost-updates.fenced == 0": true, "violating.runs < 5%": false,
		"violating.runs >= 100 %": true,
	} {
		th, err := ParseThreshold(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, holds, err := th.Holds(runs, time.Second); err != nil || holds != want {
			t.Errorf("%s: %v (%v)", text, holds, err)
		}
	}
	th, err := ParseThreshold("orphan < 1s")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := th.Holds(runs, time.Second); err == nil {
		t.Error("a figure that nobody has measured holds")
	}
	for text, want := range map[string]string{
		"acquire.p9 < 1s": `did you mean "acquire.p99"?`, "latency < 1s": "choose one of",
		"acquire.p99 50ms": "is not a threshold: write FIGURE < LIMIT", "acquire.p99 < fast": "is a time",
		"violations < 1s": "needs a number", "violations < 5%": "is no share", "": "is not a threshold: write FIGURE",
	} {
		if _, err := ParseThreshold(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
