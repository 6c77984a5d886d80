package sim

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// One seed makes one history, down to the last byte.
func TestOneSeedOneHistory(t *testing.T) {
	for seed := range uint64(50) {
		a, b := Run(DrawVaried(seed)).History, Run(DrawVaried(seed)).History
		if len(a.Events) != len(b.Events) {
			t.Fatalf("seed %d: %d and %d events", seed, len(a.Events), len(b.Events))
		}
		for i := range a.Events {
			x, y := a.Events[i].AppendJSON(nil, true), b.Events[i].AppendJSON(nil, true)
			if string(x) != string(y) {
				t.Fatalf("seed %d: event %d differs:\n%s\n%s", seed, i, x, y)
			}
		}
	}
}

// The simulator reaches what it is there for.
func TestRunsAreWorthJudging(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(400) {
		tr := Run(DrawVaried(seed))
		for i := range tr.History.Events {
			e := &tr.History.Events[i]
			seen[e.F()+" "+string(e.Type())+" "+e.Code()]++
		}
	}
	for _, want := range []string{
		"acquire ok ", "acquire info timeout", "try-acquire fail busy", "acquire fail not-sent", "renew ok ", "renew fail not-held",
		"renew info timeout",
		"release ok ", "release fail not-held", "release info timeout", "read ok ", "write fail stale-token", "write info timeout",
		"lost info ", "lease info ", "stall info ", "kill info ", "fault ok ", "heal ok ", "point ok ", "work ok ",
		"write fail conflict", history.FEnd + " info ",
	} {
		if seen[want] == 0 {
			t.Errorf("no history has %q", want)
		}
	}
	t.Log(seen)
}

// Every variant is drawn, and every service with every model that it can have.
func TestVariantsAreDrawn(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(3000) {
		c := DrawVaried(seed)
		for what, is := range map[string]bool{
			c.Service + " " + c.Model: true, "told": c.Discipline == history.Told, "no log": c.Unlogged, "own fence": c.OwnFence,
			"own fence of a lock":    c.OwnFence && c.Service != Optimistic,
			"workload " + c.Workload: true, "queue": c.Fair, "counted": c.Wires, "feigned": c.Feigned,
		} {
			if is {
				seen[what]++
			}
		}
	}
	want := []string{"told", "no log", "own fence", "own fence of a lock", "queue", "counted", "feigned", Optimistic + " " +
		history.ModelNone}
	for _, s := range append(slices.Clone(Services), Connections) {
		for _, m := range Models {
			want = append(want, s+" "+m)
		}
	}
	for _, w := range []string{Counter, Try, Job, Stock, Cross} {
		want = append(want, "workload "+w)
	}
	for _, w := range want {
		if seen[w] == 0 {
			t.Errorf("%s is never drawn", w)
		}
	}
}
