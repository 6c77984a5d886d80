package campaign

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/campaign/queue"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/companion/servers"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/suite"
)

func TestMain(m *testing.M) {
	servers.Child()
	m.Run()
}

// lockstorm runs the command line in this process.
func lockstorm(t *testing.T, env map[string]string, args ...string) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	code = cli.Main(cases.Suites(harness.New(stores.All()...)), cli.State{
		Context: context.Background(), Name: "lockstorm", Args: append([]string{"campaign"}, args...), Stdout: &out, Stderr: &out,
		Env: func(name string) string { return env[name] },
	}, Verb)
	return code, out.String()
}

// What is wrong is said in a sentence, with the exit code that it has.
func TestUsage(t *testing.T) {
	s, err := queue.Serve(queue.Serving{Addr: "127.0.0.1:0", Dir: t.TempDir(), Room: 64 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop() //nolint:errcheck // its data is gone with the test
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"start smoke", "give one queue: --queue nats://HOST:PORT, or --embed HOST:PORT", 3},
		{"start smoke --queue nats://127.0.0.1:1 --embed 127.0.0.1:0", "give one queue", 3},
		{"start smoke --queue nats://127.0.0.1:1 --out x", "work only with --embed", 3},
		{"start smoke --embed 127.0.0.1:0 --max-size much", "much is not a size: write for example 10GB", 3},
		{"start smoke --embed 127.0.0.1:0 --ack-wait 10ms", "the minimum is 1s", 3},
		{"start smoke --embed 127.0.0.1:0 --keep 1m", "the minimum is 1h", 3},
		{"start smoke --embed 127.0.0.1:0 --embed-cert x", "give both", 3},
		{"start nowhere.yaml --queue nats://127.0.0.1:1", "nowhere.yaml", 3},
		{"start smoke --queue nats://127.0.0.1:1", "does not answer", 4},
		{"start smoke --embed 0.0.0.0:0", "LOCKSTORM_QUEUE_TOKEN", 4},
		{"work", "--queue is missing", 3},
		{"work --queue nats://127.0.0.1:1", "does not answer", 4},
		{"work --queue URL", "has no campaign", 4},
		{"work --queue URL --queue-cert x", "give both", 3},
		{"finish --queue URL", "--out is missing", 3},
		{"start smoke --queue URL --max-size 1000GB", "is full", 4},
		{"status --queue URL", "has no campaign: start a campaign first", 4},
		{"start smoke --queue URL", "start workers with: lockstorm campaign work", 0},
		{"start smoke --queue URL", "campaign smoke", 0},
		{"start smoke --queue URL --seeds 7", "another campaign with the name smoke", 4},
		{"status --queue URL", "0 of ", 0},
		{"status --queue URL --out FULL", "is not empty: name a new directory", 3},
		{"status --queue URL --campaign other", "has no campaign other (its campaigns: smoke", 4},
		{"finish --queue URL --out OUT", " (the queue still has their tasks; 0 workers running)", 2},
		{"finish --queue URL --out OUT --now", "not run", 2},
		{"rm other --queue URL", "has no campaign other", 4},
		{"rm smoke --queue URL", "campaign smoke was deleted", 0},
	} {
		out := filepath.Join(t.TempDir(), "out")
		args := strings.Fields(strings.NewReplacer("URL", s.URL(), "FULL", full, "OUT", out).Replace(c.args))
		code, said := lockstorm(t, nil, args...)
		if code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit %d, want %d; %q is not said:\n%s", c.args, code, c.code, c.want, said)
		}
	}
}

// A worker of another build is refused.
func TestOtherBuild(t *testing.T) {
	s, err := queue.Serve(queue.Serving{Addr: "127.0.0.1:0", Dir: t.TempDir(), Room: 64 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop() //nolint:errcheck // its data is gone with the test
	q, err := queue.Open(t.Context(), queue.Access{URL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	c := plan.Cell{Case: suite.Case{Name: "cell", Text: "a cell", Run: suite.MustLine("--backend file-flock")}, Seeds: []uint64{1}}
	cat := harness.New(stores.All()...)
	m, err := campaign.Make(cat, gate.Definition{Schema: gate.Schema, Name: "one", Cells: []plan.Cell{c}},
		campaign.Settings{Name: "one", Build: "0123", AckWait: time.Second, Keep: time.Hour, Room: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := campaign.Start(t.Context(), q, cat, m, nil); err != nil {
		t.Fatal(err)
	}
	if code, said := lockstorm(t, nil, "work", "--queue", s.URL()); code != 4 ||
		!strings.Contains(said, "was started by build 0123, but") {
		t.Errorf("exit %d\n%s", code, said)
	}
}

// The address of the queue and its secrets come from the environment.
func TestEnvironment(t *testing.T) {
	s, err := queue.Serve(queue.Serving{Addr: "127.0.0.1:0", Dir: t.TempDir(), Token: "secret", Room: 64 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop() //nolint:errcheck // its data is gone with the test
	env := map[string]string{"LOCKSTORM_QUEUE": s.URL(), "LOCKSTORM_QUEUE_TOKEN": "secret"}
	if code, said := lockstorm(t, env, "start", "smoke"); code != 0 || strings.Contains(said, "secret") {
		t.Errorf("exit %d\n%s", code, said)
	}
	env["LOCKSTORM_QUEUE_TOKEN"] = "wrong"
	if code, said := lockstorm(t, env, "status"); code != 4 || !strings.Contains(said, "refuses the credentials of this program") {
		t.Errorf("exit %d\n%s", code, said)
	}
}
