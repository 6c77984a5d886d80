package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// A safe run passes, leaves its whole directory, and is judged the same from its files.
func TestSafeRun(t *testing.T) {
	t.Parallel()
	out := mustPass(t, shortConfig(t, "redis-fenced"))
	for _, name := range []string{planFile, history.File, ResultsFile, ReportFile, JUnitFile, nodesDir, history.LogDir} {
		if _, err := os.Stat(filepath.Join(out.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	again, err := JudgeFile(plainCatalogue(), filepath.Join(out.Dir, history.File))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range out.Results.Checks {
		if got := again.Results.Checks[name]; got.Verdict != c.Verdict || len(got.Findings) != len(c.Findings) {
			t.Errorf("%s: %s with %d findings, from the file %s with %d", name, c.Verdict, len(c.Findings), got.Verdict, len(got.Findings))
		}
	}
}

// The control: no lock at all fails, and says so in every check that it should.
func TestNoLockFails(t *testing.T) {
	t.Parallel()
	out := mustRun(t, shortConfig(t, "none"))
	for _, name := range []string{"mutual-exclusion", "data-plain", "lock-linearizability"} {
		if out.Results.Checks[name].Verdict != checker.Fail {
			t.Errorf("%s: %s", name, out.Results.Checks[name].Verdict)
		}
	}
	if out.ExitCode() != ExitViolation {
		t.Errorf("exit %d", out.ExitCode())
	}
}

// Two runs in one process do not disturb each other.
func TestTwoRunsAtOnce(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for _, backend := range []string{"redis-lua", "redis-lua"} {
		wg.Go(func() {
			out, err := Run(context.Background(), plainCatalogue(), shortConfig(t, backend), nil)
			for try := 0; err == nil && out.ExitCode() == ExitUnknown && try < 5; try++ { // a busy host
				out, err = Run(context.Background(), plainCatalogue(), shortConfig(t, backend), nil)
			}
			if err != nil || out.ExitCode() != ExitPass {
				t.Errorf("%v, %+v", err, out)
			}
		})
	}
	wg.Wait()
}

// Cancelled in the middle: what was recorded is kept and judged, at best unknown.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	cfg := shortConfig(t, "redis-lua")
	cfg.Time = time.Minute
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, err := Run(ctx, plainCatalogue(), cfg, &Progress{Tick: func(_, _ time.Duration, seen Seen) {
		if seen.Grants > 3 {
			cancel()
		}
	}})
	if late := (*Error)(nil); errors.As(err, &late) && late.Code == ExitInterrupted {
		out, err = judgeLate(cfg.Out) // on a busy host it was not waited for
	}
	if err != nil {
		t.Fatal(err)
	}
	if out.ExitCode() != ExitInterrupted || out.Results.Verdict != checker.Unknown {
		t.Errorf("exit %d, verdict %s", out.ExitCode(), out.Results.Verdict)
	}
	if n := out.Results.Stats["grants"]; n <= 3 {
		t.Errorf("%d grants on record", n)
	}
}

// judgeLate judges what an interrupted run has left.
func judgeLate(dir string) (*RunOutcome, error) {
	j, err := JudgeDir(plainCatalogue(), dir)
	if err != nil {
		return nil, err
	}
	return &RunOutcome{Dir: dir, Results: j.Results, Interrupted: true}, nil
}

// A fault at the point of a client: what the plan says is what the record shows.
func TestTiedPause(t *testing.T) {
	t.Parallel()
	cfg := shortConfig(t, "redis-lua")
	cfg.Time = 6 * time.Second // on a busy host c2 takes its time to hold the lock twice
	cfg.Nemesis = []string{"client-pause:at=before-write,clients=c2,nth=2,every=10s"}
	out := mustRun(t, cfg)
	rec := recordOf(t, cfg.Out)
	if len(rec.Faults) != 1 {
		t.Fatalf("%d faults", len(rec.Faults))
	}
	f := rec.Faults[0]
	if !f.Effective() || !slices.Equal(f.Clients, []string{"c2"}) || f.Point != "before-write" || f.HealEnd == nil ||
		!strings.Contains(f.Proof, "threads stopped") {
		t.Fatalf("fault %+v", f.Fault)
	}
	if length := f.HealEnd.Time - f.Effect.Time; length < int64(cfg.TTL) {
		t.Errorf("lasted %v", time.Duration(length))
	}
	if c := out.Results.Checks["mutual-exclusion"]; c.Verdict != checker.Fail || c.Findings[0].Class != checker.Inherent {
		t.Errorf("mutual-exclusion %s", c.Verdict)
	}
}

// A fault at a message that is on its way: whoever sent it need not say anything, and servers are met as well as clients.
func TestPauseAtAMessage(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"request", "reply"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			cfg := shortConfig(t, "redis-lua")
			cfg.Time = 8 * time.Second // on a busy host c2 takes its time to send three messages
			cfg.Nemesis = []string{"client-pause:at=" + point + ",clients=c2,nth=3,every=10s", "server-pause:for=100ms,at=" + point +
				",nth=2,every=10s"}
			out := mustRun(t, cfg)
			rec := recordOf(t, cfg.Out)
			if len(rec.Faults) != 2 {
				t.Fatalf("%d faults", len(rec.Faults))
			}
			for _, f := range rec.Faults {
				if !f.Effective() || f.Point != point || f.By == "" || f.HealEnd == nil ||
					(f.Fault.Fault == "client-pause") != (slices.Equal(f.Clients, []string{"c2"}) && f.By == "c2") {
					t.Errorf("fault %+v; %s; %d grants", f.Fault, out.Results.Checks[checker.Coverage].Reason, len(rec.Grants))
					for _, g := range rec.Grants {
						t.Log(g.Client, g.From())
					}
				}
			}
			if c := out.Results.Checks[checker.Assumptions]; c.Verdict == checker.Fail {
				t.Errorf("assumptions: %s", c.Reason)
			}
		})
	}
}

// A fault is tied to the request that says a word, or to its answer: the release of a lock is by a script, its acquire is a SET.
func TestPauseAtARequestByName(t *testing.T) {
	t.Parallel()
	for point, word := range map[string]string{"request": "evalsha", "reply": "SET"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			// A client that a busy host pauses late has given its request up by then, and sent it again: three runs are not all late.
			for try := 1; !pausedDuring(t, point, word); try++ {
				if try == 3 {
					t.Errorf("at %s of %s, c2 was paused outside of that call in three runs", point, word)
					break
				}
			}
		})
	}
}

// pausedDuring makes a run, and reports whether c2 was in the call that the pause is tied to when it was paused.
func pausedDuring(t *testing.T, point, word string) bool {
	cfg := shortConfig(t, "redis-lua")
	cfg.Time = 8 * time.Second // see above
	cfg.Nemesis = []string{"client-pause:at=" + point + ",message=" + word + ",clients=c2,every=10s", "server-pause:at=" + point +
		",message=nonsense,for=100ms,every=10s"}
	mustRun(t, cfg)
	rec := recordOf(t, cfg.Out)
	if len(rec.Faults) != 2 {
		t.Fatalf("%d faults", len(rec.Faults))
	}
	during := false
	for _, f := range rec.Faults {
		if f.Fault.Fault != "client-pause" {
			if f.Effective() || !strings.Contains(f.Invoke.Message(), "nonsense") {
				t.Errorf("a message that nobody sends: %+v", f.Invoke)
			}
			continue
		}
		if !f.Effective() {
			t.Fatalf("no pause: %+v", f.Fault)
		}
		during = slices.ContainsFunc(rec.Grants, func(g *history.Grant) bool {
			calls := []*history.Call{g.Acquire}
			if point == "request" {
				calls = g.Releases
			}
			return g.Client == "c2" && slices.ContainsFunc(calls, func(c *history.Call) bool {
				return c != nil && c.Start() < f.Effect.Time && (c.Return == nil || c.Return.Time > f.Effect.Time)
			})
		})
		if !during {
			t.Logf("at %s of %s, c2 was paused outside of that call: %+v", point, word, f.Fault)
		}
	}
	return during
}

// A fault ends with a grant to somebody else, and another one strikes only while it is active.
func TestFaultsTiedToEachOther(t *testing.T) {
	t.Parallel()
	cfg := shortConfig(t, "redis-lua")
	cfg.Time, cfg.TTL = 8*time.Second, time.Second
	cfg.Nemesis = []string{
		"client-pause:at=before-write,clients=c1,for=4ttl,until=granted,every=10s",
		"packet-delay:at=before-write,for=1ttl,every=10s,while=1",
	}
	out := mustRun(t, cfg)
	rec := recordOf(t, cfg.Out)
	if len(rec.Faults) != 2 {
		t.Fatalf("%d faults", len(rec.Faults))
	}
	pause, delay := rec.Faults[0], rec.Faults[1]
	if !pause.Effective() || pause.HealEnd == nil || pause.HealEnd.Time-pause.Effect.Time >= 3*int64(cfg.TTL) {
		t.Fatalf("the pause did not end with a grant: %+v", pause.Fault)
	}
	granted := slices.ContainsFunc(rec.Grants, func(g *history.Grant) bool {
		return g.Granted() && g.Client != "c1" && g.From() > pause.Effect.Time && g.From() <= pause.HealEnd.Time
	})
	if !granted {
		t.Error("nobody was granted the lock while c1 was paused")
	}
	if delay.Effective() && (delay.Effect.Time < pause.Effect.Time || delay.Invoke.Time > pause.HealEnd.Time) {
		t.Errorf("the delay was injected at %v and took effect at %v, the pause lasted from %v to %v", delay.Invoke.Time,
			delay.Effect.Time, pause.Effect.Time, pause.HealEnd.Time)
	}
	if c := out.Results.Checks[checker.Coverage]; strings.Contains(c.Reason, "ended earlier than planned") {
		t.Errorf("coverage: %s", c.Reason)
	}
}

// Wrong usage is found before anything is started, with the exit code for it.
func TestConfigErrors(t *testing.T) {
	tests := map[string]struct {
		change func(*Config)
		want   string
	}{
		"backend":    {func(c *Config) { c.Backend = "redis" }, `unknown backend "redis": choose one of none, file-excl`},
		"topology":   {func(c *Config) { c.Topology = "local" }, "does not run on topology local: choose one of redis-single"},
		"nemesis":    {func(c *Config) { c.Nemesis = []string{"x"} }, `unknown nemesis "x"`},
		"workload":   {func(c *Config) { c.Workload = "counter:hold=x" }, "hold=x is not a length"},
		"try":        {func(c *Config) { c.Workload = "counter:try=2" }, "try=2 is not a number from 0 to 1"},
		"fencing":    {func(c *Config) { c.Fencing = "on" }, "issues no fencing tokens (backends with tokens: redis-fenced, "},
		"no data":    {func(c *Config) { c.Backend, c.Fencing, c.Workload = "redis-fenced", "on", "mutex" }, "has no data"},
		"discipline": {func(c *Config) { c.Discipline = "brave" }, "choose one of told, obey, trusting"},
		"ttl":        {func(c *Config) { c.TTL = time.Millisecond }, "too short"},
		"clients":    {func(c *Config) { c.Clients = 0 }, "choose from 1 to"},
		"no fence": {func(c *Config) { c.Require = []string{"data-fenced"} }, "--require data-fenced: backend redis-lua issues no " +
			"fencing tokens"},
		"require":   {func(c *Config) { c.Require = []string{"beauty"} }, `unknown check "beauty"`},
		"a message": {func(c *Config) { c.Nemesis = []string{"client-stall:at=request"} }, "at=request makes the fault"},
		"no message": {
			func(c *Config) { c.Backend, c.Nemesis = "file-flock", []string{"client-pause:at=reply"} },
			"at=reply: this run has no such point",
		},
		"not active": {
			func(c *Config) { c.Nemesis = []string{"server-restart", "client-pause:while=1"} },
			"while=1: the fault server-restart has no duration",
		},
		"no earlier": {func(c *Config) { c.Nemesis = []string{"client-pause:while=1"} }, "while=1: give the number of an earlier " +
			"fault in the same command"},
		"until": {func(c *Config) { c.Nemesis = []string{"client-pause:until=never"} }, "until=never does not exist: choose " +
			"until=granted, or leave out until="},
		"no server": {
			func(c *Config) { c.Backend, c.Nemesis = "file-flock", []string{"server-restart"} },
			"the fault server-restart cannot work in this run",
		},
		"provider": {func(c *Config) { c.Provider = "cloud" }, "choose one of auto, process, container, embedded, external"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := shortConfig(t, "redis-lua")
			tc.change(&cfg)
			_, err := Run(context.Background(), plainCatalogue(), cfg, nil)
			var he *Error
			if !errors.As(err, &he) || he.Code != ExitUsage || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q with exit code %d", err, tc.want, ExitUsage)
			}
			if _, err := os.Stat(cfg.Out); err == nil {
				t.Error("the directory was made all the same")
			}
		})
	}
}

// A directory that is not empty is never touched; a provider that can work nowhere is wrong
// usage.
func TestWhatIsThereIsKept(t *testing.T) {
	cfg := shortConfig(t, "redis-lua")
	if err := os.MkdirAll(filepath.Join(cfg.Out, "precious"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Run(context.Background(), plainCatalogue(), cfg, nil)
	var he *Error
	if !errors.As(err, &he) || he.Code != ExitUsage || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("error %v", err)
	}
	cfg = shortConfig(t, "redis-lua")
	cfg.Topology, cfg.Provider = "redis-single-aof", "embedded"
	_, err = Run(context.Background(), plainCatalogue(), cfg, nil)
	if !errors.As(err, &he) || he.Code != ExitUsage {
		t.Errorf("error %v", err)
	}
}

// Attempts of unknown outcome in the final sections say nothing about liveness.
func TestUnknownsAreTriedAgain(t *testing.T) {
	t.Parallel()
	mustPass(t, shortConfig(t, "bad-line"))
}

// A server that dies by itself is trouble of the harness, not a violation of the lock.
func TestServerDiesByItself(t *testing.T) {
	t.Parallel()
	cfg := shortConfig(t, "redis-lua")
	var once sync.Once
	out, err := Run(context.Background(), plainCatalogue(), cfg, &Progress{Tick: func(_, _ time.Duration, seen Seen) {
		if seen.Grants > 0 {
			once.Do(func() { shutdown(t, filepath.Join(cfg.Out, nodesDir, "redis-1", "server.log")) })
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if out.Trouble == nil || !strings.Contains(out.Trouble.Error(), "server redis-1 is down") ||
		out.Results.Verdict != checker.Unknown {
		t.Errorf("trouble %v, verdict %s", out.Trouble, out.Results.Verdict)
	}
}

// shutdown ends the Redis server that wrote a log from outside.
func shutdown(t *testing.T, log string) {
	b, err := os.ReadFile(log)
	if err != nil {
		t.Error(err)
		return
	}
	_, rest, _ := strings.Cut(string(b), "port=")
	port, _, _ := strings.Cut(rest, ".")
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := conn.Write([]byte("*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n")); err != nil {
		t.Error(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// A report of a program's own is written beside ours, and again when the run is judged again.
func TestRenderers(t *testing.T) {
	t.Parallel()
	cat := plainCatalogue()
	cat.Renderers = append(cat.Renderers, Renderer{File: "own.txt", Write: func(w io.Writer, r *checker.Results,
		rec *history.Record,
	) error {
		_, err := fmt.Fprintf(w, "%s, %d grants\n", r.Verdict, len(rec.Grants))
		return err
	}})
	out, err := Run(context.Background(), cat, shortConfig(t, "none"), nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(out.Dir, "own.txt")
	first, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(first), "fail, ") {
		t.Fatalf("%q, %v", first, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := JudgeDir(cat, out.Dir); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(first) {
		t.Errorf("%q, %v; was %q", again, err, first)
	}
}
