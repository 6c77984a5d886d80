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
	buf  []byte // for what is read
	off  int64  // of the first line that was not passed on
}

// Follow opens an existing log at its beginning. The caller must close the Follower.
func Follow(path string) (*Follower, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the log of a running process: %w", err)
	}
	return &Follower{file: f, buf: make([]byte, firstWindow)}, nil
}

// Poll passes on what was written since the last poll: each event of a complete line for which want returns true; a
// nil want takes all. It skips lines that are no events: the judges name them.
func (f *Follower) Poll(want func(line []byte) bool, each func(*Event)) error {
	for {
		n, err := f.file.ReadAt(f.buf, f.off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		data := f.buf[:n]
		if zero := bytes.IndexByte(data, 0); zero >= 0 { // nobody has written there yet
			data = data[:zero]
		}
		end := bytes.LastIndexByte(data, '\n') + 1
		for line := range bytes.Lines(data[:end]) {
			var e Event
			if (want == nil || want(line)) && e.UnmarshalJSON(bytes.TrimSuffix(line, []byte("\n"))) == nil {
				each(&e)
			}
		}
		f.off += int64(end)
		switch {
		case len(data) < len(f.buf):
			return nil
		case end == 0: // a line that is longer
			f.buf = make([]byte, 2*len(f.buf))
		}
	}
}

// Close closes the Follower; the log stays as it was.
func (f *Follower) Close() error { return f.file.Close() }
