//go:build series

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// kills are those of each store, and the seed of their moments: one, unless KILLS asks for more.
func kills(t *testing.T) (n int, seed uint64) {
	return setting.Number(t, "KILLS", 1), uint64(setting.Number(t, "KILLS_SEED", 1))
}

// killable are the stores whose servers have helpers, segments of shared memory or folders of their own. Each kill of a
// store takes the next of its runs.
var killable = []struct {
	name string
	runs []string
}{
	{"postgres", []string{
		"--backend postgres-advisory --nemesis server-kill --nemesis client-pause",
		"--backend postgres-advisory --topology postgres-replica --nemesis server-pause",
	}},
	{"mariadb", []string{
		"--backend mariadb-get-lock --nemesis server-kill --nemesis client-pause",
		"--backend mariadb-get-lock --topology mariadb-replica --nemesis server-pause",
	}},
	{"zookeeper", []string{
		"--backend zk-exclusive --nemesis server-kill --nemesis client-pause",
		"--backend zk-exclusive --topology zk-three --nemesis server-pause",
	}},
	{"etcd", []string{
		"--backend etcd-mutex --nemesis server-kill --nemesis client-pause",
		"--backend etcd-mutex --topology etcd-three --nemesis server-pause",
	}},
	{"disks", []string{ // which are mounts
		"--backend redis-lua --topology redis-single-everysec --nemesis power-loss:every=0.5ttl",
		"--backend sql-lease-row --topology postgres-async --nemesis power-loss",
		"--backend nats-kv --topology nats-three --provider embedded --nemesis power-loss:nodes=all",
	}},
}

const (
	killLimit = 5 * time.Second // after a kill, until nothing may be left
	killSpan  = 8 * time.Second // the moments are drawn from it: the first run of a store takes seconds to start
)

// kill -9 of the controller at moments that a seed draws, from the first start of a store, for which its data folder
// is made, to its end: after five seconds nothing is left but the directory of the run and what doctor names, and
// after doctor --clean nothing but that directory. KILLS for each store; one in the fast suite. Those of a store come
// one after the other, and none beside other tests, whose files in shared memory would count as left over.
func TestStoresAreGoneAfterKill(t *testing.T) {
	kills, seed := kills(t)
	for _, s := range killable {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			named := 0
			for i := range kills {
				rnd := rand.New(rand.NewPCG(seed, uint64(i))) // a seed
				after := time.Duration(rnd.Int64N(int64(killSpan)))
				if i%2 == 0 { // every second one hits the start, with an empty cache
					after /= 4
				}
				t.Run(fmt.Sprint(i, " ", after.Round(time.Millisecond)), func(t *testing.T) {
					k := newKilled(t, i%2 == 0, s.name)
					k.run(after, strings.Fields(s.runs[i/2%len(s.runs)]))
					named += k.nothingButNamed()
				})
			}
			t.Logf("%s: %d kills, %d times doctor named what was left", s.name, kills, named)
		})
	}
}

// killedRun is one run that is killed. All that it may leave is in its base, or shared by all of this host.
type killedRun struct {
	*testing.T
	base, tmp, cache, out string
	env                   []string
	group                 int
	before                []string
}

// newKilled has folders of its own for temporary files and, if it is the first, for the cache.
func newKilled(t *testing.T, first bool, store string) *killedRun {
	base := t.TempDir()
	k := &killedRun{
		T: t, base: base, tmp: filepath.Join(base, "tmp"), cache: filepath.Join(base, "cache"),
		out: filepath.Join(base, "run"),
	}
	if !first {
		k.cache = filepath.Join(filepath.Dir(binary), "cache-"+store) // emptied with the binary
	}
	if err := os.Mkdir(k.tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	k.env = append(os.Environ(), "TMPDIR="+k.tmp, "XDG_CACHE_HOME="+k.cache)
	k.before = shared(t)
	return k
}

// run starts a run in a session of its own and kills its controller.
func (k *killedRun) run(after time.Duration, args []string) {
	k.Helper()
	said, err := os.Create(filepath.Join(k.base, "said"))
	if err != nil {
		k.Fatal(err)
	}
	defer said.Close() //nolint:errcheck // it is read by its name
	cmd := exec.Command(binary, slices.Concat([]string{"run", "--time", "60s", "--out", k.out}, args)...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = k.env, k.base, said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		k.Fatal(err)
	}
	k.group = cmd.Process.Pid
	<-time.After(after) // the moment is what is tested: any will do
	if err := cmd.Process.Kill(); err != nil {
		k.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // it was killed
	if code := cmd.ProcessState.ExitCode(); code != -1 {
		text, err := os.ReadFile(said.Name())
		k.Fatalf("it ended by itself, with %d: %s, %v", code, text, err)
	}
}

// nothingButNamed waits until nothing is left but what doctor names and cleans away, of which it returns the number.
func (k *killedRun) nothingButNamed() int {
	k.Helper()
	var left []string
	for end := time.Now().Add(killLimit); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if left = k.left(); len(left) == 0 {
			break
		}
	}
	if len(left) == 0 {
		return 0
	}
	said := k.doctor()
	for _, what := range left {
		if !strings.Contains(said, what) {
			k.Errorf("left over, and doctor does not name it: %s", what)
		}
	}
	cleaned := k.doctor("--clean")
	if still := k.left(); len(still) > 0 {
		k.Errorf("left after doctor --clean: %s\n%s", strings.Join(still, "; "), cleaned)
	}
	return len(left)
}

func (k *killedRun) doctor(args ...string) string {
	k.Helper()
	cmd := exec.Command(binary, append([]string{"doctor"}, args...)...)
	cmd.Env = k.env
	out, _ := cmd.CombinedOutput() // exit 4 where a topology is missing, or Docker with --clean
	return string(out)
}

// left is everything of the run but its directory: processes, mounts, segments of shared memory, files in the folders for
// temporary ones, and what is unfinished in the cache.
func (k *killedRun) left() []string {
	k.Helper()
	found := append(k.processes(), k.mounts()...)
	for _, path := range shared(k.T) {
		if !slices.Contains(k.before, path) && !mapped(path) {
			found = append(found, path)
		}
	}
	for _, dir := range []string{k.tmp, filepath.Join(k.cache, "lockstorm")} {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			k.Fatal(err)
		}
		for _, e := range entries {
			if dir == k.tmp || !finished(dir, e) {
				found = append(found, filepath.Join(dir, e.Name()))
			}
		}
	}
	return found
}

// finished says of something in a cache that it is what runs look for there: a template, or the clock shim.
func finished(dir string, e os.DirEntry) bool {
	_, err := os.Stat(filepath.Join(dir, e.Name(), "data"))
	name, _, _ := strings.Cut(e.Name(), "-")
	return (err == nil && (name == "postgres" || name == "mariadbd")) || (name == "clockshim" && strings.HasSuffix(e.Name(), ".so"))
}

// processes are those that have to do with a folder of the run, were started with one in their environment, or are
// of the controller's group or session.
func (k *killedRun) processes() []string {
	found := processesOf(k.base)
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		k.Fatal(err)
	}
	for _, p := range procs {
		environ, _ := os.ReadFile(filepath.Join(p, "environ")) // of others; or it is gone
		stat, _ := os.ReadFile(filepath.Join(p, "stat"))       // as above
		_, rest, _ := strings.Cut(string(stat), ") ")          // state, parent, group, session
		f := strings.Fields(rest)
		ours := len(f) > 3 && f[0] != "Z" && slices.Contains(f[2:4], fmt.Sprint(k.group))
		if ours || strings.Contains(string(environ), k.base) {
			found = append(found, p)
		}
	}
	return found
}

// mounts are those below its base, in whatever namespace.
func (k *killedRun) mounts() (found []string) {
	tables, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		k.Fatal(err)
	}
	for _, table := range tables {
		text, _ := os.ReadFile(table) // it may be gone
		if strings.Contains(string(text), k.base) {
			found = append(found, table)
		}
	}
	return found
}

// shared are the segments of shared memory of this host, and what a JVM leaves there that was killed.
func shared(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"/dev/shm/*", "/tmp/hsperfdata_*/*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// mapped says whether a living process uses a file, or has its number for a name, as those of a JVM do: other tests
// of this host have theirs.
func mapped(path string) bool {
	if _, err := os.Stat(filepath.Join("/proc", filepath.Base(path))); err == nil {
		return true
	}
	all, _ := filepath.Glob("/proc/[0-9]*/maps") // the pattern is right
	for _, maps := range all {
		text, _ := os.ReadFile(maps) // of others; or it is gone
		if strings.Contains(string(text), path) {
			return true
		}
	}
	return false
}
