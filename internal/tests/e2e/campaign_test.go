//go:build series

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
)

// process is one of a campaign; what it says is kept.
type process struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

func begin(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(binary, append([]string{"campaign"}, args...)...)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// kill -9, and wait until it is gone.
func (p *process) kill() {
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended
	p.cmd.Wait()         //nolint:errcheck // it was killed
}

// field is a campaign whose queue is a process of ours.
type field struct {
	t    *testing.T
	addr string
	args []string // of start
	out  string
}

func newField(t *testing.T, file string, more ...string) *field {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String() // its queue is started there again after each kill
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := &field{t: t, addr: addr, out: filepath.Join(dir, "out")}
	f.args = slices.Concat([]string{"start", file, "--embed", addr, "--store", filepath.Join(dir, "queue"), "--out", f.out}, more)
	return f
}

func (f *field) url() string { return "nats://" + f.addr }

// state is what status says; nil while the queue is away.
func (f *field) state() *campaign.State {
	out, err := exec.Command(binary, "campaign", "status", "--json", "--queue", f.url()).Output()
	var s campaign.State
	if err != nil || json.Unmarshal(out, &s) != nil {
		return nil
	}
	return &s
}

// until waits for a state.
func (f *field) until(what string, is func(*campaign.State) bool) {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if s := f.state(); s != nil && is(s) {
			return
		}
	}
	f.t.Fatalf("not %s within a minute", what)
}

// suiteFile writes a suite of file locks and locks of one Redis.
func suiteFile(t *testing.T, seeds int, run string, backends, nemeses []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "suite.yaml")
	text := fmt.Sprintf("name: field\nimpossible: skip\nseeds: %d\nrun: %s\naxes:\n  backend: [%s]\n  nemesis: [%s]\nexpect:\n  - "+
		"of: {nemesis: \"client-*\"}\n    outcome: any\n", seeds, run, strings.Join(backends, ", "), strings.Join(nemeses, ", "))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func gateResults(t *testing.T, dir string) *gate.SuiteResults {
	t.Helper()
	r, err := gate.ReadResults(filepath.Join(dir, gate.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Two workers make eight cells; one of them is killed at work. The other one makes what it had taken, and the campaign comes to
// what a suite would.
func TestCampaign(t *testing.T) {
	t.Parallel()
	defer part(t, heavy)()
	file := suiteFile(t, 1, "{ttl: 1s, clients: 3, time: 2s}", []string{"file-flock", "redis-lua", "redis-fenced", "none"},
		[]string{"none", "client-pause"})
	f := newField(t, file, "--ack-wait", "5s")
	start := begin(t, f.args...)
	defer start.kill()
	f.until("published", func(s *campaign.State) bool { return s.Queued == 8 })
	first := begin(t, "work", "--queue", f.url(), "--jobs", "2")
	defer first.kill()
	f.until("at work", func(s *campaign.State) bool {
		for _, w := range s.Workers {
			if slices.ContainsFunc(w.Running, func(run string) bool { return !strings.HasPrefix(run, "control") }) {
				return true
			}
		}
		return false
	})
	first.kill()
	second := begin(t, "work", "--queue", f.url())
	if err := second.cmd.Wait(); err != nil {
		t.Errorf("the second worker: %v\n%s", err, &second.out)
	}
	start.cmd.Wait() //nolint:errcheck // its exit code is asked for
	r := gateResults(t, f.out)
	if code := start.cmd.ProcessState.ExitCode(); code != r.ExitCode || !strings.Contains(start.out.String(), f.out) {
		t.Errorf("exit %d, results say %d\n%s", code, r.ExitCode, &start.out)
	}
	judged := 0
	for _, j := range r.Cells {
		if j.Control {
			continue
		}
		judged++
		if j.Of != 1 || len(j.Runs) != 1 || j.Status == gate.NotRun {
			t.Errorf("%s: %s, %d runs", j.Name, j.Status, len(j.Runs))
		}
		if strings.HasPrefix(j.Name, "none/") == (j.Status == gate.Expected) && j.Status != gate.Inconclusive && j.Column == "none" {
			t.Errorf("%s: %s: %v", j.Name, j.Status, j.Why) // no lock is no lock
		}
		if _, err := os.Stat(filepath.Join(f.out, j.Runs[0].Dir, harness.ReportFile)); err != nil {
			t.Error(err)
		}
	}
	if judged != 8 {
		t.Errorf("%d cells", judged)
	}
	nothingLeft(t, filepath.Dir(f.out))
	if left := processesOf(f.addr); len(left) > 0 {
		t.Errorf("left over: %s", strings.Join(left, "; "))
	}
}

// Four workers, 20 of them killed and the queue killed 5 times, at random moments: every cell is judged, none counts twice, and
// the statuses are those of a suite on one machine.
func TestSeriesCampaign(t *testing.T) {
	const kills, queueKills, workers, seed = 20, 5, 4, 7
	file := suiteFile(t, 2, "{ttl: 1s, clients: 3, time: 3s}", []string{
		"redis-lua", "redis-fenced", "redis-del", "redis-setnx",
		"redis-watchdog", "redis-get-del", "redis-setnx-expire", "redlock",
	}, []string{
		"none", "client-kill", "client-pause",
		"partition-client", "server-restart",
	})
	alone := filepath.Join(t.TempDir(), "alone")
	code, out := lockstorm(t, "suite", file, "--out", alone)
	if code == harness.ExitUsage {
		t.Fatal(out)
	}
	want := gateResults(t, alone)
	f := newField(t, file, "--ack-wait", "5s")
	var mu sync.Mutex
	rnd := rand.New(rand.NewPCG(seed, seed))
	some := func(most time.Duration) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(rnd.Int64N(int64(most)))
	}
	start := begin(t, f.args...)
	f.until("published", func(s *campaign.State) bool { return s.Queued > 0 })
	var wg sync.WaitGroup
	left, killed := kills, 0
	for range workers {
		wg.Go(func() {
			for {
				p := begin(t, "work", "--queue", f.url(), "--jobs", "2")
				done := make(chan struct{})
				go func() { p.cmd.Wait(); close(done) }() //nolint:errcheck // its exit code is asked for
				mu.Lock()
				victim := left > 0
				left--
				mu.Unlock()
				if !victim {
					<-done
					if code := p.cmd.ProcessState.ExitCode(); code != 0 {
						t.Errorf("a worker: exit %d\n%s", code, &p.out)
					}
					return
				}
				select {
				case <-done:
					return
				case <-time.After(some(8 * time.Second)):
					p.cmd.Process.Kill() //nolint:errcheck // it may have ended
					<-done
					mu.Lock()
					killed++
					mu.Unlock()
				}
			}
		})
	}
	for range queueKills {
		<-time.After(2*time.Second + some(8*time.Second))
		start.kill()
		start = begin(t, f.args...)
	}
	wg.Wait()
	start.cmd.Wait() //nolint:errcheck // its exit code is asked for
	t.Logf("%s", &start.out)
	got := gateResults(t, f.out)
	attempts, _ := filepath.Glob(filepath.Join(f.out, "runs", "*", "*", "seed-*"))
	t.Logf("%d cells, %d attempts, %s", len(got.Cells), len(attempts), got.Verdict)
	same, of := 0, 0
	for i, j := range got.Cells {
		if j.Of != len(j.Runs) || (len(j.Runs) != want.Cells[i].Of && !j.Control) {
			t.Errorf("%s: %d runs of %d count", j.Name, len(j.Runs), want.Cells[i].Of)
		}
		if of++; j.Status == want.Cells[i].Status {
			same++
		} else {
			t.Logf("%s: %s, as a suite %s", j.Name, j.Status, want.Cells[i].Status)
		}
	}
	t.Logf("%d of %d cells have the status that the suite gave them; %d workers killed, the queue %d times", same, of, killed,
		queueKills)
	nothingLeft(t, filepath.Dir(f.out))
}

// With an ack-wait of a second, a worker that stands still for longer loses its runs and finishes them later all the same: all
// attempts are kept, and one of each run counts.
func TestSeriesCampaignTwice(t *testing.T) {
	const seeds = 16
	file := suiteFile(t, seeds, "{ttl: 1s, clients: 3, time: 2s}", []string{"file-flock"}, []string{"none", "client-pause"})
	f := newField(t, file, "--ack-wait", "1s")
	start := begin(t, f.args...)
	defer start.kill()
	f.until("published", func(s *campaign.State) bool { return s.Queued == 2*seeds })
	slow := begin(t, "work", "--queue", f.url(), "--jobs", "4")
	defer slow.kill()
	f.until("at work", func(s *campaign.State) bool {
		for _, w := range s.Workers {
			return s.Done > 0 && len(w.Running) == 4
		}
		return false
	})
	stop := func(sig syscall.Signal) {
		if err := slow.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	stop(syscall.SIGSTOP)
	before := f.state().Done
	quick := begin(t, "work", "--queue", f.url(), "--jobs", "4")
	defer quick.kill()
	f.until("making what the slow one had taken", func(s *campaign.State) bool { return s.Done >= before+8 })
	stop(syscall.SIGCONT)
	slow.cmd.Wait()  //nolint:errcheck // its outcome is judged below
	quick.cmd.Wait() //nolint:errcheck // as above
	start.cmd.Wait() //nolint:errcheck // as above
	for _, j := range gateResults(t, f.out).Cells {
		if !j.Control && (j.Of != seeds || len(j.Runs) != seeds) {
			t.Errorf("%s: %d of %d", j.Name, len(j.Runs), j.Of)
		}
	}
	attempts, err := filepath.Glob(filepath.Join(f.out, "runs", "file-flock", "*", "seed-*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(attempts) <= 2*seeds {
		t.Errorf("%d attempts of %d runs: none was made twice", len(attempts), 2*seeds)
	}
	t.Logf("%d attempts of %d runs\n%s", len(attempts), 2*seeds, &start.out)
}
