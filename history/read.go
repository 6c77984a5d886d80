package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// History is a record as it was read: its events in file order, and what is wrong
// with it. A damaged history is still returned, so that a judge can say `unknown` and
// name the line; it must never be judged as if it were whole.
type History struct {
	Events  []Event
	Damage  []Damage // lines that are no events, in file order
	Torn    string   // a torn last line: tolerated, and reported
	Sources []string // files it was read from
}

// Damage is a line that could not be read.
type Damage struct {
	File string
	Line int
	What string
}

// String names the place and the trouble.
func (d Damage) String() string { return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.What) }

// ErrNoHistory is returned for a file without a single event.
var ErrNoHistory = errors.New("no history: the file has no events")

// ReadFile reads a history or a party's log.
func ReadFile(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a history: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	return Read(f, path)
}

// Read reads a history in JSON lines. It fails only where nothing can be judged at
// all: when reading fails, or when there is not one event.
func Read(r io.Reader, name string) (*History, error) {
	h := &History{Sources: []string{name}}
	br := bufio.NewReaderSize(r, 1<<20)
	for line := 1; ; line++ {
		text, err := br.ReadBytes('\n')
		if len(text) > 0 {
			h.addLine(name, line, text)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read a history: %w", err)
		}
	}
	if len(h.Events) == 0 {
		return nil, fmt.Errorf("%s: %w%s", name, ErrNoHistory, h.firstDamage())
	}
	return h, nil
}

func (h *History) addLine(name string, line int, text []byte) {
	body, complete := bytes.CutSuffix(text, []byte("\n"))
	var e Event
	err := e.UnmarshalJSON(body)
	switch {
	case err == nil && complete:
		h.Events = append(h.Events, e)
	case !complete && len(h.Events) > 0 && h.Events[len(h.Events)-1].F == FEnd:
		h.Damage = append(h.Damage, Damage{File: name, Line: line, What: "something follows the end"})
	case !complete:
		h.Torn = fmt.Sprintf("%s:%d: the last line is torn (%d bytes without a newline)", name, line, len(text))
	default:
		h.Damage = append(h.Damage, Damage{File: name, Line: line, What: err.Error()})
	}
}

func (h *History) firstDamage() string {
	if len(h.Damage) > 0 {
		return " (" + h.Damage[0].String() + ")"
	}
	if h.Torn != "" {
		return " (" + h.Torn + ")"
	}
	return ""
}

// Run is the value of the first f:run of the history.
func (h *History) Run() (Run, error) {
	for i := range h.Events {
		if h.Events[i].F != FRun {
			continue
		}
		var run Run
		if err := h.Events[i].Value.Into(&run); err != nil {
			return Run{}, fmt.Errorf("the run event cannot be read: %w", err)
		}
		if run.Schema > Schema {
			return Run{}, fmt.Errorf("the history has schema %d; this lockstorm reads up to %d: use a newer one", run.Schema, Schema)
		}
		return run, nil
	}
	return Run{}, errors.New("the history has no run event: it does not say what was run")
}
