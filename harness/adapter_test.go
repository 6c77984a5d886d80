package harness

import (
	"context"
	"os"
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

// A breach of the protocol is told in its own words, and nothing of the run counts: this lock grants whatever it is asked for, and
// is not found to violate anything.
func TestAdapterBreaks(t *testing.T) {
	t.Parallel()
	for way, want := range map[string]string{"noise": "is not a JSON message", "dies": "ended by itself: exit status 9", "forks": "the limit is 200"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			cfg := shortConfig(t, "exec:cmd=testdata/breaks.py")
			cfg.Arguments, cfg.Time = []string{way}, 2*time.Second
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

// What an adapter has started in a session of its own ends with its client.
func TestAdapterLeavesNothing(t *testing.T) {
	t.Parallel()
	seconds := strconv.Itoa(100000 + os.Getpid())
	cfg := shortConfig(t, "exec:cmd=testdata/breaks.py")
	cfg.Arguments = []string{"leaves", seconds}
	if _, err := Run(context.Background(), testCatalogue(), cfg, nil); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(5 * time.Second); ; {
		var left []string
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range lines {
			if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), "sleep\x00"+seconds) {
				left = append(left, path)
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("left: %v", left)
		}
		<-time.After(10 * time.Millisecond) // the kernel ends them
	}
}

func TestArgumentsAreRefused(t *testing.T) {
	cfg := shortConfig(t, "none")
	cfg.Arguments = []string{"word"}
	if _, err := Resolve(testCatalogue(), cfg); err == nil || !strings.Contains(err.Error(), `takes no arguments, and "word" is not a flag`) {
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
