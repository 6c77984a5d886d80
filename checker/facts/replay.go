package facts

import "github.com/lockstorm/lockstorm/history"

// ShownKind is the kind of error that the log of a register shows.
type ShownKind int

// Kinds of errors.
const (
	ShowsMismatch ShownKind = iota // a read was answered with another value than the last written
	ShowsLoss                      // a write overwrote acknowledged updates that it had not read
	ShowsSplit                     // others wrote inside a section, and nothing was lost
	ShowsNoToken                   // the fenced register accepted a request without a token
	ShowsStale                     // ... a lower token than before
	ShowsEqual                     // ... one token from two grants
	ShowsReplaced                  // no log: two acknowledged updates of one value
)

// Shown is one error that the log of a register, or the answers to its clients, show.
type Shown struct {
	What   ShownKind
	Event  *history.Event   // that shows it
	Others []*history.Event // writes of others that are involved, in order
	Gone   []*history.Event // for a loss: the overwritten writes that are lost for good
	Value  int64            // what the read should have answered by the log, or the token that was accepted before
	Holder string           // who brought that token
}

// Loss returns the number of acknowledged updates that were overwritten unseen, and of those that are lost for good.
func (s Shown) Loss() Loss {
	switch s.What {
	case ShowsLoss:
		return Loss{Lost: int64(len(s.Gone)), Overwritten: int64(len(s.Others))}
	case ShowsReplaced: // one of the two: the last value is built upon one write of each value at most
		return Loss{Lost: 1, Overwritten: 1}
	}
	return Loss{}
}

// replay follows one register of one lock through its log.
type replay struct {
	in             *Facts
	register, lock string
	value          int64
	highest        history.Opt
	holder         string              // the grant that brought the highest token
	sections       []section           // by the numbers of grants
	strays         map[string]*section // of ids that no grant has
	tree           tree
	shown          []Shown
}

// section is what the log shows of one grant, as numbers of accepted writes.
type section struct {
	lock  string         // under which; a grant has one lock, unless its record is wrong
	grant *history.Grant // nil: there is none of this id
	reads int            // before its last read, or its first write; -1: there was none yet
	begun int            // before its first read; -1: there was none yet
	seen  int            // before its last write: of these none is lost by another one
	whole int            // up to which it is known not to be split
	told  bool
	built int // the write whose value it knows: see tree; -1: it knows none
	acks  acks
}

// of is the section of a grant; of an id that no grant has, if there is no grant.
func (r *replay) of(grant *history.Grant, id string) *section {
	if grant == nil {
		if r.strays[id] == nil {
			r.strays[id] = r.begin(&section{}, nil)
		}
		return r.strays[id]
	}
	s := &r.sections[grant.Number]
	if s.grant == nil || s.lock != r.lock {
		r.begin(s, grant)
	}
	return s
}

func (r *replay) begin(s *section, grant *history.Grant) *section {
	*s = section{lock: r.lock, grant: grant, reads: -1, begun: -1, built: -1}
	return s
}

// run follows the register's events under its lock, each with the grant that it names.
func (r *replay) run(events []request) {
	for _, e := range events {
		if e.Type() != history.OK {
			continue
		}
		if r.register == RegFenced {
			r.fence(e.Event)
		}
		if e.F() == history.FWrite {
			r.write(e)
			continue
		}
		if e.Base().Set && e.Base().V != r.value {
			r.show(Shown{What: ShowsMismatch, Event: e.Event, Value: r.value})
		}
		section := r.of(e.of, e.Grant())
		section.built = r.tree.read(e.Event, r.value)
		section.reads = len(r.tree.writes)
		if section.begun >= 0 {
			r.split(e.Event, section)
		} else {
			section.begun = len(r.tree.writes)
		}
	}
}

// write looks for updates of others between the read and the write of one section: what
// was acknowledged there is lost.
func (r *replay) write(e request) {
	section := r.of(e.of, e.Grant())
	if section.reads < 0 { // it sets a value: its section begins here
		section.reads = len(r.tree.writes)
	}
	var overwritten []*history.Event
	for _, w := range r.tree.writes[max(section.reads, section.seen):] {
		if w.Grant() == e.Grant() {
			continue
		}
		if ack := r.ackOf(w); ack != nil && !ack.unseen {
			ack.unseen = true
			overwritten = append(overwritten, w.Event)
		}
	}
	section.seen = len(r.tree.writes)
	if len(overwritten) > 0 {
		r.show(Shown{What: ShowsLoss, Event: e.Event, Others: overwritten})
	}
	r.value = e.New().V
	r.tree.write(e.Event, section)
}

// split finds writes of others between the first read of a section and a later one: nothing was lost, but the section was not one
// step.
func (r *replay) split(e *history.Event, section *section) {
	if section.told {
		return
	}
	var others []*history.Event
	for _, w := range r.tree.writes[max(section.begun, section.whole):] {
		if w.Grant() != e.Grant() {
			others = append(others, w.Event)
		}
	}
	if len(others) == 0 {
		section.whole = len(r.tree.writes)
		return
	}
	section.told = true
	r.show(Shown{What: ShowsSplit, Event: e, Others: others})
}

// acks are a grant's writes that its client was told of: the first of each value.
type acks struct {
	known bool
	few   []ack                // of a grant that wrote little, in order
	many  map[history.Opt]*ack // of one that wrote much
}

type ack struct {
	value  history.Opt
	unseen bool // overwritten by a client that had not seen it
	lasts  bool // the last value is built upon it
}

// fewAcks is up to how many are looked through one by one.
const fewAcks = 8

// ackOf is the acknowledgement of an accepted write; nil: its client was not told that it succeeded.
func (r *replay) ackOf(w write) *ack {
	if w.by.grant == nil {
		return nil
	}
	return r.acksOf(w.by).of(w.New())
}

func (a *acks) of(value history.Opt) *ack {
	if a.many != nil {
		return a.many[value]
	}
	for i := range a.few {
		if a.few[i].value == value {
			return &a.few[i]
		}
	}
	return nil
}

// acksOf are those of a grant, which may have no event in the log.
func (r *replay) acksOf(s *section) *acks {
	a := &s.acks
	if a.known {
		return a
	}
	a.known = true
	for _, c := range s.grant.Uses {
		if !r.acked(c) || a.of(c.Invoke.New()) != nil {
			continue
		}
		if a.many == nil && len(a.few) < fewAcks {
			a.few = append(a.few, ack{value: c.Invoke.New()})
			continue
		}
		if a.many == nil {
			a.many = map[history.Opt]*ack{}
			for _, old := range a.few {
				a.many[old.value] = &ack{value: old.value}
			}
		}
		a.many[c.Invoke.New()] = &ack{value: c.Invoke.New()}
	}
	return a
}

// acked reports whether a call is a write to the register of which its client was told that it succeeded.
func (r *replay) acked(c *history.Call) bool {
	return c.Invoke.F() == history.FWrite && c.Invoke.Register() == r.register && c.Outcome() == history.OK
}

// fence checks the token rules on what the fenced register accepted, reads included.
func (r *replay) fence(e *history.Event) {
	switch {
	case !e.Token().Set:
		r.show(Shown{What: ShowsNoToken, Event: e})
	case r.highest.Set && e.Token().V < r.highest.V:
		r.show(Shown{What: ShowsStale, Event: e, Value: r.highest.V})
	case r.highest.Set && e.Token().V == r.highest.V && !r.in.mayShare(e.Grant(), r.holder):
		r.show(Shown{What: ShowsEqual, Event: e, Value: e.Token().V, Holder: r.holder})
	default:
		r.highest, r.holder = e.Token(), e.Grant()
	}
}

func (r *replay) show(what Shown) { r.shown = append(r.shown, what) }
