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
	d.events = append(d.events, Event{}) // in its place at once: an event is large
	e := &d.events[len(d.events)-1]
	if !d.parse(body, e) {
		if err := e.UnmarshalJSON(body); err != nil {
			d.events = d.events[:len(d.events)-1]
			d.damage = append(d.damage, Damage{File: d.name, Line: number, What: err.Error()})
			return
		}
	}
	d.sums = append(d.sums, lineSum(body))
}

// block takes several lines.
func (d *decoder) block(number int, text []byte) {
	for line := range bytes.Lines(text) {
		d.line(number, line)
		number++
	}
}
