package lockstormtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/lockstormtest"
	"github.com/lockstorm/lockstorm/suite"
)

// A search finds that no lock is no lock, keeps the run, and finds nothing wrong with a lock of the kernel. What cannot be
// searched is refused.
func TestExplore(t *testing.T) {
	t.Parallel()
	cat := harness.New(stores.All()...)
	failed, said := judgedSearch(t, cat, "--backend none --ttl 500ms")
	dir := regexp.MustCompile(`kept: (\S+)`).FindStringSubmatch(said)
	if !failed || !strings.Contains(said, "distinct violation") || !strings.Contains(said, "mutual-exclusion") || dir == nil {
		t.Fatalf("no lock at all: failed %v\n%s", failed, said)
	}
	if _, err := os.Stat(filepath.Join(dir[1], "report.html")); err != nil {
		t.Error(err)
	}
	violated := suite.Expectation{Outcome: suite.Violated}
	if failed, said := observed(t, func(tb testing.TB) {
		lockstormtest.Kept(tb, cat, filepath.Join(dir[1], "trial.json"), violated, lockstormtest.FirstOf(1, 2, 3))
	}); failed {
		t.Errorf("repeated: %s", said)
	}
	failed, said = observed(t, func(tb testing.TB) { lockstormtest.Kept(tb, cat, dir[1], suite.Expectation{Outcome: suite.Safe}) })
	if !failed || !strings.Contains(said, "expected safe") {
		t.Errorf("a violation that is not expected: failed %v\n%s", failed, said)
	}
	drop(t, said)
	if err := os.RemoveAll(filepath.Dir(filepath.Dir(filepath.Dir(dir[1])))); err != nil {
		t.Error(err)
	}
	if failed, said := judgedSearch(t, cat, "--backend file-flock --nemesis client-pause --ttl 500ms",
		lockstormtest.FailOnDefect()); failed {
		t.Errorf("file-flock:\n%s", said)
	}
	if failed, said := observed(t, func(tb testing.TB) {
		lockstormtest.Explore(tb, cat, "--backend nonsense",
			time.Second)
	}); !failed || !strings.Contains(said, "nonsense") {
		t.Errorf("failed %v\n%s", failed, said)
	}
}

// judgedSearch searches for as long as a busy host needs to judge a run.
func judgedSearch(t *testing.T, cat *harness.Catalogue, line string, opts ...lockstormtest.Option) (failed bool, said string) {
	t.Helper()
	for length := 5 * time.Second; length < 2*time.Minute; length *= 3 {
		failed, said = observed(t, func(tb testing.TB) { lockstormtest.Explore(tb, cat, line, length, opts...) })
		if !strings.Contains(said, "inconclusive") {
			break
		}
		drop(t, said)
	}
	return failed, said
}
