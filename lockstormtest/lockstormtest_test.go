package lockstormtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/suite"
)

func TestMain(m *testing.M) { lockstormtest.Main(m, harness.New(stores.All()...)) }

// short is a run that takes a second and a half.
const short = " --clients 3 --ttl 500ms --time 1s "

// A lock that holds passes, with each of its seeds, and leaves nothing behind.
func TestSafe(t *testing.T) {
	t.Parallel()
	var dirs []string
	failed, said := observed(t, func(tb testing.TB) {
		out := lockstormtest.Safe(tb, harness.New(stores.All()...), "--backend file-flock"+short, lockstormtest.Seeds(3, 4))
		dirs = append(dirs, out.Dir)
		if out.Seed != 4 || out.Results.Stats["grants"] == 0 {
			t.Errorf("the last run: seed %d, %d grants", out.Seed, out.Results.Stats["grants"])
		}
	})
	if failed {
		t.Fatal(said)
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}

// A run that could not be judged is kept, too, without a report.
var kept = regexp.MustCompile(`kept(?::| in)  ?(\S+)(?: \(report: (\S+)\))?`)

// drop takes the folders away that a failure has kept.
func drop(t *testing.T, said string) {
	t.Helper()
	all := kept.FindAllStringSubmatch(said, -1)
	if all == nil {
		t.Fatalf("nothing was kept:\n%s", said)
	}
	for _, m := range all {
		if err := os.RemoveAll(m[1]); err != nil {
			t.Error(err)
		}
	}
}

// No lock at all fails what must be safe, as a defect, with its story; what was kept is judged
// again to the same, and can be replayed.
func TestAFailureIsExplained(t *testing.T) {
	t.Parallel()
	said := fails(t, func(tb testing.TB) {
		lockstormtest.Safe(tb, harness.New(stores.All()...), "--backend none --seed 5"+short)
	},
		"the run did not end as expected", "exit code 1, expected 0", "A defect of the lock: ", "check mutual-exclusion, rule "+
			"overlap, class defect, cause: ",
		" is granted lock L1", "--backend none", "--seed 5", lockstormtest.EnvReplay+"=", "go test -count=1 -run "+
			"'^TestAFailureIsExplained$' .",
	)
	m := kept.FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("no folder in:\n%s", said)
	}
	defer drop(t, said)
	if strings.Contains(said, "inherent to leases") {
		t.Errorf("a defect is called inherent:\n%s", said)
	}
	if _, err := os.Stat(m[2]); err != nil {
		t.Error(err)
	}
	if _, err := harness.ReadTrial(harness.New(stores.All()...), m[1], ""); err != nil {
		t.Error(err)
	}
	j, err := harness.JudgeDir(harness.New(stores.All()...), m[1])
	if err != nil || j.Results.ExitCode != harness.ExitViolation {
		t.Errorf("judged again: %v, %v", j, err)
	}
}

// A failure of which nothing is the lock's fault says so, and names the way out; with it, the run passes.
func TestWhatIsInherentIsSaid(t *testing.T) {
	t.Parallel()
	cat, line := harness.New(stores.All()...), "--backend redis-lua --nemesis client-pause:at=before-write,every=1.6ttl --clients "+
		"3 --ttl 500ms --time 3s --seed 5"
	said := fails(t, func(tb testing.TB) { lockstormtest.Safe(tb, cat, line) },
		"the run did not end as expected", "all findings are inherent to leases", "add --fail-on defect")
	drop(t, said)
	lockstormtest.Safe(t, cat, line+" --fail-on defect")
	said = fails(t, func(tb testing.TB) {
		lockstormtest.Violates(tb, cat, line, checker.MutualExclusion, checker.Defect, lockstormtest.Attempts(1))
	}, "expected defect")
	drop(t, said)
	if strings.Contains(said, "--fail-on defect") {
		t.Errorf("a test that wants a defect is told to ignore what is inherent:\n%s", said)
	}
}

// A violation that is expected passes; one of another class, by another check, or none, fails.
func TestViolates(t *testing.T) {
	t.Parallel()
	cat := harness.New(stores.All()...)
	lockstormtest.Violates(t, cat, "--backend none --seed 5"+short, checker.MutualExclusion, checker.Defect)
	for name, tc := range map[string]struct {
		line, check string
		class       checker.Class
		want        string
	}{
		"class": {"--backend none", checker.MutualExclusion, checker.Inherent, "mutual-exclusion: defect, expected inherent"},
		"check": {"--backend none", checker.Ownership, checker.Defect, "ownership: pass, expected fail"},
		"none":  {"--backend file-flock", checker.MutualExclusion, checker.Defect, "exit code 0, expected 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := fails(t, func(tb testing.TB) {
				lockstormtest.Violates(tb, cat, tc.line+" --seed 5"+short, tc.check, tc.class, lockstormtest.Attempts(1))
			}, tc.want)
			drop(t, said)
		})
	}
}

// With FirstOf the first seed that is as expected is enough, none of them fails the test, and a defect that nobody
// expects does at once.
func TestFirstOf(t *testing.T) {
	t.Parallel()
	cat := harness.New(stores.All()...)
	line, seeds, next := "--backend %s"+short, lockstormtest.FirstOf(5, 6), "the run with seed 5 did not end as expected; trying "+
		"the next seed"
	none, flock := fmt.Sprintf(line, "none"), fmt.Sprintf(line, "file-flock")
	if out := lockstormtest.Violates(t, cat, none, checker.MutualExclusion, checker.Defect, seeds); out.Seed != 5 {
		t.Errorf("ended with seed %d, and the first was as expected", out.Seed)
	}
	drop(t, fails(t, func(tb testing.TB) {
		lockstormtest.Violates(tb, cat, flock, checker.MutualExclusion, checker.Defect, seeds, lockstormtest.Attempts(1))
	}, next, "exit code 0, expected 1"))
	said := fails(t, func(tb testing.TB) { lockstormtest.Safe(tb, cat, none, seeds) }, "exit code 1, expected 0")
	if strings.Contains(said, next) {
		t.Errorf("a defect that nobody expects was passed over: %s", said)
	}
	drop(t, said)
}

// What is wrong with a call is said before anything runs.
func TestRefused(t *testing.T) {
	t.Parallel()
	cat := harness.New(stores.All()...)
	passes := suite.Expectation{Exit: []int{harness.ExitPass}}
	for want, call := range map[string]func(testing.TB){
		`unknown backend "nobodys-lock": choose one of none`: func(tb testing.TB) {
			lockstormtest.Safe(tb, cat, "--backend nobodys-lock")
		},
		"unknown flag: --bckend": func(tb testing.TB) { lockstormtest.Safe(tb, cat, "--bckend none") },
		"choose a number from 1 to 10": func(tb testing.TB) {
			lockstormtest.Safe(tb, cat, "--backend none", lockstormtest.Attempts(0))
		},
		"Seeds: 0 is not allowed": func(tb testing.TB) {
			lockstormtest.Safe(tb, cat, "--backend none", lockstormtest.Seeds(0))
		},
		"101 seeds are too many: the limit is 100": func(tb testing.TB) {
			lockstormtest.Safe(tb, cat, "--backend none", lockstormtest.Seeds(make([]uint64, 101)...))
		},
		"the expectation is empty, so every run would meet it: set an outcome, exit code, verdict, class, rule or " +
			"figure": func(tb testing.TB) { lockstormtest.Run(tb, cat, "--backend none", suite.Expectation{}) },
		`unknown check "no-check"`: func(tb testing.TB) {
			lockstormtest.Violates(tb, cat, "--backend none", "no-check", checker.Defect)
		},
		"has no server": func(tb testing.TB) { lockstormtest.Run(tb, cat, "--backend none --nemesis server-kill", passes) },
	} {
		fails(t, call, want)
	}
	failed, said := observed(t, func(tb testing.TB) {
		usage := suite.Expectation{Exit: []int{harness.ExitUsage}}
		if out := lockstormtest.Run(tb, cat, "--backend none --nemesis server-kill", usage); out != nil {
			t.Errorf("a run that was refused has an outcome: %+v", out)
		}
	})
	if failed {
		t.Errorf("refused as expected, and failed: %s", said)
	}
}

// A lock in another language is one like any other.
func TestExec(t *testing.T) {
	t.Parallel()
	out := lockstormtest.Safe(t, harness.New(stores.All()...), "--clients 2 --ttl 500ms --time 1s --seed 5",
		lockstormtest.Exec("../adapters/python/flock.py"))
	if out.Record.Run.Versions["adapter"] != "flock.py 1" {
		t.Errorf("%v", out.Record.Run.Versions)
	}
}

// A run ends in time for the test binary to say so.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	said := fails(t, func(tb testing.TB) {
		lockstormtest.Safe(hurried{tb}, harness.New(stores.All()...), "--backend file-flock --clients 2 --ttl 500ms --time 10m "+
			"--seed 5")
	}, "interrupted ") // before it was done or, on a busy host, while it was judged
	drop(t, said)
}

// hurried is a test whose binary gives up in a few seconds.
type hurried struct{ testing.TB }

func (hurried) Deadline() (time.Time, bool) { return time.Now().Add(13 * time.Second), true }

// Cases are subtests of their names.
func TestCases(t *testing.T) {
	t.Parallel()
	lockstormtest.Cases(t, harness.New(stores.All()...), []suite.Case{
		{
			Name: "holds", Text: "the control that passes", Run: suite.MustLine("--backend file-flock" + short),
			Expect: suite.Expectation{Outcome: suite.Safe},
		},
		{
			Name: "fails", Text: "the control that fails", Run: suite.MustLine("--backend none" + short),
			Expect: suite.Expectation{Outcome: suite.Defect},
		},
	})
}

// A kept run is made again with its own seed; another configuration is not.
func TestReplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cfg, err := harness.ParseLine("--backend none --seed 77" + short)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Out = dir
	if _, err := harness.Run(t.Context(), harness.New(stores.All()...), cfg, nil); err != nil {
		t.Fatal(err)
	}
	t.Setenv(lockstormtest.EnvReplay, dir)
	out := lockstormtest.Violates(t, harness.New(stores.All()...), "--backend none"+short, checker.MutualExclusion, checker.Defect)
	if out.Seed != 77 {
		t.Errorf("made again with seed %d", out.Seed)
	}
	failed, said := observed(t, func(tb testing.TB) {
		if out := lockstormtest.Safe(tb, harness.New(stores.All()...), "--backend file-flock --seed 6"+short); out.Seed != 6 {
			t.Errorf("another run: seed %d", out.Seed)
		}
	})
	if failed || !strings.Contains(said, "has another configuration than this test") {
		t.Errorf("another run: failed %v, said %s", failed, said)
	}
	t.Setenv(lockstormtest.EnvReplay, filepath.Dir(dir))
	fails(t, func(tb testing.TB) { lockstormtest.Safe(tb, harness.New(stores.All()...), "--backend none"+short) },
		"has no file trial.json")
}
