package history

import (
	"bytes"
	"fmt"
)

// decoder makes events of consecutive lines of a file.
type decoder struct {
	*parser
	name   string
	whole  []Event // of the whole file; events is a part of it
	events []Event
	sums   []uint32 // of the line of each event
	damage []Damage
	torn   string
	last   int // line
}

func newDecoder(name string, expect int) *decoder {
	return &decoder{parser: newParser(), name: name, events: make([]Event, 0, expect), sums: make([]uint32, 0, expect)}
}

// line takes one line with its newline; only the last one of a file may lack it.
func (d *decoder) line(number int, text []byte) {
	d.last = number
	body, complete := bytes.CutSuffix(text, []byte("\n"))
	if !complete {
		d.torn = fmt.Sprintf("%s:%d: the last line is incomplete (%d bytes without a newline)", d.name, number, len(text))
		return
	}
	e := d.next() // in its place at once: an event is large
	if !d.parse(body, e) {
		*e = Event{}
		if err := e.UnmarshalJSON(body); err != nil {
			*e = Event{} // the next line takes its place
			d.events = d.events[:len(d.events)-1]
			d.damage = append(d.damage, Damage{File: d.name, Line: number, What: err.Error()})
			return
		}
	}
	d.sums = append(d.sums, lineSum(body))
}

// next is the place of one more event, which is empty.
func (d *decoder) next() *Event {
	if n := len(d.events); n < cap(d.events) {
		d.events = d.events[:n+1] // nobody has written there
	} else {
		d.events = append(d.events, Event{})
	}
	return &d.events[len(d.events)-1]
}

// block takes several lines.
func (d *decoder) block(number int, text []byte) {
	for line := range bytes.Lines(text) {
		d.line(number, line)
		number++
	}
}
