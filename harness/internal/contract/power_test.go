package contract

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

// onDisks starts a topology on disks that can lose their power.
func onDisks(t *testing.T, name string) *ensembletest.Bench {
	t.Helper()
	if err := cluster.CanDisk(); err != nil {
		t.Fatalf("%v: be root, on a host with /dev/fuse", err)
	}
	top, err := plainCatalogue().Topologies.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return ensembletest.StartOn(t, top, cluster.ProcessName, cluster.Options{Disks: true}, func(s *proc.Starter) []cluster.Provider {
		return plainCatalogue().Providers(harness.Means{Starter: s})
	})
}

// redis sends a command and returns the first line of the answer.
func redis(t *testing.T, addr, command string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // it was read
	if _, err := fmt.Fprintf(c, "%s\r\n", command); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// aof is what is on the disk of redis-1, read past it.
func aof(t *testing.T, s *cluster.Server, dir string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"*.aof", "*/*.aof"} {
		paths, err := filepath.Glob(filepath.Join(dir, s.Name(), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
	}
	return all.String()
}

// Redis that syncs every second loses what it acknowledged since; what it acknowledged before is in its files, which are read
// past the disk, and in its memory after the restart. What kill -9 alone leaves, the disk has until then.
func TestPowerLossTakesWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	b := onDisks(t, "redis-single-everysec")
	s := b.Cluster.Servers()[0]
	redis(t, s.Addr(), "SET kept 1")
	if err := b.Cluster.SyncDisks(b.Ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Synced(b.Ctx); err != nil {
		t.Fatal(err)
	}
	lost, key := "", ""
	for i := 0; i < 10 && lost == ""; i++ { // the second may end just then
		key = fmt.Sprintf("fresh-%d", i)
		redis(t, s.Addr(), "SET "+key+" 1")
		if err := s.Kill(b.Ctx); err != nil {
			t.Fatal(err)
		}
		if i == 0 { // once with power: the page cache outlives the process
			if _, err := s.Restart(b.Ctx); err != nil {
				t.Fatal(err)
			}
			if got := redis(t, s.Addr(), "EXISTS "+key); got != ":1" {
				t.Fatalf("a kill alone lost the key: %s", got)
			}
			continue
		}
		var err error
		if lost, err = s.LosePower(b.Ctx, "nothing", 1, []string{key}); err != nil {
			t.Fatal(err)
		}
		if text := aof(t, s, b.Dir); !strings.Contains(text, "kept") || strings.Contains(text, key) != (lost == "") {
			t.Errorf("lost is %q, and on disk is %q", lost, text)
		}
		if _, err := s.Restart(b.Ctx); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix(lost, "redis-1 lost ") || !strings.Contains(lost, "aof") ||
		!strings.HasSuffix(lost, ", "+key+" among them") {
		t.Errorf("it says %q", lost)
	}
	if kept, gone := redis(t, s.Addr(), "EXISTS kept"), redis(t, s.Addr(), "EXISTS "+key); kept != ":1" || gone != ":0" {
		t.Errorf("after the restart: kept %s, %s %s", kept, key, gone)
	}
}

// With appendfsync always nothing that was acknowledged is lost.
func TestPowerLossAgainstAlways(t *testing.T) {
	t.Parallel()
	b := onDisks(t, "redis-single-aof")
	s := b.Cluster.Servers()[0]
	if err := b.Cluster.SyncDisks(b.Ctx); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		redis(t, s.Addr(), fmt.Sprintf("SET key-%d 1", i))
		if err := s.Kill(b.Ctx); err != nil {
			t.Fatal(err)
		}
		if lost, err := s.LosePower(b.Ctx, "nothing", 1, nil); err != nil || lost != "" {
			t.Fatalf("%q, %v", lost, err)
		}
		if _, err := s.Restart(b.Ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := redis(t, s.Addr(), "EXISTS key-0 key-1 key-2 key-3 key-4"); got != ":5" {
		t.Errorf("of 5 keys there are %s", got)
	}
}

// power is a run whose only fault is that its server loses its power.
// The lease outlasts the restart on a busy host, too.
func power(t *testing.T, backend, topology string, seed uint64) *harness.RunOutcome {
	t.Helper()
	cfg := harness.Defaults()
	cfg.TTL, cfg.Time = 4*time.Second, 8*time.Second
	cfg.Backend, cfg.Topology, cfg.Nemesis, cfg.Seed = backend, topology, []string{"power-loss:at=acquired,every=1ttl"}, seed
	cfg.Out = filepath.Join(t.TempDir(), "run")
	out, err := harness.Run(t.Context(), plainCatalogue(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The whole of it: the lock is granted twice, as a defect, with what was lost as the cause, and the verifier accepts the proof.
func TestPowerLossInARun(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		out := power(t, "redis-lua", "redis-single-everysec", seed+1)
		findings := out.Results.Checks[checker.MutualExclusion].Findings
		if len(findings) == 0 {
			t.Logf("seed %d: %s", seed+1, out.Results.Checks[checker.MutualExclusion].Verdict)
			continue
		}
		f := findings[0]
		if out.ExitCode() != harness.ExitViolation || f.Class != checker.Defect ||
			!strings.Contains(f.Cause, "power-loss on redis-1") || !strings.Contains(f.Cause, "unsynced bytes of ") ||
			!strings.Contains(f.Cause, "lock:L1 among them") {
			t.Errorf("exit %d, %s: %s", out.ExitCode(), f.Class, f.Cause)
		}
		v, err := harness.VerifyDir(out.Dir)
		if err != nil || v.Wrong != nil || len(v.Proofs) == 0 {
			t.Fatalf("%v, %+v", err, v)
		}
		for _, p := range v.Proofs {
			if p.Err != nil {
				t.Errorf("%s: %v", p.Check, p.Err)
			}
		}
		return
	}
	t.Error("no seed shows it")
}

// A loss that finds nothing unsynced hits nobody: the run says so, and shows nothing.
func TestPowerLossInVain(t *testing.T) {
	t.Parallel()
	out := power(t, "redis-lua", "redis-single-aof", 1)
	c := out.Results.Checks[checker.Coverage]
	if out.ExitCode() != harness.ExitUnknown || !strings.Contains(c.Reason, "there was nothing unsynced to lose") {
		t.Errorf("exit %d, %s: %s", out.ExitCode(), c.Verdict, c.Reason)
	}
}

// Where it cannot be, the run is refused with the reason.
func TestPowerLossRefused(t *testing.T) {
	for _, one := range []struct {
		topology, provider, want string
	}{
		{"redis-single", cluster.ProcessName, "keep nothing on disk: use server-restart"},
		{"redis-single-aof", cluster.ExternalName, "does not control existing servers"},
	} {
		cfg := harness.Defaults()
		cfg.Backend, cfg.Topology, cfg.Provider, cfg.Nemesis = "redis-lua", one.topology, one.provider, []string{"power-loss"}
		if one.provider == cluster.ExternalName {
			cfg.Servers = []string{"redis-1=127.0.0.1:1"}
		}
		if _, err := harness.Resolve(plainCatalogue(), cfg); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s, %s: %v", one.topology, one.provider, err)
		} else if code := harness.CodeOf(err); code != harness.ExitUsage {
			t.Errorf("%s, %s: exit code %d", one.topology, one.provider, code)
		}
	}
	spec, err := plainCatalogue().Nemeses.Get("power-loss")
	if err != nil {
		t.Fatal(err)
	}
	for provider, why := range harness.By(plainCatalogue(), spec) {
		if can := provider == cluster.ProcessName || provider == cluster.EmbeddedName; (why == nil) != can {
			t.Errorf("%s: %v", provider, why)
		}
	}
}
