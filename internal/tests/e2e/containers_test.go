//go:build series

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// docker is what the client prints; without Docker there is nothing to test, and the test fails.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// labelled are the containers, networks and volumes of runs, by name.
func labelled(t *testing.T) (found []string) {
	t.Helper()
	for _, args := range [][]string{
		{"ps", "-a", "--filter", "label=lockstorm.run", "--format", "{{.Names}}"},
		{"network", "ls", "--filter", "label=lockstorm.run", "--format", "{{.Name}}"},
		{"volume", "ls", "--filter", "label=lockstorm.run", "--format", "{{.Name}}"},
	} {
		found = append(found, strings.Fields(docker(t, args...))...)
	}
	return found
}

// volumes are all that there are, also those without a name of ours.
func volumes(t *testing.T) []string { return strings.Fields(docker(t, "volume", "ls", "-q")) }

// nothingInDocker waits until no container of a run is left, for at most five seconds, and no process that would make or
// remove one: it stays for longer where a call to the daemon was under way, which may still be carried out.
func nothingInDocker(t *testing.T, dir string) {
	t.Helper()
	gone(t, 5*time.Second, func() []string { return append(labelled(t), processesOf(dir)...) })
	gone(t, 15*time.Second, func() []string { return processesOf(companion.Program) })
	gone(t, 0, func() []string { return labelled(t) })
}

// gone waits for so long, at most, until nothing is left.
func gone(t *testing.T, limit time.Duration, find func() []string) {
	t.Helper()
	for end := time.Now().Add(limit); ; {
		left := find()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("left over: %s", strings.Join(left, "; "))
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}

func inContainer(line string) harness.Config {
	c := suite.MustLine(line)
	c.Provider = "container"
	return c
}

// Every kind of fault that needs the provider does in containers what it does to processes, with the
// same proof on record.
func TestContainers(t *testing.T) {
	inherent := suite.Expectation{Exit: []int{1}, Classes: map[string]checker.Class{checker.MutualExclusion: checker.Inherent}}
	defect := suite.Expectation{Exit: []int{1}, Classes: map[string]checker.Class{checker.MutualExclusion: checker.Defect}}
	// The lock is gone; whether another client is quick enough to get it meanwhile depends on the moment.
	gone := suite.Expectation{Exit: []int{1}, Classes: map[string]checker.Class{checker.LockLinearizability: checker.Defect}}
	before := volumes(t)
	t.Run("runs", func(t *testing.T) { inContainers(t, inherent, defect, gone) })
	nothingInDocker(t, t.TempDir())
	if after := volumes(t); !slices.Equal(before, after) {
		t.Errorf("volumes before %v, after %v", before, after)
	}
}

func inContainers(t *testing.T, inherent, defect, gone suite.Expectation) {
	for _, c := range []suite.Case{
		{Name: "client-pause", Run: inContainer("--backend redis-lua --nemesis client-pause --time 5s --seed 1"), Expect: inherent},
		{
			Name: "fence", Run: inContainer("--backend redis-fenced --nemesis client-pause --fencing on --time 5s --seed 1"),
			Expect: suite.Expectation{Exit: []int{0}, Verdicts: map[string]checker.Verdict{
				checker.DataFenced:    checker.Pass,
				checker.FencingTokens: checker.Pass,
			}},
		},
		{
			Name: "server-pause", Run: inContainer("--backend redis-lua --nemesis server-pause --time 5s --seed 1"),
			Expect: suite.Expectation{Exit: []int{0}},
		},
		{Name: "server-restart", Run: inContainer("--backend redis-lua --nemesis server-restart --ttl 6s --workload counter:hold=5s " +
			"--time 6s --seed 2"), Expect: defect},
		{Name: "kept", Run: inContainer("--backend redis-lua --topology redis-single-aof --nemesis server-kill --ttl 2s --time 8s " +
			"--seed 1"), Expect: suite.Expectation{Exit: []int{0}}},
		{
			Name: "partition", Run: inContainer("--backend redis-lua --nemesis partition-client --time 5s --seed 1"),
			Expect: suite.Expectation{Exit: []int{0}},
		},
		{Name: "clock-jump", Run: inContainer("--backend redis-lua --nemesis clock-jump --time 5s --seed 1"), Expect: defect},
		{Name: "evict", Run: inContainer("--backend redis-lua --nemesis evict --time 5s --seed 1"), Expect: defect},
		{Name: "failover", Run: inContainer("--backend redis-sentinel --nemesis failover-kill --time 10s --seed 1"), Expect: gone},
		{
			Name: "etcd", Run: inContainer("--backend etcd-mutex --topology etcd-three --nemesis leader-isolate --time 8s --seed 1"),
			Expect: suite.Expectation{Exit: []int{0, 1}},
		},
		{Name: "failover on a bridge", Run: inContainer("--backend redis-sentinel --network bridge --nemesis failover-kill --time " +
			"10s --seed 1"), Expect: gone},
		{Name: "quorum on a bridge", Run: inContainer("--backend etcd-mutex --topology etcd-three --network bridge --nemesis " +
			"quorum-loss --time 10s --seed 1"), Expect: suite.Expectation{Exit: []int{0, 1}}},
		{Name: "restart on a bridge", Run: inContainer("--backend redis-lua --network bridge --nemesis server-restart --ttl 6s " +
			"--workload counter:hold=5s --time 6s --seed 2"), Expect: defect},
	} {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			var dir, out string
			var code int
			// Several runs at once are much for a small host: a run that nobody can judge is made again, and so
			// is one whose server was away for so long that its holder was done before anybody else got the lock.
			for range 3 {
				dir = filepath.Join(t.TempDir(), "run")
				code, out = lockstorm(t, slices.Concat([]string{"run"}, c.Run.Args(), []string{"--out", dir})...)
				missed := code == 0 && slices.Equal(c.Expect.Exit, []int{1})
				if code != harness.ExitUnknown && !missed {
					break
				}
			}
			r := results(t, dir)
			if differ := c.Expect.Compare(code, r); len(differ) > 0 {
				t.Errorf("%s\nlockstorm run %s\n%s", suite.Sentences(differ), c.Run.Line(), out)
			}
			if r == nil {
				return
			}
			image := "redis"
			if strings.HasPrefix(c.Run.Backend, "etcd") {
				image = "etcd"
			}
			if v := r.Versions["image "+image]; !strings.Contains(v, "@sha256:") {
				t.Errorf("the image on record is %q", v)
			}
			if c.Name == "server-pause" && !strings.Contains(out, " is frozen)") {
				t.Errorf("the pause has no proof of the kernel\n%s", out)
			}
			nothingLeft(t, dir)
		})
	}
}

// kill -9 at a random moment, while servers are started, hurt, restarted or stopped.
func TestContainersAreSweptAfterKill(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1)) // a seed
	before := volumes(t)
	for i := range setting.Number(t, "CONTAINER_KILLS", 4) {
		args := []string{
			"run", "--provider", "container", "--backend", "redis-lua", "--nemesis", "server-restart", "--nemesis",
			"server-pause", "--time", "30s",
		}
		if i%2 == 1 {
			args = []string{"run", "--network", "bridge", "--backend", "redis-sentinel", "--nemesis", "failover-kill", "--time", "30s"}
		}
		after := time.Duration(rnd.Int64N(int64(6 * time.Second)))
		t.Run(fmt.Sprint(i, " ", after.Round(time.Millisecond)), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			cmd := exec.Command(binary, append(args, "--out", dir)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-time.After(after) // the moment is what is tested: any will do
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() //nolint:errcheck // it was killed
			nothingInDocker(t, dir)
		})
	}
	if after := volumes(t); !slices.Equal(before, after) {
		t.Errorf("volumes before %v, after %v", before, after)
	}
}

// Ctrl-C, which a terminal sends to the whole group: the report is written, and nothing is left.
func TestContainersAreSweptAfterInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(binary, "run", "--provider", "container", "--backend", "redis-lua", "--nemesis", "server-pause", "--time",
		"30s", "--out", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForGrant(t, dir)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
	if _, err := os.Stat(filepath.Join(dir, harness.ReportFile)); err != nil {
		t.Error(err)
	}
	nothingInDocker(t, dir)
}

// Two runs at once in one Docker do not disturb each other.
func TestContainersOfTwoRuns(t *testing.T) {
	t.Run("both", func(t *testing.T) {
		for _, seed := range []string{"1", "2"} {
			t.Run(seed, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "run")
				code, out := lockstorm(t, "run", "--provider", "container", "--backend", "redis-lua", "--nemesis", "server-pause", "--time",
					"5s", "--seed", seed, "--out", dir)
				if code != 0 {
					t.Errorf("exit %d\n%s", code, out)
				}
			})
		}
	})
	nothingInDocker(t, t.TempDir())
}

// A server that was killed is known to be down at once: each restart is one.
func TestContainersRestartAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	_, out := lockstorm(t, "run", "--provider", "container", "--backend", "redis-lua", "--topology", "redis-single-aof",
		"--nemesis", "server-restart:at=acquired", "--time", "6s", "--seed", "3", "--out", dir)
	if strings.Count(out, "has restarted as pid") < 2 || strings.Contains(out, "already running") ||
		strings.Contains(out, "is down") {
		t.Error(out)
	}
	nothingInDocker(t, dir)
}

// What keeps containers from being run is said in one sentence, with the way out, and exit code 4; what
// makes no sense is wrong usage.
func TestContainersThatCannotBe(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "docker.sock")
	l, err := net.Listen("unix", closed)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, host, args, want string
		code                   int
		nobody                 bool
	}{
		{"no daemon", "unix:///nonexistent/docker.sock", "", "the Docker daemon does not answer: start the daemon", 4, false},
		{"no rights", "unix://" + closed, "", "ask an administrator to add you to the group docker", 4, true},
		{"another host", "tcp://127.0.0.1:9", "", "the Docker daemon does not answer", 4, false},
		{"no such image", "", "--image redis=localhost/lockstorm-no-such:1", "is not on this host and cannot be pulled", 4, false},
		{"no such program", "", "--image redis=debian:bookworm-slim", "does not contain the program redis-server, so the image is " +
			"not a redis image", 4, false},
		{"image of another", "", "--image etcd=a:1", "no server of topology", 3, false},
		{"no image of that name", "", "--image oracle=a:1", `there is no image "oracle"`, 3, false},
		{"no image at all", "", "--image redis", "write NAME=REF", 3, false},
		{"another provider", "", "--provider process --image redis=a:1", "--image needs --provider container", 3, false},
		{"network of a process", "", "--provider process --network bridge", "--network needs --provider container", 3, false},
		{"no such network", "", "--network overlay", `--network "overlay": choose one of host, bridge`, 3, false},
		{"no disk of theirs", "", "--topology redis-single-aof --nemesis power-loss", "where lockstorm could take them away", 3, false},
		{"no image for it", "", "--backend nats-kv --provider container", "lockstorm knows no container image", 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.nobody && os.Getuid() != 0 {
				c.nobody = false // we are somebody whom the socket refuses
			}
			dir := filepath.Join(t.TempDir(), "run")
			args := append([]string{"run", "--out", dir}, strings.Fields(c.args)...)
			if !strings.Contains(c.args, "--backend") {
				args = append(args, "--backend", "redis-lua")
			}
			if !strings.Contains(c.args, "--provider") && !strings.Contains(c.args, "--image") && !strings.Contains(c.args, "--network") {
				args = append(args, "--provider", "container")
			}
			cmd := exec.Command(binary, args...)
			if c.host != "" {
				cmd.Env = append(os.Environ(), "DOCKER_HOST="+c.host)
			}
			if c.nobody {
				cmd = exec.Command("setpriv", append([]string{
					"--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
					publicBinary(t),
				}, args...)...)
				cmd.Env = append(os.Environ(), "DOCKER_HOST="+c.host, "HOME="+t.TempDir())
			}
			out, _ := cmd.CombinedOutput() // the exit code says it
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.want) {
				t.Errorf("exit %d, want %d\n%s\nwant: %s", code, c.code, out, c.want)
			}
		})
	}
	nothingInDocker(t, closed)
}

// publicBinary is a copy of the binary where everybody may run it.
func publicBinary(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lockstorm-public-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a temporary directory
	path := filepath.Join(dir, "lockstorm")
	if out, err := exec.Command("cp", binary, binary+"-servers", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// doctor finds what dead runs have left, and --clean removes that and nothing else.
func TestContainersDoctorCleans(t *testing.T) {
	const noBoot = "00000000-0000-0000-0000-000000000000 pid:[1]"
	dead := owner(t, -1)
	alive := owner(t, os.Getpid())
	boot, pids := hostLabel(t)
	for name, labels := range map[string][3]string{
		"dead":    {dead, boot + " " + pids},
		"alive":   {alive, boot + " " + pids},
		"other":   {dead, boot + " pid:[1]"},
		"booted":  {dead, noBoot, machineLabel(t)},
		"foreign": {dead, noBoot, "0123456789abcdef"}, // of another machine with the same Docker
	} {
		docker(t, "create", "--name", "lockstorm-test-"+name, "--label", "lockstorm.run=test-"+name, "--label", "lockstorm.owner="+
			labels[0], "--label", "lockstorm.host="+labels[1], "--label", "lockstorm.machine="+labels[2], "debian:bookworm-slim", "true")
		t.Cleanup(func() { exec.Command("docker", "rm", "-f", "lockstorm-test-"+name).Run() }) //nolint:errcheck // it may be gone
	}
	docker(t, "network", "create", "--internal", "--label", "lockstorm.run=test-dead", "--label", "lockstorm.owner="+dead, "--label",
		"lockstorm.host="+boot+" "+pids, "lockstorm-test-net")
	t.Cleanup(func() { exec.Command("docker", "network", "rm", "lockstorm-test-net").Run() }) //nolint:errcheck // it may be gone
	_, out := lockstorm(t, "doctor")
	for _, want := range []string{
		"run test-dead was killed and left lockstorm-test-dead, lockstorm-test-net behind",
		"run test-booted was killed", "run test-other still has", "run test-foreign still has", "may be alive on another machine",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "test-alive") {
		t.Errorf("doctor complains of a run that lives:\n%s", out)
	}
	code, out := lockstorm(t, "doctor", "--clean")
	if code != 0 || !strings.Contains(out, "removed the leftovers of run test-dead: lockstorm-test-dead, lockstorm-test-net") {
		t.Errorf("exit %d\n%s", code, out)
	}
	left := labelled(t)
	slices.Sort(left)
	if !slices.Equal(left, []string{"lockstorm-test-alive", "lockstorm-test-foreign", "lockstorm-test-other"}) {
		t.Errorf("left: %v", left)
	}
}

// machineLabel is how this machine is known to others.
func machineLabel(t *testing.T) string {
	t.Helper()
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil || strings.TrimSpace(string(id)) == "" {
		t.Fatalf("this machine has no name: %v", err)
	}
	sum := sha256.Sum256([]byte("lockstorm " + strings.TrimSpace(string(id))))
	return hex.EncodeToString(sum[:8])
}

// owner is the label of a process; of -1, that of one which is no more.
func owner(t *testing.T, pid int) string {
	t.Helper()
	if pid < 0 {
		cmd := exec.Command("true")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d-1", cmd.Process.Pid)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fmt.Sprintf("%d-%s", pid, fields[19])
}

func hostLabel(t *testing.T) (boot, pids string) {
	t.Helper()
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	if pids, err = os.Readlink("/proc/self/ns/pid"); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b)), pids
}
