package harness

import (
	"testing"
	"time"
)

// The moment of a line, in the forms in which the servers write it.
func TestTimeOfLogLine(t *testing.T) {
	started := time.Date(2026, 11, 25, 23, 59, 59, 500_000_000, time.UTC)
	local := started.In(time.Local).Add(1250 * time.Millisecond)
	for line, want := range map[string]time.Duration{
		"25737:C 26 Nov 2026 " + local.Format("15:04:05.000") + " # Redis is starting": 1250 * time.Millisecond,
		local.Format("15:04:05.000") + " [main] INFO org.apache.zookeeper - Reading":   1250 * time.Millisecond,
		`{"level":"warn","ts":"2026-11-26T00:00:01.188Z","msg":"simple token"}`:        1688 * time.Millisecond,
		"2026-11-25 23:59:59.750 UTC [12] LOG:  database system is ready":              250 * time.Millisecond,
		"2026-11-26 " + local.Format("15:04:05") + " 0 [Note] mariadbd: ready":         500 * time.Millisecond,
		"2026-11-25 23:59:58.500 UTC [12] LOG:  before the run":                        -time.Second,
	} {
		got, ok := timeOf(line, started)
		if !ok || time.Duration(got) != want {
			t.Errorf("%s: %v, %v; want %v", line, time.Duration(got), ok, want)
		}
	}
	if _, ok := timeOf("no time at all", started); ok {
		t.Error("a line without a time has one")
	}
}
