package history

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Follower reads a party's log while it grows. It informs whoever wants to know what is
// going on; nothing is judged by it. Not for concurrent use.
type Follower struct {
	file *os.File
	rest []byte // an incomplete last line
}

// Follow opens a log that exists, from its beginning. Close it.
func Follow(path string) (*Follower, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the log of a running process: %w", err)
	}
	return &Follower{file: f}, nil
}

// Poll hands over what was written since the last poll: each event of a complete line that
// want, given the line's text, takes; nil takes all. Lines that are no events are passed
// over: the judges will name them.
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

// Close ends the following; the log itself is as it was.
func (f *Follower) Close() error { return f.file.Close() }
