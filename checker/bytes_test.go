package checker_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/internal/tests/checkertest"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

const digests = "LOCKSTORM_DIGESTS" // where a process of TestTheSameBytes writes its own

// Judging the same record again gives the same bytes: no order of a map decides a reason or a finding. The seed of
// those orders is of a process: each judging has one of its own.
func TestTheSameBytes(t *testing.T) {
	if path := os.Getenv(digests); path != "" {
		writeDigests(t, path)
		return
	}
	dir := t.TempDir()
	said := make([]string, max(2, setting.Random(t, "LOCKSTORM_JUDGINGS", 20)))
	var group errgroup.Group
	group.SetLimit(2)
	for n := range said {
		group.Go(func() error {
			path := filepath.Join(dir, fmt.Sprint(n))
			cmd := exec.Command(os.Args[0], "-test.run=^TestTheSameBytes$")
			cmd.Env = append(os.Environ(), digests+"="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("judging %d: %w\n%s", n, err, out)
			}
			text, err := os.ReadFile(path)
			said[n] = string(text)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	first := strings.Split(said[0], "\n")
	if len(first) < 100 {
		t.Fatalf("%d fixtures were judged: too few", len(first))
	}
	for n, text := range said[1:] {
		for i, line := range strings.Split(text, "\n") {
			if i >= len(first) || line != first[i] {
				t.Fatalf("judging %d differs from the first: %s", n+1, line)
			}
		}
	}
}

// writeDigests judges each fixture once and writes a line for each: where it is, and the digest of its results.
func writeDigests(t *testing.T, path string) {
	var all strings.Builder
	eachFixture(t, func(t *testing.T, d *datadriven.TestData) string {
		b, err := json.MarshalIndent(checker.Judge(checkertest.InputOf(t, d.Input), checks.Default()), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %x\n", d.Pos, sha256.Sum256(b))
		return d.Expected
	})
	if err := os.WriteFile(path, []byte(all.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Two locks that one client holds at once are no reentry; the same lock twice is.
func TestReentriesAreOfOneLock(t *testing.T) {
	const record = `run ends=lease model=reentrant
0ms 1 c1 invoke acquire lock=L1 grant=a owner=o
2ms 1 c1 ok acquire lock=L1 grant=a owner=o lease=a sent=1ms ttl=1s deadline=1001ms
10ms 1 c1 invoke acquire lock=L2 grant=b owner=o
12ms 1 c1 ok acquire lock=L2 grant=b owner=o lease=b sent=11ms ttl=1s deadline=1011ms
`
	const again = `14ms 1 c1 invoke acquire lock=L1 grant=c owner=o
15ms 1 c1 ok acquire lock=L1 grant=c owner=o lease=c sent=14ms ttl=1s deadline=1014ms
`
	for text, want := range map[string]int64{record + "end\n": 0, record + again + "end\n": 1} {
		if got := checker.Judge(checkertest.InputOf(t, text), checks.Default()).Stats["reentries"]; got != want {
			t.Errorf("%d reentries, want %d:\n%s", got, want, text)
		}
	}
}
