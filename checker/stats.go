package checker

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/lockstorm/lockstorm/history"
)

// commonStats fills in the figures that belong to no check.
func commonStats(in *Input) {
	in.Stats["events"] = int64(len(in.Events))
	in.Stats["grants"] = 0
	in.Stats["faults_injected"], in.Stats["faults_effective"] = 0, 0
	waits := hdrhistogram.New(1, int64(3600e9), 3)
	for _, g := range in.Grants {
		if !g.Granted() {
			continue
		}
		in.Stats["grants"]++
		in.Stats.first("ready_ns", g.From())
		waits.RecordValue(max(1, g.From()-g.Acquire.Start())) //nolint:errcheck // an hour is more than any run
	}
	if waits.TotalCount() > 0 {
		in.Stats["acquire_p50_ns"] = waits.ValueAtQuantile(50)
		in.Stats["acquire_p99_ns"] = waits.ValueAtQuantile(99)
	}
	for _, f := range in.Faults {
		if f.Invoke.Type == history.Invoke {
			in.Stats["faults_injected"]++
		}
		if f.Effective() {
			in.Stats["faults_effective"]++
		}
	}
}
