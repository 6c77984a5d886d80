package sim

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// client is one client: a loop of sections, and renewers beside it.
type client struct {
	w       *world
	name    string
	numbers int64 // process numbers given so far
	process int64 // of the section
	grants  int
	link    link

	dead    bool
	epoch   int // of its connection: what was sent on an earlier one does not arrive
	frozen  int // so many hold everything up
	stalled int // so many hold the section up; renewers go on
	waiting []deferred

	session *clientSession
	open    *history.Line // the section's operation under way
	held    []*holding
	final   bool
	todo    []string // locks of which it is to do its last section
	ended   bool
}

// deferred is what came while the client stood still.
type deferred struct {
	background bool
	do         func()
}

// holding is a grant as its client sees it.
type holding struct {
	g        *Grant
	deadline int64
	lost     bool
	over     bool // released, or about to be
	renewing bool // a renewal is under way
	after    func()
}

func newClient(w *world, n int) *client {
	c := &client{w: w, name: fmt.Sprintf("c%d", n), numbers: int64(n) * 1_000_000}
	c.process = c.number()
	if n > w.cfg.Clients && w.now >= w.truth.Final && w.truth.Final > 0 {
		c.final, c.todo = true, slices.Clone(w.locks)
	}
	return c
}

func (c *client) number() int64 {
	c.numbers++
	return c.numbers
}

// when does something now, or when the client goes on.
func (c *client) when(background bool, do func()) {
	switch {
	case c.dead || c.ended:
	case c.frozen > 0 || (c.stalled > 0 && !background):
		c.waiting = append(c.waiting, deferred{background, do})
	default:
		do()
	}
}

// after does something later: never while the client stands still.
func (c *client) after(background bool, d int64, do func()) {
	c.w.after(d, func() { c.when(background, do) })
}

// thaw lets what has come meanwhile happen, in its order.
func (c *client) thaw() {
	for i, d := range c.waiting {
		c.after(d.background, int64(i+1)*5*us, d.do)
	}
	c.waiting = nil
}

// next begins the next section, or ends the client.
func (c *client) next() {
	w := c.w
	switch {
	case c.final && len(c.todo) == 0, w.stopping:
		c.ended = len(c.todo) == 0
		return
	case c.final:
		lock := c.todo[0]
		c.section(lock, "", nil, func(granted bool) {
			if granted {
				c.todo = c.todo[1:]
			}
			c.after(false, w.upTo(2*ms), c.next)
		})
		return
	}
	c.section(w.locks[w.rnd.IntN(len(w.locks))], c.mode(), nil, func(bool) { c.after(false, w.upTo(15*ms), c.next) })
}

func (c *client) mode() string {
	if c.w.cfg.Model == history.ModelReadWrite && c.w.rnd.IntN(2) == 0 {
		return history.ModeShared
	}
	return ""
}

// op begins an operation of the section.
func (c *client) op(f string, g *Grant) history.Line {
	return history.Line{Process: history.Process{N: c.process}, F: f, Client: c.name, Lock: g.Lock, Grant: g.ID}
}

func (c *client) invoke(e history.Line) {
	e.Type = history.Invoke
	c.w.log(c.name, e)
	c.open = &e
}

// done ends it. After an unknown outcome the client goes on under another number.
func (c *client) done(e history.Line, typ history.Type, code string) {
	e.Type, e.Error = typ, code
	c.w.log(c.name, e)
	c.open = nil
	if typ == history.Info {
		c.process = c.number()
	}
}

func (c *client) notice(e history.Line) {
	e.Type, e.Client = history.Info, c.name
	c.w.log(c.name, e)
}

// giveUp ends a client that still waits when the run is stopped.
func (c *client) giveUp() {
	if c.open != nil {
		c.done(*c.open, history.Info, history.ErrTimeout)
	}
}

// valid is the discipline's check.
func (c *client) valid(h *holding) bool {
	if c.w.cfg.Discipline == history.Trusting {
		return true
	}
	if c.w.now >= h.deadline && c.w.cfg.Discipline != history.Told {
		h.lost = true
	}
	return !h.lost
}

// endRenewal ends the renewal of a session that is under way when the run is stopped.
func (c *client) endRenewal() {
	if c.session == nil || c.session.pending == nil {
		return
	}
	e := *c.session.pending
	e.Type, e.Error = history.Info, history.ErrTimeout
	c.w.log(c.name, e)
}
