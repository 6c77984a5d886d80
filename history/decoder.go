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
	sums   []partySum // of the line of each event
	ends   []int      // which events are ends of logs
	damage []Damage
	torn   string
	last   int // line

	parties []string          // by their numbers here
	numbers map[string]uint32 // of parties
	party   uint32            // of the event before, whose party often goes on
}

// partySum is the checksum of a line, and the party whose it is.
type partySum struct{ sum, party uint32 }

func newDecoder(name string, whole, events []Event, sums []partySum) *decoder {
	return &decoder{parser: newParser(), name: name, whole: whole, events: events, sums: sums, numbers: map[string]uint32{}}
}

// line takes one line with its newline; only the last one of a file may lack it.
func (d *decoder) line(number int, text []byte) {
	d.last = number
	body, complete := bytes.CutSuffix(text, []byte("\n"))
	if !complete {
		d.torn = fmt.Sprintf("%s:%d: the last line is incomplete (%d bytes without a newline)", d.name, number, len(text))
		return
	}
	e := d.next()
	if !d.parse(body, e) {
		var l Line
		if err := l.UnmarshalJSON(body); err != nil {
			*e = Event{} // the next line takes its place
			d.events = d.events[:len(d.events)-1]
			d.damage = append(d.damage, Damage{File: d.name, Line: number, What: err.Error()})
			return
		}
		*e = d.pack(&l)
	}
	if e.F() == FEnd {
		d.ends = append(d.ends, len(d.sums))
	}
	d.sums = append(d.sums, partySum{lineSum(body), d.number(e.Party())})
}

// number is that of a party.
func (d *decoder) number(party string) uint32 {
	if len(d.parties) > 0 && d.parties[d.party] == party {
		return d.party
	}
	n, known := d.numbers[party]
	if !known {
		n = uint32(len(d.parties))
		d.numbers[party] = n
		d.parties = append(d.parties, party)
	}
	d.party = n
	return n
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
