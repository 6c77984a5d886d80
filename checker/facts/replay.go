package facts

import "github.com/lockstorm/lockstorm/history"

// ShownKind says what the log of a register shows.
type ShownKind int

// What a log shows.
const (
	ShowsMismatch ShownKind = iota // it answered a read with something else than was written last
	ShowsLoss                      // a write came on top of acknowledged updates that it had not read
	ShowsSplit                     // others wrote inside a section, and nothing was lost
	ShowsNoToken                   // the fenced register accepted what brought no token
	ShowsStale                     // ... a lower token than before
	ShowsEqual                     // ... one token from two grants
	ShowsReplaced                  // no log: two acknowledged updates of one value
)

// Shown is one thing that the log of a register, or what its clients were told, shows to be wrong.
type Shown struct {
	What   ShownKind
	Event  *history.Event   // that shows it
	Others []*history.Event // writes of others that it is about, in order
	Gone   []*history.Event // of a loss: the overwritten writes that are lost for good
	Value  int64            // what the log says that a read should have answered; the token that was accepted before
	Holder string           // who brought that token
}

// Loss is the number of acknowledged updates that were overwritten unseen, and how many of these are lost for good.
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
	holder         string                 // the grant that brought the highest token
	reads          map[string]int         // grant -> number of writes before its last read, or its first write
	begun          map[string]int         // grant -> number of writes before its first read
	seen           map[string]int         // grant -> number of writes before its last write: of these none is lost by another one
	whole          map[string]int         // grant -> number of writes up to which it is known not to be split
	acks           map[string]acks        // by grant
	writes         []*history.Event       // accepted, in order
	told           map[string]bool        // grants whose section is known to be split
	unseen         map[*history.Call]bool // acknowledged updates that were overwritten unseen
	tree           tree
	shown          []Shown
}

func (r *replay) run(events []*history.Event) {
	r.reads, r.begun, r.seen = map[string]int{}, map[string]int{}, map[string]int{}
	r.told, r.acks, r.whole = map[string]bool{}, map[string]acks{}, map[string]int{}
	r.unseen, r.tree.built = map[*history.Call]bool{}, map[string]int{}
	for _, e := range events {
		if e.Type != history.OK {
			continue
		}
		if r.register == RegFenced {
			r.fence(e)
		}
		if e.F == history.FRead {
			if e.Value.Base.Set && e.Value.Base.V != r.value {
				r.show(Shown{What: ShowsMismatch, Event: e, Value: r.value})
			}
			r.tree.read(e, r.value)
			r.reads[e.Grant] = len(r.writes)
			if begun, again := r.begun[e.Grant]; again {
				r.split(e, begun, len(r.writes))
			} else {
				r.begun[e.Grant] = len(r.writes)
			}
			continue
		}
		r.write(e)
	}
}

// write looks for updates of others between the read and the write of one section: what
// was acknowledged there is lost.
func (r *replay) write(e *history.Event) {
	since, read := r.reads[e.Grant]
	if !read { // it sets a value: its section begins here
		since = len(r.writes)
		r.reads[e.Grant] = since
	}
	var overwritten []*history.Event
	for _, w := range r.writes[max(since, r.seen[e.Grant]):] {
		if w.Grant == e.Grant {
			continue
		}
		if call := r.ackOf(w); call != nil && !r.unseen[call] {
			r.unseen[call] = true
			overwritten = append(overwritten, w)
		}
	}
	r.seen[e.Grant] = len(r.writes)
	if len(overwritten) > 0 {
		r.show(Shown{What: ShowsLoss, Event: e, Others: overwritten})
	} else if begun, known := r.begun[e.Grant]; known && begun < since {
		r.split(e, begun, since)
	}
	r.writes = append(r.writes, e)
	r.value = e.Value.New.V
	r.tree.write(e)
}

// split finds writes of others between the first read of a section and a later one, which are those from
// one number to another: nothing was lost, but the section was not one step.
func (r *replay) split(e *history.Event, from, to int) {
	if r.told[e.Grant] {
		return
	}
	var others []*history.Event
	for _, w := range r.writes[min(max(from, r.whole[e.Grant]), to):to] {
		if w.Grant != e.Grant {
			others = append(others, w)
		}
	}
	if len(others) == 0 {
		r.whole[e.Grant] = max(to, r.whole[e.Grant])
		return
	}
	r.told[e.Grant] = true
	r.show(Shown{What: ShowsSplit, Event: e, Others: others})
}

// ackOf is the client's write call of an accepted write, if the client was told that it
// succeeded.
func (r *replay) ackOf(w *history.Event) *history.Call {
	g := r.in.ByID[w.Grant]
	if g == nil {
		return nil
	}
	return r.acksOf(g)[w.Value.New]
}

func (r *replay) acksOf(g *history.Grant) acks {
	of, known := r.acks[g.ID]
	if !known {
		of = acks{}
		for _, c := range g.Uses {
			if c.Invoke.F != history.FWrite || c.Invoke.Register != r.register || c.Outcome() != history.OK {
				continue
			}
			if _, twice := of[c.Invoke.Value.New]; !twice {
				of[c.Invoke.Value.New] = c
			}
		}
		r.acks[g.ID] = of
	}
	return of
}

// acks are a grant's writes that its client was told of: the first of each value.
type acks map[history.Opt]*history.Call

// fence checks the token rules on what the fenced register accepted, reads included.
func (r *replay) fence(e *history.Event) {
	switch {
	case !e.Token.Set:
		r.show(Shown{What: ShowsNoToken, Event: e})
	case r.highest.Set && e.Token.V < r.highest.V:
		r.show(Shown{What: ShowsStale, Event: e, Value: r.highest.V})
	case r.highest.Set && e.Token.V == r.highest.V && !r.in.mayShare(e.Grant, r.holder):
		r.show(Shown{What: ShowsEqual, Event: e, Value: e.Token.V, Holder: r.holder})
	default:
		r.highest, r.holder = e.Token, e.Grant
	}
}

func (r *replay) show(what Shown) { r.shown = append(r.shown, what) }
