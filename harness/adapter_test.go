package harness

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
)

// The reference in Python is a lock like any other: pauses strike both processes of a client, and it passes.
func TestAdapter(t *testing.T) {
	t.Parallel()
	cfg := shortConfig(t, "exec:cmd=../adapters/python/flock.py")
	cfg.Nemesis, cfg.Time = []string{"client-pause:at=before-write"}, 2*time.Second
	out := mustPass(t, cfg)
	rec := recordOf(t, out.Dir)
	if v := rec.Run.Versions; v["adapter"] != "flock.py 1" || !strings.HasPrefix(v["python"], "3.") {
		t.Errorf("versions %v", v)
	}
	if len(rec.Faults) == 0 || !rec.Faults[0].Effective() || !strings.Contains(rec.Faults[0].Proof, " and 1 more: all ") {
		t.Errorf("faults %+v", rec.Faults)
	}
}

// Clients' programs see each other's processes: a lock that asks whether its holder lives is no defect.
func TestLockThatAsksForProcesses(t *testing.T) {
	t.Parallel()
	mustPass(t, shortConfig(t, "exec:cmd=../adapters/python/pid_lock.py"))
}

// A breach of the protocol is told in its own words, and nothing of the run counts: this lock grants whatever it is asked for,
// and is not found to violate anything.
func TestAdapterBreaks(t *testing.T) {
	t.Parallel()
	for way, want := range map[string]string{
		"noise": "a line that is no message", "dies": "ended by itself: exit status 9",
		"forks": "more than 200 processes",
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			cfg := shortConfig(t, "exec:cmd=testdata/breaks.py")
			cfg.Arguments, cfg.Time = []string{way}, 2*time.Second
			if way == "forks" {
				cfg.Clients = 1 // one is enough to keep a host busy
			}
			out, err := Run(context.Background(), testCatalogue(), cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			f := out.Results.Checks[checker.Assumptions].Findings
			if out.ExitCode() != ExitUnknown || len(f) == 0 || f[0].Rule != checker.RuleBreach || !strings.Contains(f[0].Message, want) {
				t.Errorf("exit %d, %+v", out.ExitCode(), f)
			}
		})
	}
}

// What an adapter has started in sessions of its own, an orphan too, is paused with its client, and ends with it.
func TestAdapterLeavesNothing(t *testing.T) {
	t.Parallel()
	seconds := strconv.Itoa(100000 + os.Getpid())
	cfg := shortConfig(t, "exec:cmd=testdata/breaks.py")
	cfg.Arguments, cfg.Nemesis, cfg.Time = []string{"leaves", seconds}, []string{"client-pause:at=before-write"}, 2*time.Second
	out, err := Run(context.Background(), testCatalogue(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if faults := recordOf(t, out.Dir).Faults; len(faults) == 0 || !faults[0].Effective() ||
		!strings.Contains(faults[0].Proof, " and 3 more: all ") {
		t.Errorf("faults %+v", faults) // the adapter, and two that it has started
	}
	nothingSleeps(t, seconds)
}

// Nothing is left of a run whose controller is killed, although a client was paused: no grandchild that has called setsid, and
// no orphan.
func TestAdapterOfAKilledController(t *testing.T) {
	t.Parallel()
	seconds, logs := strconv.Itoa(200000+os.Getpid()), filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envVictim+"="+seconds, envVictimOut+"="+logs)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "paused (SIGSTOP") {
	}
	if lines.Err() != nil || len(sleeping(t, seconds)) == 0 {
		t.Errorf("%v; no client was paused, or nothing sleeps: %q", lines.Err(), lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	cmd.Wait() //nolint:errcheck // it was killed
	nothingSleeps(t, seconds)
}

const (
	envVictim    = "HARNESS_TEST_VICTIM"
	envVictimOut = "HARNESS_TEST_VICTIM_OUT"
)

// victimMain turns this process into a controller that is to be killed, and says what it does.
func victimMain() {
	seconds := os.Getenv(envVictim)
	if seconds == "" {
		return
	}
	cfg := Defaults()
	cfg.Backend, cfg.Arguments, cfg.Out, cfg.Seed = "exec:cmd=testdata/breaks.py", []string{"leaves", seconds},
		os.Getenv(envVictimOut), 11
	cfg.Nemesis, cfg.Clients, cfg.Time = []string{"client-pause:at=before-write,for=1m"}, 3, 3*time.Minute
	_, err := Run(context.Background(), testCatalogue(), cfg, &Progress{Note: func(text string) { fmt.Println(text) }})
	fmt.Println(err)
	os.Exit(1)
}

// nothingSleeps fails the test where a process that was to sleep so long is left after 5 s.
func nothingSleeps(t *testing.T, seconds string) {
	t.Helper()
	for until := time.Now().Add(5 * time.Second); ; {
		left := sleeping(t, seconds)
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("left: %v", left)
		}
		<-time.After(10 * time.Millisecond) // the kernel ends them
	}
}

// sleeping are the processes that were to sleep so long.
func sleeping(t *testing.T, seconds string) (all []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), "sleep\x00"+seconds) {
			all = append(all, path)
		}
	}
	return all
}

func TestArgumentsAreRefused(t *testing.T) {
	cfg := shortConfig(t, "none")
	cfg.Arguments = []string{"word"}
	if _, err := Resolve(testCatalogue(), cfg); err == nil ||
		!strings.Contains(err.Error(), `takes no arguments, and "word" is not a flag`) {
		t.Errorf("%v", err)
	}
	line := "--backend exec:cmd=x --time 2s -- a --b"
	got, err := ParseLine(line)
	if err != nil || got.Line() != line || len(got.Arguments) != 2 {
		t.Errorf("%v, %q", err, got.Line())
	}
	if _, err := ParseLine("--backend none word"); err == nil || !strings.Contains(err.Error(), `"word" is not a flag`) {
		t.Errorf("%v", err)
	}
}
