package data

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// boundPeriod is the name of the length of a period, as the workload says it.
const boundPeriod = "period"

// jobDone is what a work event says of a job.
type jobDone struct {
	Period *int64 `json:"period"`
}

// once asks whether the job of each period was done once: not twice, and, of the periods between the
// first and the last, not by nobody. A job of unknown outcome may have been done, or not.
func once(in question) checker.Result {
	jobs := in.jobs()
	periods := slices.Sorted(maps.Keys(jobs))
	var findings []checker.Finding
	figures := checker.Figures{"periods": 0, "jobs_twice": 0, "jobs_missed": 0}
	if len(periods) > 0 {
		figures["periods"] = periods[len(periods)-1] - periods[0] + 1
	}
	for i, p := range periods {
		if done := slices.DeleteFunc(slices.Clone(jobs[p]), func(c *history.Call) bool { return c.Outcome() != history.OK }); len(
			done) > 1 {
			figures["jobs_twice"]++
			findings = append(findings, doneTwice(p, done))
		}
		if i > 0 {
			figures["jobs_missed"] += p - periods[i-1] - 1
		}
	}
	r := in.Conclude("count of the jobs that clients did in each period", findings, int(figures["jobs_twice"]))
	r.Figures = figures
	if r.Verdict == checker.Pass {
		r.Reason = fmt.Sprintf("the run had %d periods; periods in which no client did the job: %d", figures["periods"],
			figures["jobs_missed"])
	}
	return r
}

// jobs are the jobs that were done, or may have been, by period.
func (in question) jobs() map[int64][]*history.Call {
	out := map[int64][]*history.Call{}
	for _, c := range in.Calls {
		var job jobDone
		if c.Invoke.F() != history.FWork || c.Outcome() == history.Fail || !c.Invoke.HasJSON() ||
			c.Invoke.Value().Into(&job) != nil || job.Period == nil {
			continue
		}
		out[*job.Period] = append(out[*job.Period], c)
	}
	return out
}

func doneTwice(period int64, done []*history.Call) checker.Finding {
	slices.SortFunc(done, func(a, b *history.Call) int { return cmp.Compare(a.Start(), b.Start()) })
	f := checker.Finding{
		Rule: "done-twice", Class: checker.NoClass, Gating: true, Cause: checker.NoCause.Text,
		CauseKind: checker.CauseNone, From: done[0].Start(), To: done[len(done)-1].End(),
	}
	who := ""
	for i, c := range done {
		f.Events = append(f.Events, c.Invoke.Index)
		f.Grants = append(f.Grants, c.Invoke.Grant())
		if i > 0 {
			who += ", then by "
		}
		who += fmt.Sprintf("%s at %s", c.Invoke.Client(), checker.Seconds(c.Start()))
	}
	f.Message = fmt.Sprintf("the job of period %d was done %d times instead of once: by %s", period, len(done), who)
	return f
}

func hasJobs(in question) (checker.Code, string) {
	return checker.Only(len(in.jobs()) > 0, checker.CodeElsewhere, "this workload has no periodic job: to test one, use "+
		"--workload job")
}

func doesJobs(run history.Run) bool { return run.Bounds[boundPeriod] > 0 }
