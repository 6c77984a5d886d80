package reports

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// parsed is the record of a history in text form.
func parsed(t *testing.T, text string) *history.Record {
	t.Helper()
	h, err := history.ParseText(strings.NewReader("run ends=lease\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := history.Build(h)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// A fault that hurt nobody says why, as the record does, and names nobody who is not there.
func TestMissedFaults(t *testing.T) {
	rec := parsed(t, `
10ms - nemesis fail fault error=not-sent message=in-time {"id":1,"fault":"client-pause","family":"client","point":"waiting"}
20ms - nemesis invoke fault {"id":2,"fault":"server-kill","family":"server","nodes":["n1"],"point":"acquired","by":"c2"}
21ms - nemesis fail fault error=other message=denied {"id":2,"fault":"server-kill","family":"server","nodes":["n1"],"point":"acquired","by":"c2"}
30ms - nemesis invoke fault {"id":3,"fault":"flap","family":"link","clients":["c1"]}
40ms - nemesis invoke fault {"id":4,"fault":"flap","family":"link","clients":["c1"]}
41ms - nemesis info fault error=other {"id":4,"fault":"flap","family":"link","clients":["c1"]}
50ms - nemesis invoke fault {"id":5,"fault":"flap","family":"link","clients":["c1"],"point":"waiting","by":"c1"}
51ms - nemesis ok fault {"id":5,"fault":"flap","family":"link","clients":["c1"],"point":"waiting","by":"c1","proof":"cut"}
60ms - nemesis fail fault error=not-sent {"id":6,"fault":"flap","family":"link"}
`)
	untold := rec.Faults[0].Invoke.Line()
	untold.Message = "no client reached waiting (nth 1) in time"
	*rec.Faults[0].Invoke = *untold.Event()
	want := []struct{ whom, what string }{
		{"none", "the fault was not injected: no client reached waiting (nth 1) in time"},
		{"n1", "the fault was not injected: denied (just after c2 was granted the lock)"},
		{"c1", "lockstorm began to inject the fault, but the record does not show whether the fault took effect"},
		{"c1", "lockstorm began to inject the fault, but it is unknown whether the fault took effect: other"},
		{"c1", "cut (when c1 began to wait for the lock)"},
		{"none", "the fault was not injected: not-sent"},
	}
	rows := faultRows(&checker.Results{}, rec)
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i, w := range want {
		if rows[i].Whom != w.whom || rows[i].What != w.what || rows[i].Missed != (i != 4) {
			t.Errorf("%+v, want %+v", rows[i], w)
		}
	}
}
