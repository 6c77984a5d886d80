package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// log appends to a file through a tail: the last bytes of the log, in memory that a second file shares. What is written there is
// in the kernel's memory at once, as with write(2), whoever is killed, and costs no system call. A full tail goes into the log.
type log struct {
	file *os.File
	path string // of the tail
	mem  []byte // the tail: its state, then its bytes; nil: the file system has no such memory, and each line is written
	base int64  // where the tail begins in the log
	n    int    // bytes in the tail
}

const (
	tailSuffix = ".tail"
	tailLength = 64 << 10
	tailHead   = 8  // bytes of its state: where it begins in the log, and how much it has, in one word
	tailBits   = 24 // of the state for how much it has
)

// createLog makes a log that does not exist yet, and its tail before it: who sees the log sees the tail.
func createLog(path string) (*log, error) {
	l := &log{path: path + tailSuffix}
	if err := l.createTail(); err != nil {
		return nil, err
	}
	var err error
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644); err != nil {
		return nil, errors.Join(err, l.removeTail())
	}
	return l, nil
}

// createTail writes zero bytes, which takes room on the disk: to write to memory without would end the process.
func (l *log) createTail() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // its memory stays
	if _, err := f.Write(make([]byte, tailLength)); err != nil {
		return errors.Join(err, os.Remove(l.path))
	}
	l.mem, err = unix.Mmap(int(f.Fd()), 0, tailLength, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil { // file systems that cannot, say so in several ways
		l.mem = nil
		return os.Remove(l.path)
	}
	return nil
}

// write appends to the log. Where the disk is full it fails, and what was written before stays.
func (l *log) write(b []byte) error {
	if len(b) > len(l.mem)-tailHead-l.n {
		if err := l.drain(); err != nil {
			return err
		}
	}
	if len(b) > len(l.mem)-tailHead { // longer than a tail, or there is none
		n, err := l.file.WriteAt(b, l.base)
		l.moved(n)
		return err
	}
	copy(l.mem[tailHead+l.n:], b)
	l.n += len(b)
	l.publish()
	return nil
}

// drain moves the tail into the log.
func (l *log) drain() error {
	if l.n == 0 {
		return nil
	}
	if _, err := l.file.WriteAt(l.mem[tailHead:tailHead+l.n], l.base); err != nil {
		return err // the tail keeps it
	}
	n := l.n
	l.n = 0
	l.moved(n)
	return nil
}

// moved begins the tail behind bytes that are in the log.
func (l *log) moved(n int) {
	l.base += int64(n)
	if l.mem != nil {
		l.publish()
	}
}

// publish tells readers what the tail has, in one step.
func (l *log) publish() {
	word := (*uint64)(unsafe.Pointer(unsafe.SliceData(l.mem))) //nolint:gosec // the first word of whole pages
	atomic.StoreUint64(word, uint64(l.base)<<tailBits|uint64(l.n))
}

// close leaves the log alone, without a tail; on a full disk the tail stays.
func (l *log) close() error {
	err := l.drain()
	if err == nil {
		err = l.removeTail()
	}
	return errors.Join(err, l.file.Close())
}

func (l *log) removeTail() error {
	if l.mem == nil {
		return nil
	}
	mem := l.mem
	l.mem = nil
	return errors.Join(unix.Munmap(mem), os.Remove(l.path))
}

// tailState reads what a tail has, and where that begins in the log.
func tailState(tail io.ReaderAt) (base int64, n int, err error) {
	var state [tailHead]byte
	if _, err := tail.ReadAt(state[:], 0); err != nil {
		return 0, 0, err
	}
	word := binary.NativeEndian.Uint64(state[:])
	return int64(word >> tailBits), int(word & (1<<tailBits - 1)), nil
}

// tailOf returns the bytes of a log that its killed party left in the tail, and where in the log they belong.
func tailOf(path string) (base int64, rest []byte, err error) {
	all, err := os.ReadFile(path + tailSuffix)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(all) < tailHead { // it was killed before it wrote
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	base, n, err := tailState(bytes.NewReader(all))
	if err == nil && n > len(all)-tailHead {
		err = fmt.Errorf("%s is damaged: it has %d bytes, and says that it has %d", path+tailSuffix, len(all)-tailHead, n)
	}
	if err != nil {
		return 0, nil, err
	}
	return base, all[tailHead : tailHead+n], nil
}

// ReadLog returns the text of a party's log, that of its tail included.
func ReadLog(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	whole, size, err := withTail(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(whole, 0, size))
}

// Settle moves what a killed party left in the tail of its log into the log. Until then readers find it in the tail.
func Settle(path string) error {
	base, rest, err := tailOf(path)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(rest, base)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	if err := os.Remove(path + tailSuffix); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// withTail is a file and what its tail has, as one of a size.
func withTail(f *os.File) (whole io.ReaderAt, size int64, err error) {
	base, rest, err := tailOf(f.Name())
	if err != nil {
		return nil, 0, err
	}
	if len(rest) == 0 {
		size, err := f.Seek(0, io.SeekEnd)
		return f, size, err
	}
	return joined{f, base, rest}, base + int64(len(rest)), nil
}

// joined reads a log up to its tail, and then the tail.
type joined struct {
	file io.ReaderAt
	base int64
	rest []byte
}

// ReadAt is that of [io.ReaderAt].
func (j joined) ReadAt(b []byte, off int64) (int, error) {
	n := 0
	if off < j.base {
		var err error
		if n, err = j.file.ReadAt(b[:min(int64(len(b)), j.base-off)], off); err != nil || n == len(b) {
			return n, err
		}
	}
	m, err := bytes.NewReader(j.rest).ReadAt(b[n:], off+int64(n)-j.base)
	return n + m, err
}
