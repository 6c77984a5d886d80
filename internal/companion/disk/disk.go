// Package disk is a file system that forgets, when its power is lost, what no program has synced. Its files lie in a folder of a
// real file system, which always holds what a disk would hold; what is not yet durable is kept in memory, apart. A [Disk] is that
// state, and [Serve] has the kernel ask it.
//
//	write, create, rename ... -> memory --- fsync, fdatasync, O_SYNC, age ---> folder
//	                               '------- [Disk.Cut] ------> nowhere
//
// It promises what ext4 promises with its defaults (data=ordered, delayed allocation, auto_da_alloc, commit=5:
// https://www.kernel.org/doc/html/latest/admin-guide/ext4.html), and no more:
//
//   - Changes of names, and sizes that truncate sets, become durable in their order, all together: when a file or a folder that
//     has such a change is synced, and after 5 s.
//   - Data, and the size that it gives a file, become durable when that file is synced, and after 30 s, the kernel's
//     vm.dirty_expire_centisecs; never before the file's name.
//   - The data of a file that replaces another one by rename, or that was emptied and written anew, is durable with that change.
//
// sync(2) and syncfs(2) are not seen. What is written through mmap becomes durable by msync or fsync, as above.
package disk

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How old something may be that is not durable.
const (
	commitAge = 5 * time.Second
	dataAge   = 30 * time.Second
)

// rootID is the number of the folder itself, as FUSE has it.
const rootID = 1

// Disk is safe for concurrent use.
type Disk struct {
	mu      sync.Mutex
	now     func() time.Time
	nodes   map[uint64]*node
	last    uint64   // number of the newest node
	journal []change // in order
	done    uint64   // how many changes have become durable
	cut     bool     // the power is lost
}

// change is one of names or of a size.
type change struct {
	at    time.Time
	nodes []*node      // that it concerns, the one above all first
	apply func() error // makes it durable
}

// node is a file, a folder or a link.
type node struct {
	id       uint64
	mode     uint32 // with its type
	uid, gid uint32
	dev      uint32
	mtime    time.Time
	fd       int    // in the real file system; -1: it is not there yet
	names    int    // by which it is found
	lookups  uint64 // that the kernel has not forgotten
	changed  uint64 // the last change in the journal that it is part of, counted from the first ever
	parent   *node
	name     string // below parent, for people

	children map[string]*node  // of a folder: those that were asked for
	gone     map[string]uint64 // names that were deleted, and by which change

	listed []entry // as the last reader from its beginning was told

	target string // of a symbolic link

	file
}

// Open returns the disk with the files in a folder. It looks at them when it is asked for them.
func Open(dir string, now func() time.Time) (*Disk, error) {
	d := &Disk{now: now, nodes: map[uint64]*node{}}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", dir, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	d.add(known(&st, fd)).names = 1
	return d, nil
}

// known is a node that is in the real file system.
func known(st *unix.Stat_t, fd int) *node {
	n := &node{mode: st.Mode, uid: st.Uid, gid: st.Gid, dev: uint32(st.Rdev), fd: fd, mtime: time.Unix(st.Mtim.Unix())}
	n.size, n.base, n.disk = st.Size, st.Size, st.Size
	return n
}

func (d *Disk) add(n *node) *node {
	d.last++
	n.id = d.last
	if n.is(unix.S_IFDIR) {
		n.children, n.gone = map[string]*node{}, map[string]uint64{}
	}
	d.nodes[n.id] = n
	return n
}

func (n *node) is(kind uint32) bool { return n.mode&unix.S_IFMT == kind }

// path is one by which people know it.
func (n *node) path() string {
	if n.parent == nil {
		return "."
	}
	if above := n.parent.path(); above != "." {
		return above + "/" + n.name
	}
	return n.name
}

// note puts a change into the journal.
func (d *Disk) note(apply func() error, nodes ...*node) {
	d.journal = append(d.journal, change{d.now(), nodes, apply})
	for _, n := range nodes {
		n.changed = d.next() - 1
	}
}

// next is the number of the next change.
func (d *Disk) next() uint64 { return d.done + uint64(len(d.journal)) + 1 }

// commit makes the first n changes durable.
func (d *Disk) commit(n int) error {
	for _, c := range d.journal[:n] {
		if err := c.apply(); err != nil {
			return fmt.Errorf("cannot change %s: %w", c.nodes[0].path(), err)
		}
		d.done++
	}
	over := d.journal[:n]
	d.journal = d.journal[n:]
	for _, c := range over {
		for _, one := range c.nodes {
			d.drop(one)
		}
	}
	return nil
}

// drop forgets a node that nobody can ask for any more.
func (d *Disk) drop(n *node) {
	if n.names > 0 || n.lookups > 0 || n.changed > d.done || d.nodes[n.id] != n {
		return
	}
	delete(d.nodes, n.id)
	if n.fd >= 0 {
		unix.Close(n.fd) //nolint:errcheck // nobody has its name
	}
}

// sync makes a node durable; data: only what is needed to read its data.
func (d *Disk) sync(n *node, data bool) error {
	if n.changed > d.done || n.size != n.disk || (!data && len(n.pages) > 0) {
		if err := d.commit(len(d.journal)); err != nil {
			return err
		}
	}
	return n.flush()
}

// Age makes durable what is so old that the kernel would have written it.
func (d *Disk) Age() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if len(d.journal) > 0 && now.Sub(d.journal[0].at) >= commitAge {
		if err := d.commit(len(d.journal)); err != nil {
			return err
		}
	}
	for _, n := range d.nodes {
		if len(n.writes) > 0 && now.Sub(n.dirty) >= dataAge {
			if err := d.sync(n, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sync makes everything durable.
func (d *Disk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.commit(len(d.journal)); err != nil {
		return err
	}
	for _, n := range d.nodes {
		if err := n.flush(); err != nil {
			return err
		}
	}
	return nil
}

// find is what has a name in a folder; nil: nothing has.
func (d *Disk) find(dir *node, name string) (*node, error) {
	if n := dir.children[name]; n != nil {
		return n, nil
	}
	if dir.fd < 0 || dir.gone[name] > d.done {
		return nil, nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err == unix.ENOENT {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	fd, err := openAt(dir.fd, name, st.Mode, 0)
	if err != nil {
		return nil, err
	}
	n := known(&st, fd)
	if n.is(unix.S_IFLNK) {
		to := make([]byte, unix.PathMax)
		size, err := unix.Readlinkat(dir.fd, name, to)
		if err != nil {
			return nil, err
		}
		n.target = string(to[:size])
	}
	dir.put(name, d.add(n))
	return n, nil
}

// openAt opens what has the type of mode; others than files and folders are only named by the descriptor.
func openAt(dir int, name string, mode uint32, flags int) (int, error) {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		flags |= unix.O_RDWR
	case unix.S_IFDIR:
		flags |= unix.O_RDONLY | unix.O_DIRECTORY
	default:
		flags |= unix.O_PATH
	}
	return unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode&0o7777)
}

// put gives a node a name.
func (dir *node) put(name string, n *node) {
	dir.children[name] = n
	n.parent, n.name = dir, name
	n.names++
}

// take takes a name away, by the next change.
func (d *Disk) take(dir *node, name string) {
	dir.children[name].names--
	delete(dir.children, name)
	dir.gone[name] = d.next()
	dir.mtime = d.now()
}

// errno is what a program is told.
func errno(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	if e, ok := err.(syscall.Errno); ok { //nolint:errorlint // what is wrapped is our own failure
		return e
	}
	return syscall.EIO
}
