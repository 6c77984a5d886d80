package sim

import (
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// One seed makes one history, down to the last byte.
func TestOneSeedOneHistory(t *testing.T) {
	for seed := range uint64(50) {
		a, b := Run(Draw(seed)).History, Run(Draw(seed)).History
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
		tr := Run(Draw(seed))
		for i := range tr.History.Events {
			e := &tr.History.Events[i]
			seen[e.F+" "+string(e.Type)+" "+e.Error]++
		}
	}
	for _, want := range []string{
		"acquire ok ", "acquire info timeout", "try-acquire fail busy", "acquire fail not-sent", "renew ok ", "renew fail not-held", "renew info timeout",
		"release ok ", "release fail not-held", "release info timeout", "read ok ", "write fail stale-token", "write info timeout",
		"lost info ", "lease info ", "stall info ", "kill info ", "fault ok ", "heal ok ", "point ok ", history.FEnd + " info ",
	} {
		if seen[want] == 0 {
			t.Errorf("no history has %q", want)
		}
	}
	t.Log(seen)
}
