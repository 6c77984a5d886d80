package disk

import (
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// mount mounts what answers the kernel, until this process ends. It must not look into the mount, as the library's WaitMount
// does: a process that is killed while it waits for its own answer never ends.
func mount(fs fuse.RawFileSystem, dir string) error {
	s, err := fuse.NewServer(fs, dir, &fuse.MountOptions{
		AllowOther: true, Options: []string{"default_permissions"}, FsName: "lockstorm", Name: "lockstorm", DirectMountStrict: true,
		DisableXAttrs: true, DisableReadDirPlus: true,
	})
	if err != nil {
		return err
	}
	go s.Serve()
	return nil
}

// kernel answers the kernel.
type kernel struct {
	fuse.RawFileSystem
	d *Disk
}

func newKernel(d *Disk) *kernel { return &kernel{fuse.NewDefaultRawFileSystem(), d} }

// do does something to a node.
func (k *kernel) do(id uint64, f func(n *node) error) fuse.Status {
	k.d.mu.Lock()
	defer k.d.mu.Unlock()
	if err := k.d.alive(); err != nil {
		return fuse.Status(errno(err))
	}
	n := k.d.nodes[id]
	if n == nil {
		return fuse.ENOENT
	}
	return fuse.Status(errno(f(n)))
}

// nameAge is for how long the kernel need not ask for a name again: nobody else changes names. lockstorm may write files anew.
const nameAge = time.Second

func (k *kernel) found(n *node, out *fuse.EntryOut) error {
	n.lookups++
	out.NodeId, out.Generation = n.id, 1
	out.SetEntryTimeout(nameAge)
	return k.attr(n, &out.Attr)
}

func (k *kernel) attr(n *node, out *fuse.Attr) error {
	if err := k.d.refresh(n); err != nil {
		return err
	}
	out.Ino, out.Size, out.Blocks, out.Blksize = n.id, uint64(n.size), uint64(n.size+sector-1)/sector, page
	out.Mode, out.Nlink, out.Uid, out.Gid, out.Rdev = n.mode, uint32(n.names), n.uid, n.gid, n.dev
	out.SetTimes(&n.mtime, &n.mtime, &n.mtime)
	return nil
}

func (k *kernel) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return k.do(h.NodeId, func(dir *node) error {
		n, err := k.d.find(dir, name)
		if err != nil {
			return err
		}
		if n == nil {
			return unix.ENOENT
		}
		return k.found(n, out)
	})
}

func (k *kernel) Forget(id, lookups uint64) {
	k.do(id, func(n *node) error {
		n.lookups -= lookups
		k.d.drop(n)
		return nil
	})
}

func (k *kernel) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return k.do(in.NodeId, func(n *node) error { return k.attr(n, &out.Attr) })
}

func (k *kernel) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return k.do(in.NodeId, func(n *node) error {
		if size, ok := in.GetSize(); ok {
			k.d.truncate(n, int64(size))
		}
		if t, ok := in.GetMTime(); ok {
			n.mtime = t
		}
		mode, chmod := in.GetMode()
		if chmod {
			n.mode = n.mode&unix.S_IFMT | mode&0o7777
		}
		uid, chown := in.GetUID()
		if chown {
			n.uid = uid
		}
		gid, chgrp := in.GetGID()
		if chgrp {
			n.gid = gid
		}
		if chmod || chown || chgrp {
			if err := n.own(); err != nil {
				return err
			}
		}
		return k.attr(n, &out.Attr)
	})
}

// make makes something new, and keeps it in out.
func (k *kernel) make(h *fuse.InHeader, name string, made node, out *fuse.EntryOut) fuse.Status {
	made.uid, made.gid = h.Uid, h.Gid
	return k.do(h.NodeId, func(dir *node) error {
		n, err := k.d.create(dir, name, made)
		if err != nil {
			return err
		}
		return k.found(n, out)
	})
}

func (k *kernel) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	return k.make(&in.InHeader, name, node{mode: in.Mode, dev: in.Rdev}, out)
}

func (k *kernel) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return k.make(&in.InHeader, name, node{mode: in.Mode&0o7777 | unix.S_IFDIR}, out)
}

func (k *kernel) Symlink(_ <-chan struct{}, h *fuse.InHeader, to, name string, out *fuse.EntryOut) fuse.Status {
	return k.make(h, name, node{mode: 0o777 | unix.S_IFLNK, target: to, file: file{size: int64(len(to))}}, out)
}

func (k *kernel) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return k.make(&in.InHeader, name, node{mode: in.Mode&0o7777 | unix.S_IFREG}, &out.EntryOut)
}

func (k *kernel) Readlink(_ <-chan struct{}, h *fuse.InHeader) (out []byte, s fuse.Status) {
	s = k.do(h.NodeId, func(n *node) error {
		out = []byte(n.target)
		return nil
	})
	return out, s
}

func (k *kernel) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return k.do(h.NodeId, func(dir *node) error { return k.d.remove(dir, name, false) })
}

func (k *kernel) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return k.do(h.NodeId, func(dir *node) error { return k.d.remove(dir, name, true) })
}

func (k *kernel) Rename(_ <-chan struct{}, in *fuse.RenameIn, old, name string) fuse.Status {
	if in.Flags&^unix.RENAME_NOREPLACE != 0 {
		return fuse.EINVAL
	}
	return k.do(in.NodeId, func(from *node) error {
		to := k.d.nodes[in.Newdir]
		if to == nil {
			return unix.ENOENT
		}
		return k.d.rename(from, old, to, name, in.Flags == 0)
	})
}

func (k *kernel) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	return k.do(in.NodeId, func(dir *node) error {
		n := k.d.nodes[in.Oldnodeid]
		if n == nil {
			return unix.ENOENT
		}
		if err := k.d.link(n, dir, name); err != nil {
			return err
		}
		return k.found(n, out)
	})
}

func (k *kernel) Open(_ <-chan struct{}, in *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	return k.do(in.NodeId, func(n *node) error {
		if in.Flags&unix.O_TRUNC != 0 {
			k.d.truncate(n, 0)
		}
		return k.d.refresh(n)
	})
}

func (k *kernel) Read(_ <-chan struct{}, in *fuse.ReadIn, b []byte) (out fuse.ReadResult, s fuse.Status) {
	s = k.do(in.NodeId, func(n *node) error {
		size, err := n.read(b[:min(len(b), int(in.Size))], int64(in.Offset))
		out = fuse.ReadResultData(b[:size])
		return err
	})
	return out, s
}

func (k *kernel) Write(_ <-chan struct{}, in *fuse.WriteIn, b []byte) (uint32, fuse.Status) {
	return uint32(len(b)), k.do(in.NodeId, func(n *node) error {
		if err := k.d.write(n, int64(in.Offset), b); err != nil || in.Flags&unix.O_DSYNC == 0 {
			return err
		}
		return k.d.sync(n, in.Flags&unix.O_SYNC != unix.O_SYNC)
	})
}

func (k *kernel) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	return k.do(in.NodeId, func(n *node) error {
		if in.Mode&^unix.FALLOC_FL_KEEP_SIZE != 0 {
			return unix.EOPNOTSUPP
		}
		if end := int64(in.Offset + in.Length); in.Mode == 0 && end > n.size {
			k.d.truncate(n, end)
		}
		return nil
	})
}

func (k *kernel) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return k.do(in.NodeId, func(n *node) error { return k.d.sync(n, in.FsyncFlags&1 != 0) })
}

func (k *kernel) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return k.do(in.NodeId, func(n *node) error { return k.d.sync(n, true) })
}

func (k *kernel) Flush(_ <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	return k.do(in.NodeId, func(n *node) error {
		k.d.closed(n)
		return nil
	})
}

func (k *kernel) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	return k.do(in.NodeId, func(n *node) error {
		n.listed = nil
		return nil
	})
}

func (k *kernel) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return k.do(in.NodeId, func(n *node) (err error) {
		if in.Offset == 0 {
			if n.listed, err = k.d.list(n); err != nil {
				return err
			}
		}
		for i := int(in.Offset); i < len(n.listed); i++ {
			if !out.AddDirEntry(fuse.DirEntry{Name: n.listed[i].name, Mode: n.listed[i].mode, Off: uint64(i) + 1}) {
				break
			}
		}
		return nil
	})
}

func (k *kernel) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	return k.do(rootID, func(n *node) error {
		var st unix.Statfs_t
		if err := unix.Fstatfs(n.fd, &st); err != nil {
			return err
		}
		out.Blocks, out.Bfree, out.Bavail, out.Files, out.Ffree = st.Blocks, st.Bfree, st.Bavail, st.Files, st.Ffree
		out.Bsize, out.Frsize, out.NameLen = uint32(st.Bsize), uint32(st.Frsize), uint32(st.Namelen)
		return nil
	})
}
