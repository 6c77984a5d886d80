//go:build series

package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// TestJudgeMutants draws JUDGE_MUTANTS (60) mutants that compile, by JUDGE_SEED (1), JUDGE_PARALLEL (as many as
// there are cores) at a time. Each must be caught or stand in equivalent.txt; what stands there must not be
// caught. JUDGE_ONLY narrows it to the mutants whose name contains it, JUDGE_SINCE to lines newer than that commit.
func TestJudgeMutants(t *testing.T) {
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	all := listed(t, root)
	equivalent := entries(t, all)
	parallel := setting.Number(t, "JUDGE_PARALLEL", runtime.NumCPU())
	judge := Judge{Root: root, Histories: setting.Number(t, "JUDGE_HISTORIES", 3000), Cores: max(1, runtime.NumCPU()/parallel)}
	before, err := judge.Stamp()
	if err != nil {
		t.Fatal(err)
	}
	asItIs, err := judge.Try(t.Context(), nil)
	if err != nil || asItIs.Stage != "" {
		t.Fatalf("the judge as it is: %s: %s %v", asItIs.Stage, asItIs.By, err)
	}
	fmt.Printf("the judge as it is passes, in %v\n", asItIs.Took.Round(time.Second))

	if commit := os.Getenv("JUDGE_SINCE"); commit != "" {
		if all, err = Since(t.Context(), root, commit, all); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%d of them are on lines newer than %s\n", len(all), commit)
	}
	want, seed := setting.Number(t, "JUDGE_MUTANTS", 60), setting.Number(t, "JUDGE_SEED", 1)
	drawn := slices.DeleteFunc(Draw(all, uint64(seed)),
		func(m Mutant) bool { return !strings.Contains(m.Key(), os.Getenv("JUDGE_ONLY")) })
	results, voids := tried(t, judge, drawn, want, parallel)
	if after, err := judge.Stamp(); err != nil || after != before {
		t.Fatalf("sources were changed meanwhile (%v): what was caught may have been caught by that", err)
	}
	if len(results) == 0 {
		t.Fatal("no mutant was tried")
	}
	table(results, voids)
	for _, r := range results {
		_, isListed := equivalent[r.Mutant.Key()]
		switch {
		case r.Stage == "" && !isListed:
			t.Errorf("%s:%d: survived, and is not listed as equivalent:\n%s", r.Mutant.File, r.Mutant.Line, r.Mutant.Key())
		case r.Stage != "" && isListed:
			t.Errorf("%s:%d: listed as equivalent, and caught by %s:\n%s", r.Mutant.File, r.Mutant.Line, r.By, r.Mutant.Key())
		}
	}
}

// listed is what gremlins lists, by file.
func listed(t *testing.T, root string) []Mutant {
	t.Helper()
	places, err := List(t.Context(), root, Scopes())
	if err != nil {
		t.Fatal(err)
	}
	all, err := Locate(root, places)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 1000 {
		t.Fatalf("gremlins lists %d mutants only", len(all))
	}
	fmt.Printf("gremlins lists %d places, %d mutants\n", len(places), len(all))
	return all
}

// entries are those that are listed as equivalent. One that is no mutant any more must go.
func entries(t *testing.T, all []Mutant) map[string]string {
	t.Helper()
	list, err := ReadEntries("equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	keys, out := map[string]bool{}, map[string]string{}
	for i := range all {
		keys[all[i].Key()] = true
	}
	for _, e := range list {
		if !keys[e.Key] {
			t.Errorf("equivalent.txt lists what is no mutant of this code:\n%s", e.Key)
		}
		out[e.Key] = e.Why
	}
	return out
}

// tried tries mutants in the order drawn until want of them compiled.
func tried(t *testing.T, judge Judge, drawn []Mutant, want, parallel int) (results []Result, voids int) {
	t.Helper()
	for len(results) < want && len(drawn) > 0 {
		next := min(want-len(results), len(drawn))
		for _, r := range batch(t, judge, drawn[:next], parallel) {
			if r.Void {
				voids++
			} else {
				results = append(results, r)
			}
		}
		drawn = drawn[next:]
	}
	return results, voids
}

func batch(t *testing.T, judge Judge, ms []Mutant, parallel int) []Result {
	t.Helper()
	out, errs := make([]Result, len(ms)), make([]error, len(ms))
	var wg sync.WaitGroup
	next := make(chan int)
	for range parallel {
		wg.Go(func() {
			for i := range next {
				out[i], errs[i] = judge.Try(t.Context(), &ms[i])
				fmt.Println(line(out[i]))
			}
		})
	}
	for i := range ms {
		next <- i
	}
	close(next)
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("%s: %v", ms[i].Key(), err)
		}
	}
	return out
}

func line(r Result) string {
	what := "survived"
	switch {
	case r.Void:
		what = "does not compile"
	case r.Stage != "":
		what = fmt.Sprintf("caught by %s: %s", r.Stage, r.By)
	}
	return fmt.Sprintf("%s:%d %s, %.0f s: %s\n    - %s\n    + %s", r.Mutant.File, r.Mutant.Line, r.Mutant.Kind, r.Took.Seconds(),
		what, r.Mutant.Was, r.Mutant.Is)
}

// table says how many of which kind there were, and what caught them.
func table(results []Result, voids int) {
	columns := []string{}
	for _, s := range Stages() {
		columns = append(columns, s.Name)
	}
	columns = append(columns, "survived")
	count := map[string]map[string]int{}
	timeouts := 0
	for _, r := range results {
		stage := r.Stage
		if stage == "" {
			stage = "survived"
		}
		if r.Timeout {
			timeouts++
		}
		for _, row := range []string{r.Mutant.Kind, "~all"} { // after the kinds
			if count[row] == nil {
				count[row] = map[string]int{}
			}
			count[row][stage]++
			count[row]["mutants"]++
		}
	}
	kinds := []string{}
	for k := range count {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nkind\tmutants\t%s\n", strings.Join(columns, "\t"))
	for _, k := range kinds {
		fmt.Fprintf(w, "%s\t%d", strings.TrimPrefix(k, "~"), count[k]["mutants"])
		for _, c := range columns {
			fmt.Fprintf(w, "\t%d", count[k][c])
		}
		fmt.Fprintln(w)
	}
	w.Flush() //nolint:errcheck // like the lines above
	fmt.Printf("\n%d mutants: %d caught (%d of them since they ran out of time), %d survived; %d more did not compile\n",
		len(results), len(results)-count["~all"]["survived"], timeouts, count["~all"]["survived"], voids)
}
