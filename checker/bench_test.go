package checker_test

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
)

// longHistory is a safe history of about n events: 100 locks, sections of acquire, read,
// write and release, the register's own events among them.
func longHistory(n int) *history.History { return sectionsOf(n, 1) }

// sectionsOf is the same with so many updates a section.
func sectionsOf(n, updates int) *history.History {
	const locks, perSection = 100, 10
	l := &benchLog{}
	l.notice(history.PartyController, history.FRun, history.Run{
		Schema: 1, Ends: history.EndsLease, Tokens: true, Resource: true, TTL: 1e9, Tolerance: 5e6, Discipline: history.Obey,
		Fencing: history.FencingOn, Registers: map[string]int64{facts.RegFenced: 0}, LivenessBound: 3e9, Workload: "counter",
	})
	values := make([]int64, locks)
	for s := 0; len(l.lines) < n; s++ {
		lock := s % locks
		client := fmt.Sprintf("c%d", lock+1)
		grant := fmt.Sprintf("%s-%d", client, s)
		op := func(typ history.Type, f string) history.Line {
			return history.Line{
				Process: history.Process{N: int64(lock + 1)}, Client: client, Type: typ, F: f, Lock: client, Grant: grant,
				Token: history.Some(int64(s + 1)),
			}
		}
		l.add(client, op(history.Invoke, history.FAcquire))
		e := op(history.OK, history.FAcquire)
		e.Sent, e.TTL, e.Deadline, e.Lease = history.Some(l.now-100), history.Some(1e9), history.Some(l.now-100+1e9), grant
		l.add(client, e)
		for k := range 2 * updates {
			f := []string{history.FRead, history.FWrite}[k%2]
			v := history.Value{Base: history.Some(values[lock])}
			if f == history.FWrite {
				v.New = history.Some(values[lock] + 1)
				values[lock]++
			}
			inv, reg, ret := op(history.Invoke, f), op(history.OK, f), op(history.OK, f)
			inv.Register, reg.Register, ret.Register = facts.RegFenced, facts.RegFenced, facts.RegFenced
			reg.Process = history.Process{Name: "register"}
			reg.Value, ret.Value = v, v
			if f == history.FWrite {
				inv.Value = v
			}
			l.add(client, inv)
			l.add("register", reg)
			l.add(client, ret)
		}
		l.add(client, op(history.Invoke, history.FRelease))
		l.add(client, op(history.OK, history.FRelease))
	}
	return l.end()
}

// The time of judging a history of two sections against the same number of events in short ones. The aim: 2.
func BenchmarkLongSection(b *testing.B) {
	const events = 600_000
	took := func(updates int) time.Duration {
		in, err := checker.NewInput(sectionsOf(events, updates))
		if err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		if r := checker.Judge(in, checks.Default()); r.Verdict == checker.Fail {
			b.Fatal(r.Verdict)
		}
		return time.Since(begun)
	}
	var long, short time.Duration
	for b.Loop() {
		long, short = long+took(events/12), short+took(1)
	}
	b.ReportMetric(float64(long)/float64(short), "times")
	b.ReportMetric(0, "ns/op")
}

// The time of judging a lease with many short renewals on a host that was often busy and stood still, against the same on a quiet
// host: each renewal asks whether the host kept it back. The aim: 50, for 20,000 renewals.
func BenchmarkShortRenewals(b *testing.B) {
	const renewals = 20_000
	took := func(host bool) time.Duration {
		var text strings.Builder
		text.WriteString("run ends=lease renews=true\n0ms 1 c1 invoke acquire lock=L grant=a\n" +
			"2ms 1 c1 ok acquire lock=L grant=a lease=a sent=1ms ttl=1s deadline=1001ms\n")
		for i := 1; i <= renewals; i++ {
			at := 10 * i
			fmt.Fprintf(&text, "%dms 3 c1 invoke renew grant=a lease=a\n"+
				"%dms 3 c1 ok renew grant=a lease=a sent=%dms ttl=700ms deadline=%dms\n", at, at+1, at, at+700)
			if host && i%7 == 0 {
				fmt.Fprintf(&text, "%dms - controller info pressure {\"span_ns\":70000000,\"cpu_ns\":1000000,\"io_ns\":0}\n"+
					"%dms - c1 info stall {\"late_ns\":6000000}\n", at+2, at+9)
			}
		}
		in := checkertest.InputOf(b, text.String()+"end\n")
		begun := time.Now()
		if r := ask(b, checker.MutualExclusion, in); len(r.Findings) != 1 {
			b.Fatal(checkertest.Answer(r))
		}
		return time.Since(begun)
	}
	var busy, quiet time.Duration
	for b.Loop() {
		busy, quiet = busy+took(true), quiet+took(false)
	}
	b.ReportMetric(float64(busy)/float64(quiet), "times")
	b.ReportMetric(0, "ns/op")
}

// sweeps are the checks that are one pass each: all but those that ask Porcupine.
var sweeps = []string{
	checker.Assumptions, checker.Coverage, checker.MutualExclusion, checker.FencingTokens, checker.LossNotice, checker.Ownership,
	checker.Liveness,
}

// The sweeps judge a million events. The aim: under a second beside the decoding, in
// memory linear in the length; the metrics show both lengths.
func BenchmarkSweeps(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := longHistory(n)
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				in, err := checker.NewInput(h)
				if err != nil {
					b.Fatal(err)
				}
				for _, name := range sweeps {
					if r := ask(b, name, in); r.Verdict == checker.Fail {
						b.Fatal(checkertest.Answer(r))
					}
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/float64(n), "B/event")
		})
	}
}

// The same with everything.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchJudge(b, longHistory(n)) })
	}
}

// One lock that clients wait for all the time, so that nothing is ever quiet; the aim: with 5 %
// of unknown outcome within twice the time.
func BenchmarkOneLock(b *testing.B) {
	for _, unknown := range []int{0, 5} {
		b.Run(fmt.Sprintf("unknown=%d%%", unknown), func(b *testing.B) { benchJudge(b, oneLock(100_000, unknown)) })
	}
}

// spent is the processor time of this process, in ns: what a busy host does not change.
func spent(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

// benchJudge measures Judge with all checks, and the making of its input. None may be unknown.
func benchJudge(b *testing.B, h *history.History) {
	runtime.GC()
	start := spent(b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		in, err := checker.NewInput(h)
		if err != nil {
			b.Fatal(err)
		}
		r := checker.Judge(in, checks.Default())
		for _, check := range []string{
			checker.Assumptions, checker.MutualExclusion, checker.LockLinearizability, checker.DataFenced,
			checker.FencingTokens, checker.Ownership,
		} {
			if c := r.Checks[check]; c.Verdict != checker.Pass || (c.Reason != "" && check != checker.Liveness) {
				b.Fatal(check, checkertest.Answer(c))
			}
		}
	}
	runtime.ReadMemStats(&after)
	n := float64(b.N) * float64(len(h.Events))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/event")
	b.ReportMetric((spent(b)-start)/n, "cpu-ns/event")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/event")
}
