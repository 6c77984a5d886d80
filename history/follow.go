package history

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Follower reads a party's log while it grows, for progress displays; nothing is judged by it. It is not safe for
// concurrent use.
type Follower struct {
	file *os.File
	rest []byte // an incomplete last line
}

// Follow opens an existing log at its beginning. The caller must close the Follower.
func Follow(path string) (*Follower, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the log of a running process: %w", err)
	}
	return &Follower{file: f}, nil
}

// Poll passes on what was written since the last poll: each event of a complete line for which want returns true; a
// nil want takes all. It skips lines that are no events: the judges name them.
func (f *Follower) Poll(want func(line []byte) bool, each func(*Event)) error {
	data, err := io.ReadAll(f.file)
	if err != nil || len(data) == 0 {
		return err
	}
	data = append(f.rest, data...)
	end := bytes.LastIndexByte(data, '\n') + 1
	for line := range bytes.Lines(data[:end]) {
		var e Event
		if (want == nil || want(line)) && e.UnmarshalJSON(bytes.TrimSuffix(line, []byte("\n"))) == nil {
			each(&e)
		}
	}
	f.rest = bytes.Clone(data[end:])
	return nil
}

// Close closes the Follower; the log stays as it was.
func (f *Follower) Close() error { return f.file.Close() }
