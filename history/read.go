package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// History is a record as it was read: its events in file order, and its damage. A damaged history is still returned,
// so that a judge can say `unknown` and name the line; never judge it as if it were whole.
type History struct {
	Events  []Event
	Damage  []Damage // lines that are no events, in file order; then parties whose lines differ from what they wrote
	Torn    string   // a torn last line: tolerated, and reported
	Sources []string // files it was read from

	sums  map[string]uint32 // chained over the lines of each party
	files map[string]string // by party: the one that has its lines
}

// Whole reports whether the record is complete: every line could be read and is as its party wrote it, and the
// controller has ended it.
func (h *History) Whole() bool {
	n := len(h.Events)
	return len(h.Damage) == 0 && h.Torn == "" && slices.ContainsFunc(h.Events[max(n-wholeTail, 0):],
		func(e Event) bool { return e.Party() == PartyController && e.F() == FEnd })
}

// wholeTail is among how many last events the controller's end is: others may end at the same time.
const wholeTail = 10000

// Parties returns the number of events of each party.
func (h *History) Parties() map[string]int {
	out := map[string]int{}
	for i := range h.Events {
		out[h.Events[i].Party()]++
	}
	return out
}

// Damage is a line that could not be read or, without a line, an error in a party's lines.
type Damage struct {
	File string
	Line int
	What string
}

// String names the place and the error.
func (d Damage) String() string {
	if d.Line == 0 {
		return fmt.Sprintf("%s: %s", d.File, d.What)
	}
	return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.What)
}

// ErrNoHistory is returned for a file without a single event.
var ErrNoHistory = errors.New("no history: the file has no events")

// What can be read: beyond that a file is refused, before it fills the memory.
const (
	maxLine   = 4 << 20    // bytes of one line
	maxEvents = 20_000_000 // of one history
)

// ErrTooLarge is returned for a history that exceeds the bounds.
var ErrTooLarge = errors.New("too large to be read")

// ReadFile reads a history, also a compressed one (see [OpenText]), or a party's log, with what a killed party left in the tail
// of it.
func ReadFile(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read a history: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot read a history: %w", err)
	}
	if strings.HasSuffix(path, PackedSuffix) {
		text, err := OpenText(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read a history: %w", err)
		}
		defer text.Close() //nolint:errcheck // read only
		return Read(text, path)
	}
	if st.Mode().IsRegular() {
		whole, size, err := withTail(f)
		if err != nil {
			return nil, fmt.Errorf("cannot read a history: %w", err)
		}
		return readBlocks(whole, size, path)
	}
	return Read(f, path)
}

// Read reads a history in JSON lines from its beginning to its end. It fails only if nothing can be judged at all:
// reading fails, the history exceeds the bounds, or it has no event.
func Read(r io.Reader, name string) (*History, error) {
	br := bufio.NewReaderSize(r, 1<<20)
	d := newDecoder(name, nil, nil, nil)
	for line := 1; ; line++ {
		text, err := readLine(br)
		if len(text) > 0 {
			d.line(line, text)
		}
		if len(d.events) > maxEvents {
			return nil, fmt.Errorf("%s: %w: the history has more than %d events", name, ErrTooLarge, maxEvents)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: line %d: %w", name, line, err)
		}
	}
	return finish(name, []*decoder{d})
}

// readLine reads up to a newline, or to the end.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("%w: the line is longer than %d MB", ErrTooLarge, maxLine>>20)
		}
	}
}

// finish puts together what decoders made of consecutive parts of a file.
func finish(name string, parts []*decoder) (*History, error) {
	h := &History{Sources: []string{name}, Events: join(parts)}
	for i, d := range parts {
		h.Damage = append(h.Damage, d.damage...)
		if d.torn == "" {
			continue
		}
		if n := len(h.Events); i == len(parts)-1 && n > 0 && h.Events[n-1].F() == FEnd {
			h.Damage = append(h.Damage, Damage{File: name, Line: d.last, What: "an incomplete line follows the event that ends the run, " +
				"but this event must be the last line"})
			continue
		}
		h.Torn = d.torn
	}
	if len(h.Events) == 0 {
		return nil, fmt.Errorf("%s: %w%s", name, ErrNoHistory, h.firstDamage())
	}
	h.chain(parts)
	return h, nil
}

// join is all events in one piece. Decoders that were given consecutive parts of one slice
// leave gaps in it only where lines were no events.
func join(parts []*decoder) []Event {
	if len(parts) == 1 {
		return parts[0].events
	}
	whole := parts[0].whole
	all := whole[:0]
	for _, d := range parts {
		if n := len(d.events); n > 0 && len(all) < len(whole) && &d.events[0] == &whole[len(all)] { // in its place already
			all = whole[:len(all)+n]
			continue
		}
		all = append(all, d.events...) // never ahead of what is read: a line is at most one event
	}
	return all
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

// Run returns the value of the first f:run of the history.
func (h *History) Run() (Run, error) {
	for i := range h.Events {
		if h.Events[i].F() != FRun {
			continue
		}
		var run Run
		if err := h.Events[i].Value().Into(&run); err != nil {
			return Run{}, fmt.Errorf("cannot read the run event (which describes the run): %w", err)
		}
		if run.Schema > Schema {
			return Run{}, fmt.Errorf("the history has schema version %d, but this lockstorm reads only versions up to %d: use a newer "+
				"lockstorm", run.Schema, Schema)
		}
		return run, nil
	}
	return Run{}, errors.New("the history has no run event (which describes the run)")
}
