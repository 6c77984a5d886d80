package disk

import (
	"time"

	"golang.org/x/sys/unix"
)

const page = 4096

// file is what a regular file has in memory.
//
//	folder  |-- base: valid --|.. stale ..| disk
//	pages          [  ]   [  ]       [  ]
//	program |--------------------------------| size
type file struct {
	size    int64            // as programs see it
	disk    int64            // in the folder
	base    int64            // up to here the folder has what is not in pages; beyond are zeros
	pages   map[int64][]byte // what is not durable, whole pages
	writes  []write          // what is not durable, in order
	dirty   time.Time        // of the first of writes
	emptied bool             // it was truncated to nothing: see closed
}

// write is one that is not durable.
type write struct {
	off   int64
	data  []byte
	after uint64 // it means nothing before this change
}

// write keeps data for a file.
func (d *Disk) write(n *node, off int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if len(n.writes) == 0 {
		n.dirty = d.now()
	}
	n.writes = append(n.writes, write{off, append([]byte(nil), data...), n.changed})
	n.mtime = d.now()
	for len(data) > 0 {
		p, at := off/page, off%page
		into, err := n.page(p, at == 0 && len(data) >= page)
		if err != nil {
			return err
		}
		done := copy(into[at:], data)
		data, off = data[done:], off+int64(done)
		n.size = max(n.size, off)
	}
	return nil
}

// page is one in memory; over: all of it will be overwritten.
func (n *node) page(p int64, over bool) ([]byte, error) {
	if have := n.pages[p]; have != nil {
		return have, nil
	}
	b := make([]byte, page)
	if !over {
		if err := n.fromDisk(b, p*page); err != nil {
			return nil, err
		}
	}
	if n.pages == nil {
		n.pages = map[int64][]byte{}
	}
	n.pages[p] = b
	return b, nil
}

// fromDisk reads what the folder has, into zeros.
func (n *node) fromDisk(b []byte, off int64) error {
	b = b[:max(0, min(int64(len(b)), n.base-off))]
	for len(b) > 0 {
		done, err := unix.Pread(n.fd, b, off)
		if err != nil || done == 0 {
			return err
		}
		b, off = b[done:], off+int64(done)
	}
	return nil
}

// read returns how much it read: less than asked only at the end.
func (n *node) read(b []byte, off int64) (int, error) {
	b = b[:max(0, min(int64(len(b)), n.size-off))]
	clear(b)
	if err := n.fromDisk(b, off); err != nil {
		return 0, err
	}
	if len(n.pages) == 0 {
		return len(b), nil
	}
	for done := int64(0); done < int64(len(b)); {
		at := (off + done) % page
		if p := n.pages[(off+done)/page]; p != nil {
			copy(b[done:], p[at:])
		}
		done += page - at
	}
	return len(b), nil
}

// truncate sets the size of a file.
func (d *Disk) truncate(n *node, size int64) {
	if size == n.size {
		return
	}
	n.emptied = n.emptied || size == 0
	if size < n.size {
		n.clip(size)
	}
	n.size, n.base, n.mtime = size, min(n.base, size), d.now()
	d.note(func() error { return n.setDisk(size) }, n)
}

// clip forgets what is beyond a size.
func (n *node) clip(size int64) {
	for p, b := range n.pages {
		switch {
		case p*page >= size:
			delete(n.pages, p)
		case (p+1)*page > size:
			clear(b[size-p*page:])
		}
	}
	kept := n.writes[:0]
	for _, w := range n.writes {
		if w.data = w.data[:max(0, min(int64(len(w.data)), size-w.off))]; len(w.data) > 0 {
			kept = append(kept, w)
		}
	}
	n.writes = kept
}

// flush makes the data of a file durable. Its changes are so already.
func (n *node) flush() error {
	if !n.is(unix.S_IFREG) || (len(n.pages) == 0 && n.size == n.disk) {
		return nil
	}
	for p, b := range n.pages {
		if err := n.store(p*page, b[:min(page, max(0, n.size-p*page))]); err != nil {
			return err
		}
	}
	n.pages, n.writes, n.base, n.emptied = nil, nil, n.size, false
	return n.setDisk(n.size)
}

// setDisk sets the size of the file in the folder.
func (n *node) setDisk(size int64) error {
	n.disk = size
	return unix.Ftruncate(n.fd, size)
}

// store writes to the folder.
func (n *node) store(off int64, b []byte) error {
	for len(b) > 0 {
		done, err := unix.Pwrite(n.fd, b, off)
		if err != nil {
			return err
		}
		b, off = b[done:], off+int64(done)
	}
	return nil
}

// flushed makes the data of a file durable with the change that is noted next, unless the file changes again before.
func (d *Disk) flushed(n *node) func() error {
	at := d.next()
	return func() error {
		if n.changed != at {
			return nil
		}
		return n.flush()
	}
}

// closed is called when a program closes a file. One that was emptied and written anew is durable with
// the next commit.
func (d *Disk) closed(n *node) {
	if n.emptied && len(n.pages) > 0 {
		n.emptied = false
		d.note(d.flushed(n), n)
	}
}

// refresh looks at a file again that has nothing in memory: lockstorm may have written it anew.
func (d *Disk) refresh(n *node) error {
	if !n.is(unix.S_IFREG) || n.fd < 0 || len(n.pages) > 0 || n.changed > d.done {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(n.fd, &st); err != nil {
		return err
	}
	n.size, n.base, n.disk = st.Size, st.Size, st.Size
	return nil
}
