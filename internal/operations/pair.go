package operations

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Options say how a file is read.
type Options struct {
	// Keyed: the value of each operation is [key value], as jepsen.independent writes it; each key is an object of its own.
	Keyed bool
}

// Read reads a history to its end. An error names the line.
func Read(r io.Reader, o Options) (*History, error) {
	s := newSplitter(r)
	h := &History{Format: "EDN"}
	var events []*Item
	for {
		p, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		e, err := eventOf(p, s.json, o.Keyed)
		if err != nil {
			return nil, err
		}
		if e.Nemesis() {
			h.Skipped++
			continue
		}
		events = append(events, e)
	}
	if s.json {
		h.Format = "JSON"
	}
	if len(events) == 0 && h.Skipped == 0 {
		return nil, errors.New("the file contains no operation")
	}
	h.Events = len(events)
	if err := order(events); err != nil {
		return nil, err
	}
	return h, h.pair(events)
}

// order brings events into the order in which they happened: by index where each has one, else by time where each has
// one, else as they stand.
func order(events []*Item) error {
	indexed, timed := true, true
	for _, e := range events {
		indexed, timed = indexed && e.indexed, timed && e.TimeSet
	}
	switch {
	case indexed:
		slices.SortStableFunc(events, func(a, b *Item) int { return cmp.Compare(a.index, b.index) })
		for i := 1; i < len(events); i++ {
			if a, b := events[i-1], events[i]; a.index == b.index {
				return fmt.Errorf("line %d: the index %d is already used on line %d: each event needs an index of its own", b.Line, b.index,
					a.Line)
			}
		}
	case timed:
		slices.SortStableFunc(events, func(a, b *Item) int { return cmp.Compare(a.Time, b.Time) })
		for i := 0; i < len(events); {
			k := i + 1
			for k < len(events) && events[k].Time == events[i].Time {
				k++
			}
			together(events[i:k])
			i = k
		}
	}
	return nil
}

// together orders events of one moment: operations begin before others end, for all of these may have been under way at once.
// Those of one process stay as they are.
func together(events []*Item) {
	rest := slices.Clone(events)
	out := events[:0]
	for begins := true; len(rest) > 0; begins = !begins {
		seen := map[string]bool{} // processes with an event that stays
		var left []*Item
		for _, e := range rest {
			if !seen[e.Process] && (e.Type == Invoke) == begins {
				out = append(out, e)
				continue
			}
			seen[e.Process] = true
			left = append(left, e)
		}
		rest = left
	}
}

// pair puts invocations and their ends together.
func (h *History) pair(events []*Item) error {
	open, keys := map[string]*Call{}, map[string]bool{}
	failed := map[*Call]bool{}
	for place, e := range events {
		c := open[e.Process]
		if e.Type == Invoke {
			if c != nil {
				return fmt.Errorf("line %d: process %s begins %s, although its %s of line %d has not ended: a process can have only one "+
					"operation at a time", e.Line, e.Process, e.F, c.F, c.Invoke.Line)
			}
			c = &Call{F: e.F, Process: e.Process, Key: e.Key, In: e.Value, From: place, To: Open, Invoke: e}
			open[e.Process], h.Calls = c, append(h.Calls, c)
			if !keys[e.Key] {
				keys[e.Key], h.Keys = true, append(h.Keys, e.Key)
			}
			continue
		}
		switch {
		case c == nil:
			return fmt.Errorf("line %d: process %s ends %s (%s), but has not begun this operation", e.Line, e.Process, e.F, e.Type)
		case c.F != e.F:
			return fmt.Errorf("line %d: process %s ends %s, but the operation that it began on line %d is %s", e.Line, e.Process, e.F,
				c.Invoke.Line, c.F)
		case c.Key != e.Key:
			return fmt.Errorf("line %d: process %s ends an operation on key %s, but the operation that it began on line %d is on key %s",
				e.Line, e.Process, e.Key, c.Invoke.Line, c.Key)
		}
		delete(open, e.Process)
		c.Return = e
		c.Out = e.Value
		switch e.Type {
		case OK:
			c.To = place
		case Fail:
			failed[c] = true
		}
	}
	h.Failed = len(failed)
	h.Calls = slices.DeleteFunc(h.Calls, func(c *Call) bool { return failed[c] })
	own(events, h.Calls)
	return nil
}

// own says who asks: the client that an event of the operation names, else the one client that all events of its process
// name. Where no event names a client, a process is its own.
func own(events []*Item, calls []*Call) {
	names := map[string][]string{} // by process
	for _, e := range events {
		if e.named && !slices.Contains(names[e.Process], e.client) {
			names[e.Process] = append(names[e.Process], e.client)
		}
	}
	for _, c := range calls {
		of := names[c.Process]
		switch {
		case c.Invoke.named:
			c.Owner = c.Invoke.client
		case c.Return != nil && c.Return.named:
			c.Owner = c.Return.client
		case len(of) == 1:
			c.Owner = of[0]
		case len(names) == 0:
			c.Owner = c.Process
		default:
			c.Anyone = true
		}
	}
}
