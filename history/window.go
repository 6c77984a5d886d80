package history

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// window is the end of a log in memory. What is written to it is in the file at once, as with write(2), whoever is killed, and
// costs no system call. Behind it the file has zero bytes, which a log that was not closed keeps: [written] leaves them out.
type window struct {
	file *os.File
	mem  []byte
	at   int   // in mem, where the next byte goes
	off  int64 // of mem in the file
	flat bool  // the file system has no such memory, and write(2) is called
}

// Lengths of windows in bytes: a client that records little takes little of the disk.
const (
	firstWindow = 64 << 10
	lastWindow  = 1 << 20
)

// write appends to the log. Where the disk is full it fails, and keeps what had room, as write(2) does.
func (w *window) write(b []byte) error {
	for len(b) > 0 {
		if w.at == len(w.mem) && !w.flat {
			if err := w.next(); err != nil {
				return err
			}
		}
		if w.flat {
			_, err := w.file.Write(b)
			return err
		}
		n := copy(w.mem[w.at:], b)
		w.at, b = w.at+n, b[n:]
	}
	return nil
}

// next takes the following part of the file, for which it asks for room on the disk: to write to memory without would end the
// process.
func (w *window) next() error {
	length := min(max(firstWindow, 2*len(w.mem)), lastWindow)
	off := w.off + int64(len(w.mem))
	if err := w.unmap(); err != nil {
		return err
	}
	fd := int(w.file.Fd())
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) { // Go's scheduler sends signals, and some file systems heed them
		err = unix.Fallocate(fd, 0, off, int64(length))
	}
	if err == nil {
		w.mem, err = unix.Mmap(fd, off, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	w.off, w.at = off, 0
	if off == 0 && (errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENODEV)) {
		w.flat = true
		return w.file.Truncate(0)
	}
	return err
}

func (w *window) unmap() error {
	if w.mem == nil {
		return nil
	}
	mem := w.mem
	w.mem = nil
	return unix.Munmap(mem)
}

// close gives back what was not written, and closes the file.
func (w *window) close() error {
	var err error
	if !w.flat {
		end := w.off + int64(w.at)
		err = errors.Join(w.unmap(), w.file.Truncate(end))
	}
	return errors.Join(err, w.file.Close())
}

// Trim removes the zero bytes at the end of a log whose party was killed.
func Trim(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is truncated, and nothing else
	st, err := f.Stat()
	if err != nil {
		return err
	}
	size, err := written(f, st.Size())
	if err != nil || size == st.Size() {
		return err
	}
	return f.Truncate(size)
}

// written is the length of a file without the zero bytes at its end.
func written(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, firstWindow)
	for size > 0 {
		part := buf[:min(size, int64(len(buf)))]
		if _, err := f.ReadAt(part, size-int64(len(part))); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for n := len(part); n > 0; n-- {
			if part[n-1] != 0 {
				return size - int64(len(part)-n), nil
			}
		}
		size -= int64(len(part))
	}
	return 0, nil
}
