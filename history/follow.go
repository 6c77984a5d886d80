package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Follower reads a party's log while it grows, for progress displays; nothing is judged by it. It is not safe for
// concurrent use.
type Follower struct {
	file *os.File
	tail *os.File // nil: the log has none
	buf  []byte   // for what is read
	off  int64    // of the first line that was not passed on
}

// Follow opens an existing log at its beginning. The caller must close the Follower.
func Follow(path string) (*Follower, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the log of a running process: %w", err)
	}
	tail, err := os.Open(path + tailSuffix)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a closed log has none
		return nil, errors.Join(fmt.Errorf("cannot read the log of a running process: %w", err), file.Close())
	}
	return &Follower{file: file, tail: tail, buf: make([]byte, tailLength)}, nil
}

// Poll passes on what was written since the last poll: each event of a complete line for which want returns true; a
// nil want takes all. It skips lines that are no events: the judges name them.
func (f *Follower) Poll(want func(line []byte) bool, each func(*Line)) error {
	for {
		data, more, err := f.read()
		if err != nil {
			return err
		}
		end := bytes.LastIndexByte(data, '\n') + 1
		for line := range bytes.Lines(data[:end]) {
			var e Line
			if (want == nil || want(line)) && e.UnmarshalJSON(bytes.TrimSuffix(line, []byte("\n"))) == nil {
				each(&e)
			}
		}
		f.off += int64(end)
		switch torn := end == 0 && len(data) > 0; {
		case !more || torn && len(data) < len(f.buf):
			return nil
		case torn: // a line that is longer
			f.buf = make([]byte, 2*len(f.buf))
		}
	}
}

// read returns what comes next, and whether there may be more.
func (f *Follower) read() (data []byte, more bool, err error) {
	base, n := int64(Forever), 0
	if f.tail != nil {
		if base, n, err = tailState(f.tail); err != nil {
			return nil, false, err
		}
	}
	if f.off < base { // in the log
		n, err := f.file.ReadAt(f.buf[:min(int64(len(f.buf)), base-f.off)], f.off)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return f.buf[:n], n > 0 && (f.tail != nil || n == len(f.buf)), err
	}
	data = f.buf[:int64(n)-(f.off-base)]
	if len(data) == 0 {
		return nil, false, nil
	}
	if _, err := f.tail.ReadAt(data, tailHead+f.off-base); err != nil {
		return nil, false, err
	}
	if now, _, err := tailState(f.tail); err != nil || now != base { // it was moved, and other bytes came into its place
		return nil, true, err
	}
	return data, false, nil
}

// Close closes the Follower; the log stays as it was.
func (f *Follower) Close() error {
	err := f.file.Close()
	if f.tail != nil {
		err = errors.Join(err, f.tail.Close())
	}
	return err
}
