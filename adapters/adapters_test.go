package adapters_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// atOnce bounds what runs beside each other: each has servers, and some have virtual machines.
func atOnce() string {
	if setting.Race || setting.Slow() {
		return "2"
	}
	return "3"
}

func catalogue() *harness.Catalogue { return harness.New(stores.All()...) }

// TestMain lets this binary start itself as the workers of the runs below.
func TestMain(m *testing.M) {
	harness.WorkerMain(catalogue())
	program()
	if err := flag.Set("test.parallel", atOnce()); err != nil { // -parallel says otherwise
		panic(err)
	}
	os.Exit(m.Run())
}

// kept is an adapter with what a run without faults must end with.
type kept struct {
	words string
	exit  int
}

func lockstorm(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := cli.Main(&suite.Collection{Catalogue: catalogue()}, cli.State{
		Context: t.Context(), Name: "lockstorm", Args: args,
		Stdout: &out, Stderr: &out,
	})
	return code, out.String()
}

// Every adapter keeps the protocol, but the one that is no lock; controls do in a series.
func TestConformance(t *testing.T) {
	t.Parallel()
	conform(t, []kept{
		{"python/flock.py", harness.ExitPass},
		{"python/null.py", harness.ExitViolation},
		{"python/pid_lock.py", harness.ExitPass},
		{"python/blind_pidlock.py", harness.ExitPass}, // nobody dies
		{"python/setnx.py", harness.ExitPass},
		{"python/sqlite_lock.py", harness.ExitPass},
		{"testdata/planted_sqlite.py forgets", harness.ExitViolation},
		{"testdata/planted_sqlite.py autocommit", harness.ExitViolation},
		{"python/memcached_lock.py", harness.ExitPass},
		{"python/memcached_cas_lock.py", harness.ExitPass},
		{"python/redis_py.py", harness.ExitPass},
		{"python/portalocker_redis.py", harness.ExitPass},
		{"python/tooz_lock.py redis", harness.ExitPass},
		{"python/tooz_lock.py postgresql", harness.ExitPass},
		{"python/tooz_lock.py mysql", harness.ExitPass},
		{"python/rq_scheduler.py one", harness.ExitPass},
		{"python/rq_scheduler.py two", harness.ExitViolation}, // it deletes the key of others
		{"python/kazoo_lock.py", harness.ExitPass},
		{"python/etcd3_lock.py", harness.ExitPass},
		{"python/etcd3_lock.py waits", harness.ExitViolation}, // Lock.acquire of release 0.12.0 cannot wait
		{"java/curator", harness.ExitPass},
		{"node/proper_lockfile.js", harness.ExitPass},
		{"node/redis_setnx.js", harness.ExitPass},
		{"go/launch flock", harness.ExitPass},
		{"go/launch rueidislock", harness.ExitPass},
		{"go/launch pgadvisory transaction", harness.ExitPass},
		{"php/malkusch_lock.php", harness.ExitPass},
		{"php/symfony_lock.php redis", harness.ExitPass},
		{"php/symfony_lock.php flock", harness.ExitPass},
		{"php/laravel_lock.php redis", harness.ExitPass},
		{"php/laravel_lock.php file", harness.ExitPass},
	})
}

// Who starts an adapter by hand is told what starts it, in each language. (python/flock.py and null.py stay as short as they can
// be.)
func TestByHand(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"python/setnx.py", "node/redis_setnx.js", "php/flock.php", "java/flock", "go/launch flock"} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			line := strings.Fields(words)
			cmd := exec.CommandContext(t.Context(), "./"+line[0], line[1:]...)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "lockstorm starts it (--backend "+
				"exec:cmd=FILE)") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// The helper in Go is a module of its own.
func TestGoHelper(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-C", "go/lockstorm", ".").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// conform holds adapters against the protocol.
func conform(t *testing.T, all []kept) {
	t.Helper()
	for _, k := range all {
		t.Run(k.words, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(k.words)
			if words[0] == "go/launch" { // as docs/adapters.md says, before its first run
				if out, err := exec.CommandContext(t.Context(), words[0], "--build", words[1]).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			code, out := lockstorm(t, append([]string{"adapter", "check", "--"}, words...)...)
			if code != k.exit {
				t.Errorf("exit %d\n%s", code, out)
			}
		})
	}
}

// An adapter is a lock, but the one that is none. What a busy host makes inconclusive says nothing about it.
func TestRuns(t *testing.T) {
	t.Parallel()
	for _, k := range []kept{
		{"python/null.py", harness.ExitViolation},
		{"python/pid_lock.py", harness.ExitPass},
		{"python/redis_py.py", harness.ExitPass},
		{"java/curator", harness.ExitPass},
		{"python/sqlite_lock.py", harness.ExitPass},
		{"testdata/planted_sqlite.py autocommit", harness.ExitViolation},
		{"testdata/planted_sqlite.py forgets", harness.ExitViolation},
	} {
		t.Run(k.words, func(t *testing.T) {
			t.Parallel()
			code, out := run(t, k.words)
			if code != k.exit && code != harness.ExitUnknown {
				t.Errorf("exit %d\n%s", code, out)
			}
		})
	}
}

// run makes a short run of an adapter; flags that are given take the place of its own.
func run(t *testing.T, words string, more ...string) (int, string) {
	t.Helper()
	w := strings.Fields(words)
	args := []string{"run", "--backend", "exec:cmd=" + w[0]}
	for _, own := range [][]string{
		{"--clients", "3"},
		{"--time", "2s"},
		{"--seed", "1"},
		{"--out", filepath.Join(t.TempDir(), "run")},
	} {
		if !slices.Contains(more, own[0]) {
			args = append(args, own...)
		}
	}
	return lockstorm(t, append(append(append(args, more...), "--"), w[1:]...)...)
}
