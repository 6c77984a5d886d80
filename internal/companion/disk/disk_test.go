package disk

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/internal/companion"
)

// differs is a name of which two trees have different contents; empty: there is none.
func differs(got, want map[string]string) string {
	for name := range merged(got, want) {
		a, has := got[name]
		b, should := want[name]
		if a != b || has != should {
			return fmt.Sprintf("%s: there %v (%d bytes), want %v (%d bytes)", name, has, len(a), should, len(b))
		}
	}
	return ""
}

func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// weather makes a storm of a seed and says in what the disk differs from its twin: in what programs see, or after the power is
// lost in what is left.
func weather(t *testing.T, seed uint64, mutant string) string {
	t.Helper()
	m := start(t, t.TempDir(), mutant)
	s := &storm{newTwin(), rand.New(rand.NewPCG(seed, 0)), m.root}
	for i := range 10 + s.rnd.IntN(60) {
		if err := s.step(); err != nil {
			t.Fatalf("seed %d, step %d: %v", seed, i, err)
		}
	}
	seen, err := tree(m.root)
	m.check(err)
	if d := differs(seen, s.live.tree()); d != "" {
		return "with power: " + d
	}
	loss := m.cut(companion.KeepNothing, seed)
	left, err := tree(m.dir)
	m.check(err)
	if d := differs(left, s.durable.tree()); d != "" {
		return "without power: " + d
	}
	if d := differs(left, seen); d != "" && len(loss.Files)+loss.Changes == 0 {
		return "no loss is told: " + d
	}
	return ""
}

// replaced says what is wrong after these: one file replaces another one, with data that nobody synced, and a third is synced; a
// name is new, and a file is written where it has data already, with fdatasync.
func replaced(t *testing.T, mutant string) string {
	t.Helper()
	m := start(t, t.TempDir(), mutant)
	m.check(m.write("config", "old", 0).Sync())
	m.check(m.write("config.new", "anew", 0).Close())
	m.check(os.Rename(filepath.Join(m.root, "config.new"), filepath.Join(m.root, "config")))
	other := m.write("log", "0123456789", 0)
	m.check(other.Sync())
	m.write("new", "", 0)
	_, err := other.WriteAt([]byte("x"), 5)
	m.check(err)
	m.check(syscall.Fdatasync(int(other.Fd())))
	m.cut(companion.KeepNothing, 1)
	left, err := tree(m.dir)
	m.check(err)
	return differs(left, map[string]string{"config": "anew", "log": "01234x6789"})
}

// A file that replaces another one has its data, and fdatasync makes no name durable that it does not need.
func TestReplaced(t *testing.T) {
	if d := replaced(t, ""); d != "" {
		t.Error(d)
	}
}

const storms = 30

// What is left after a loss of power is what a disk as simple as it can be has, to the byte.
func TestTwin(t *testing.T) {
	for seed := range uint64(storms) {
		if d := weather(t, seed+1, ""); d != "" {
			t.Errorf("seed %d: %s", seed+1, d)
		}
	}
}

// Every disk that is wrong is noticed by some storm.
func TestMutants(t *testing.T) {
	for name := range mutants {
		if name == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := replaced(t, name); d != "" {
				t.Log(d)
				return
			}
			for seed := range uint64(storms) {
				if d := weather(t, seed+1, name); d != "" {
					t.Logf("seed %d: %s", seed+1, d)
					return
				}
			}
			t.Error("it is not noticed")
		})
	}
}

// write writes to a file, from its beginning, without a sync.
func (m *mounted) write(name, text string, flags int) *os.File {
	m.t.Helper()
	f, err := os.OpenFile(filepath.Join(m.root, name), os.O_CREATE|os.O_WRONLY|flags, 0o600)
	m.check(err)
	_, err = f.WriteString(text)
	m.check(err)
	m.t.Cleanup(func() { f.Close() }) //nolint:errcheck // its disk is gone
	return f
}

// has wants a file to have this after a loss of power.
func (m *mounted) has(name, want string) {
	m.t.Helper()
	b, err := os.ReadFile(filepath.Join(m.dir, name))
	m.check(err)
	if string(b) != want {
		m.t.Errorf("%s has %d bytes, want %d", name, len(b), len(want))
	}
}

// The loss names the files, how much each lost, and the words in it.
func TestLoss(t *testing.T) {
	m := start(t, t.TempDir(), "")
	m.check(m.write("log", "acknowledged and synced\n", 0).Sync())
	f := m.write("log", "", os.O_APPEND)
	_, err := f.WriteString("lock:L1 is mine\n")
	m.check(err)
	m.write("new", strings.Repeat("x", 9000), 0)
	m.write("sync", "whole", syscall.O_DSYNC)
	loss := m.cut(companion.KeepNothing, 1, "lock:L1", "lock:L2")
	want := "[{log 16 false [lock:L1]} {new 9000 false []}] 0" // the name of the second is durable by the sync of the third
	if got := fmt.Sprint(loss.Files, loss.Changes); got != want {
		t.Errorf("lost is %s, want %s", got, want)
	}
	m.has("log", "acknowledged and synced\n")
	m.has("new", "")
	m.has("sync", "whole")
}

// With prefix a random beginning of each file is left, with torn all but a part of its last page, in sectors.
func TestWhatIsKept(t *testing.T) {
	for keeps, may := range map[string]func(size int) bool{
		companion.KeepPrefix: func(size int) bool { return size%sector == 0 },
		companion.KeepTorn:   func(size int) bool { return size > 4*page && size < 5*page && size%sector == 0 },
	} {
		sizes := map[int]bool{}
		for draw := range uint64(12) {
			m := start(t, t.TempDir(), "")
			m.check(m.write("log", "", 0).Sync())
			text := strings.Repeat("0123456789abcdef", 5*page/16)
			f := m.write("log", "", 0)
			for i := 0; i < len(text); i += 2 * sector {
				_, err := f.WriteString(text[i : i+2*sector])
				m.check(err)
			}
			m.cut(keeps, draw)
			b, err := os.ReadFile(filepath.Join(m.dir, "log"))
			m.check(err)
			if !strings.HasPrefix(text, string(b)) || !may(len(b)) {
				t.Errorf("%s, draw %d: %d bytes are left", keeps, draw, len(b))
			}
			sizes[len(b)] = true
		}
		if keeps == companion.KeepPrefix && len(sizes) < 4 {
			t.Errorf("%s leaves the same for all draws: %v", keeps, sizes)
		}
	}
}

// What was written by mmap is lost until msync, and a file that was prepared before the mount and written anew beside it is seen.
func TestMapped(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := start(t, dir, "")
	f := m.write("map", strings.Repeat("-", 2*page), 0)
	m.check(f.Sync())
	rw, err := os.OpenFile(filepath.Join(m.root, "map"), os.O_RDWR, 0)
	m.check(err)
	b, err := unix.Mmap(int(rw.Fd()), 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	m.check(err)
	copy(b, "synced")
	m.check(unix.Msync(b, unix.MS_SYNC))
	copy(b[page:], "never")
	if seen, err := os.ReadFile(filepath.Join(m.root, "config")); string(seen) != "old" {
		t.Errorf("config is %q, %v", seen, err)
	}
	m.check(os.WriteFile(config, []byte("written anew"), 0o600))
	if seen, err := os.ReadFile(filepath.Join(m.root, "config")); string(seen) != "written anew" {
		t.Errorf("config is %q, %v", seen, err)
	}
	m.check(unix.Munmap(b))
	m.check(rw.Close())
	m.cut(companion.KeepNothing, 1)
	m.has("map", "synced"+strings.Repeat("-", 2*page-6))
}

// What is old is durable without a sync: changes of names after 5 s, data after 30 s. A disk that is ended, and not cut, has all.
func TestAge(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	d, err := Open(dir, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	n, err := d.create(d.nodes[rootID], "file", node{mode: unix.S_IFREG | 0o600})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.write(n, 0, []byte("old")); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		after time.Duration
		want  string
	}{{4 * time.Second, ""}, {time.Second, "file "}, {24 * time.Second, "file "}, {time.Second, "file old"}} {
		now = now.Add(one.after)
		if err := d.Age(); err != nil {
			t.Fatal(err)
		}
		got := ""
		for name, text := range must(tree(dir)) {
			got += name + " " + text
		}
		if got != one.want {
			t.Errorf("after %v more there is %q, want %q", one.after, got, one.want)
		}
	}
	m := start(t, t.TempDir(), "")
	m.write("f", "all", 0)
	m.end()
	m.has("f", "all")
}

func must(m map[string]string, err error) map[string]string {
	if err != nil {
		panic(err)
	}
	return m
}

// A disk asks itself nothing: one that gives no answers is mounted, and can be killed. Else the thread that waits for an answer
// would keep its process for ever.
func TestADiskDoesNotAskItself(t *testing.T) {
	m := start(t, t.TempDir(), deafDisk)
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	m.killed = true
	m.check(m.process.Kill(ctx))
}
