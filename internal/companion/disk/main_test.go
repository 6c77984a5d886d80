package disk

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/leaktest"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// envMutant names the one of mutants that the disk is, if any.
const envMutant = "LOCKSTORM_DISK_MUTANT"

// The test binary starts itself again as a disk whose time stands still: nothing grows old there.
func TestMain(m *testing.M) {
	if os.Getenv(companion.EnvPart) == companion.Disk {
		now := time.Now()
		still := func() time.Time { return now }
		change := mutants[os.Getenv(envMutant)]
		if os.Getenv(envMutant) == deafDisk {
			change = func(k *kernel) fuse.RawFileSystem { return &deaf{k} }
		}
		if err := serve(os.Args[1], still, change); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	companion.BeOwn()
	leaktest.Main(m)
}

const testLimit = time.Minute

// mounted is a disk in a process of its own.
type mounted struct {
	t       *testing.T
	dir     string // what is durable
	root    string // what programs see
	process *proc.Process
	in      io.WriteCloser
	out     *json.Decoder
	killed  bool
}

// start mounts a disk; it ends with the test.
func start(t *testing.T, dir, mutant string) *mounted {
	t.Helper()
	if err := proc.Mountable(); err != nil {
		t.Fatalf("%v: be root, on a host with /dev/fuse", err)
	}
	cmd, err := companion.Command(companion.Disk, dir)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, envMutant+"="+mutant)
	cmd.Stderr = os.Stderr
	m := &mounted{t: t, dir: dir}
	if m.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, m.out = w, json.NewDecoder(out)
	starter := proc.NewStarter()
	m.process, err = starter.StartMounting("disk", cmd)
	w.Close() //nolint:errcheck // it has its own
	t.Cleanup(func() {
		m.end()
		starter.Close()
		out.Close() //nolint:errcheck // it was only read
	})
	if err != nil {
		t.Fatal(err)
	}
	m.answer()
	m.root = fmt.Sprintf("/proc/%d/root%s", m.process.Pid(), dir)
	return m
}

func (m *mounted) answer() (a companion.DiskAnswer) {
	m.t.Helper()
	if err := m.out.Decode(&a); err != nil || a.Error != "" {
		m.t.Fatalf("the disk: %v, %q", err, a.Error)
	}
	return a
}

func (m *mounted) ask(c companion.DiskCall) companion.DiskAnswer {
	m.t.Helper()
	m.check(json.NewEncoder(m.in).Encode(c))
	return m.answer()
}

// cut takes the power away and waits for the disk to be gone.
func (m *mounted) cut(keeps string, draw uint64, words ...string) companion.Loss {
	m.t.Helper()
	loss := m.ask(companion.DiskCall{Keeps: keeps, Draw: draw, Words: words}).Loss
	m.end()
	return loss
}

func (m *mounted) end() {
	m.t.Helper()
	m.in.Close() //nolint:errcheck // it may have ended
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	if err := m.process.Wait(ctx); !m.killed {
		m.check(err)
	}
}

func (m *mounted) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// tree is all below a folder: the content of files by their paths, and folders with a slash behind their path.
func tree(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name := path[len(dir)+1:]
		if e.IsDir() {
			out[name+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		out[name] = string(b)
		return err
	})
	return out, err
}

// mutants are disks that are wrong, by name; the empty name is the right one.
var mutants = map[string]func(*kernel) fuse.RawFileSystem{
	"":                               func(k *kernel) fuse.RawFileSystem { return k },
	"writes are durable":             func(k *kernel) fuse.RawFileSystem { return &durableWrites{k} },
	"fsync does nothing":             func(k *kernel) fuse.RawFileSystem { return &noSync{k} },
	"new names are durable":          func(k *kernel) fuse.RawFileSystem { return &durableNames{k} },
	"renames are durable":            func(k *kernel) fuse.RawFileSystem { return &durableRenames{k} },
	"fsync syncs every file":         func(k *kernel) fuse.RawFileSystem { return &syncAll{k} },
	"a rename forgets its data":      func(k *kernel) fuse.RawFileSystem { return &lostReplacement{k} },
	"fdatasync commits every change": func(k *kernel) fuse.RawFileSystem { return &eagerData{k} },
}

// deafDisk never answers what a file is.
const deafDisk = "deaf"

type deaf struct{ *kernel }

func (*deaf) GetAttr(<-chan struct{}, *fuse.GetAttrIn, *fuse.AttrOut) fuse.Status { select {} }

type durableWrites struct{ *kernel }

func (m *durableWrites) Write(c <-chan struct{}, in *fuse.WriteIn, b []byte) (uint32, fuse.Status) {
	n, s := m.kernel.Write(c, in, b)
	return n, max(s, m.do(in.NodeId, func(n *node) error { return m.d.sync(n, true) }))
}

type noSync struct{ *kernel }

func (*noSync) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return fuse.OK }

type durableNames struct{ *kernel }

func (m *durableNames) Create(c <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return max(m.kernel.Create(c, in, name, out), m.do(rootID, func(*node) error { return m.d.commit(len(m.d.journal)) }))
}

type durableRenames struct{ *kernel }

func (m *durableRenames) Rename(c <-chan struct{}, in *fuse.RenameIn, old, name string) fuse.Status {
	return max(m.kernel.Rename(c, in, old, name), m.do(rootID, func(*node) error { return m.d.commit(len(m.d.journal)) }))
}

type syncAll struct{ *kernel }

func (m *syncAll) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status {
	if m.d.Sync() != nil {
		return fuse.EIO
	}
	return fuse.OK
}

type lostReplacement struct{ *kernel }

func (m *lostReplacement) Rename(c <-chan struct{}, in *fuse.RenameIn, old, name string) fuse.Status {
	m.do(in.Newdir, func(to *node) error { return m.d.remove(to, name, false) })
	return m.kernel.Rename(c, in, old, name)
}

type eagerData struct{ *kernel }

func (m *eagerData) Fsync(c <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	in.FsyncFlags = 0
	return m.kernel.Fsync(c, in)
}
