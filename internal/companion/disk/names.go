package disk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// create makes something new.
func (d *Disk) create(dir *node, name string, made node) (*node, error) {
	if there, err := d.find(dir, name); err != nil || there != nil {
		return nil, orExists(err)
	}
	made.fd, made.mtime = -1, d.now()
	n := d.add(&made)
	dir.put(name, n)
	dir.mtime = n.mtime
	d.note(func() error { return n.appear(dir, name) }, n, dir)
	return n, nil
}

func orExists(err error) error {
	if err == nil {
		err = unix.EEXIST
	}
	return err
}

// appear makes a node in the real file system.
func (n *node) appear(dir *node, name string) (err error) {
	flags := 0
	switch n.mode & unix.S_IFMT {
	case unix.S_IFREG:
		flags = unix.O_CREAT | unix.O_EXCL
	case unix.S_IFDIR:
		err = unix.Mkdirat(dir.fd, name, n.mode&0o7777)
	case unix.S_IFLNK:
		err = unix.Symlinkat(n.target, dir.fd, name)
	default:
		err = unix.Mknodat(dir.fd, name, n.mode, int(n.dev))
	}
	if err == nil {
		n.fd, err = openAt(dir.fd, name, n.mode, flags)
	}
	if err == nil {
		err = n.own()
	}
	return err
}

// own gives what is in the real file system its owner and its mode.
func (n *node) own() error {
	if n.fd < 0 {
		return nil
	}
	err := unix.Fchownat(n.fd, "", int(n.uid), int(n.gid), unix.AT_EMPTY_PATH)
	if err != nil || !n.is(unix.S_IFREG) && !n.is(unix.S_IFDIR) {
		return err
	}
	return unix.Fchmod(n.fd, n.mode&0o7777)
}

// link gives a file another name.
func (d *Disk) link(n, dir *node, name string) error {
	if there, err := d.find(dir, name); err != nil || there != nil {
		return orExists(err)
	}
	dir.put(name, n)
	d.note(func() error {
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", n.fd), dir.fd, name, unix.AT_SYMLINK_FOLLOW)
	}, n, dir)
	return nil
}

// remove takes a name away; of a folder, if it is empty.
func (d *Disk) remove(dir *node, name string, folder bool) error {
	n, err := d.find(dir, name)
	if err != nil {
		return err
	}
	if n == nil {
		return unix.ENOENT
	}
	if err := d.removable(n, folder); err != nil {
		return err
	}
	d.take(dir, name)
	flags := 0
	if folder {
		flags = unix.AT_REMOVEDIR
	}
	d.note(func() error { return unix.Unlinkat(dir.fd, name, flags) }, n, dir)
	return nil
}

// removable is nil for a file, or for an empty folder.
func (d *Disk) removable(n *node, folder bool) error {
	switch {
	case !folder && n.is(unix.S_IFDIR):
		return unix.EISDIR
	case !folder:
		return nil
	case !n.is(unix.S_IFDIR):
		return unix.ENOTDIR
	}
	names, err := d.list(n)
	if err == nil && len(names) > 0 {
		err = unix.ENOTEMPTY
	}
	return err
}

// rename moves a name; the data of a file that replaces another one is durable with it.
func (d *Disk) rename(from *node, old string, to *node, name string, replace bool) error {
	n, err := d.find(from, old)
	if err != nil {
		return err
	}
	if n == nil {
		return unix.ENOENT
	}
	there, err := d.find(to, name)
	if err != nil || there == n {
		return err
	}
	apply := func() error { return unix.Renameat(from.fd, old, to.fd, name) }
	nodes := []*node{n, from, to}
	if there != nil {
		if !replace {
			return unix.EEXIST
		}
		if err := d.removable(there, n.is(unix.S_IFDIR)); err != nil {
			return err
		}
		flush, moved := d.flushed(n), apply
		apply = func() error {
			if err := flush(); err != nil {
				return err
			}
			return moved()
		}
		d.take(to, name)
		nodes = append(nodes, there)
	}
	d.take(from, old)
	to.put(name, n)
	d.note(apply, nodes...)
	return nil
}

// entry is a name in a folder.
type entry struct {
	name string
	mode uint32
}

// list is what is in a folder.
func (d *Disk) list(dir *node) (out []entry, err error) {
	for name, n := range dir.children {
		out = append(out, entry{name, n.mode})
	}
	if dir.fd < 0 {
		return out, nil
	}
	there, err := os.ReadDir(fmt.Sprintf("/proc/self/fd/%d", dir.fd))
	for _, e := range there {
		if dir.children[e.Name()] != nil || dir.gone[e.Name()] > d.done {
			continue
		}
		mode := uint32(unix.S_IFREG)
		if e.IsDir() {
			mode = unix.S_IFDIR
		}
		out = append(out, entry{e.Name(), mode})
	}
	return out, err
}
