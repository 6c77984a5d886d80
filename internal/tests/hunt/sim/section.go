package sim

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// section acquires, updates, releases; within is the hold in which an owner enters again.
func (c *client) section(lock, mode string, within *holding, then func(granted bool)) {
	c.acquire(lock, mode, within, func(h *holding) {
		if h == nil {
			then(false)
			return
		}
		c.inside(h, within != nil, func() { c.leave(h, func() { then(true) }) })
	})
}

// inside enters again where the lock or another one allows it, reads every register, stays,
// and writes.
func (c *client) inside(h *holding, nested bool, then func()) {
	if c.w.cfg.Workload == Job {
		c.deeper(h, nested, func() { c.job(h, then) })
		return
	}
	values := map[string]int64{}
	regs := slices.Clone(c.w.cfg.registers())
	c.deeper(h, nested, func() {
		c.reads(h, regs, values, func() {
			c.after(false, c.stay(), func() { c.writes(h, regs, values, then) })
		})
	})
}

// deeper is a section inside a section: of the same lock where that is reentrant, else of a
// later one.
func (c *client) deeper(h *holding, nested bool, then func()) {
	w := c.w
	if nested || c.final || w.rnd.IntN(3) != 0 || !c.valid(h) {
		then()
		return
	}
	again := func(bool) { then() }
	i := slices.Index(w.locks, h.g.Lock)
	switch {
	case w.cfg.counts() && w.rnd.IntN(3) > 0:
		c.section(h.g.Lock, h.g.Mode, h, again)
	case w.cfg.Workload == Cross:
		c.section(w.locks[1-i], c.mode(), &holding{g: &Grant{}}, again)
	case i+1 < len(w.locks):
		c.section(w.locks[i+1], c.mode(), &holding{g: &Grant{}}, again)
	default:
		then()
	}
}

// stay is how long a client is inside: short, or longer than its lease where it overruns.
func (c *client) stay() int64 {
	w := c.w
	if w.cfg.Overrun && !c.final && w.now < w.quiet && w.rnd.IntN(6) == 0 {
		return w.cfg.TTL*3/4 + w.upTo(w.cfg.TTL)
	}
	if c.final {
		return w.upTo(ms)
	}
	if w.cfg.Stay > 0 {
		return w.upTo(w.cfg.Stay)
	}
	return w.upTo(20 * ms)
}

func (c *client) reads(h *holding, regs []string, values map[string]int64, then func()) {
	if len(regs) == 0 || !c.valid(h) {
		then()
		return
	}
	c.use(h, &Use{F: history.FRead, Register: regs[0], Applied: Never}, 0, func(a answer) {
		if a.known && a.ok {
			values[regs[0]] = a.value
		}
		c.reads(h, regs[1:], values, then)
	})
}

// writes is without a check from its second register on: it is one breath. Readers write
// nothing.
func (c *client) writes(h *holding, regs []string, values map[string]int64, then func()) {
	if len(regs) == 0 || h.g.Mode == history.ModeShared || (len(regs) == len(c.w.cfg.registers()) && !c.valid(h)) {
		then()
		return
	}
	v, known := values[regs[0]]
	if !known {
		c.writes(h, regs[1:], values, then)
		return
	}
	next := v + 1
	if regs[0] == Pieces && v > 0 {
		next = v - 1
	}
	c.w.armed(c, h, func() {
		c.use(h, &Use{F: history.FWrite, Register: regs[0], Applied: Never, Base: v, New: next}, v, func(a answer) {
			if !a.known && !c.valid(h) {
				then()
				return
			}
			c.writes(h, regs[1:], values, then)
		})
	})
}

// use sends one request to the resource; between the check before it and its invocation lies
// a gap.
func (c *client) use(h *holding, u *Use, base int64, back func(answer)) {
	c.after(false, c.w.upTo(30*us), func() {
		g := h.g
		e := c.op(u.F, g)
		e.Register = u.Register
		tokenless := u.Register == Fenced && c.w.bug(NoToken)
		if c.w.cfg.Tokens && !tokenless {
			e.Token = history.Some(g.Token)
		}
		if tokenless {
			c.w.breach(Breach{Kind: NoToken, Grant: g})
		}
		if u.F == history.FWrite {
			e.Value = history.Value{Base: history.Some(base), New: history.Some(u.New)}
		}
		c.invoke(e)
		u.Invoked, g.LastUse = c.w.now, c.w.now
		g.Used[u.Register] = append(g.Used[u.Register], u)
		q := request{g: g, use: u, base: base, new: u.New, tokenless: tokenless}
		c.send(g, c.w.patience(), func() answer { return c.w.reg.serve(q) }, func(a answer) { c.used(h, u, e, a, back) })
	})
}

func (c *client) used(h *holding, u *Use, e history.Line, a answer, back func(answer)) {
	typ, code := a.outcome()
	if typ == history.OK && u.F == history.FRead {
		e.Value.Base, u.Base = history.Some(a.value), a.value
	}
	u.Outcome, u.Returned = typ, c.w.now
	if typ == history.OK {
		u.Acked = true
		if u.F == history.FRead {
			c.w.reg.shows(h.g.Lock, u)
		}
	}
	c.done(e, typ, code)
	if code == history.ErrStaleToken && c.w.cfg.Fencing == history.FencingOn {
		c.lose(h, "the protected resource refused the fencing token")
	}
	back(a)
}

// lose records that the client learned of a loss.
func (c *client) lose(h *holding, why string) {
	if h.lost {
		return
	}
	h.lost = true
	if h.g.Lost < 0 {
		h.g.Lost = c.w.now
	}
	c.notice(history.Line{F: history.FLost, Lock: h.g.Lock, Grant: h.g.ID, Lease: h.g.Lease, Message: why})
}

func (c *client) newGrant(lock, mode string, within *holding) *Grant {
	c.grants++
	g := &Grant{
		ID: fmt.Sprintf("%s-%d", c.name, c.grants), Client: c.name, Lock: lock, Mode: mode, Asked: c.w.now, Sent: Never, Applied: Never,
		Refused: Never,
		Ended:   Forever, Known: Never, Over: Never, Released: Never, Back: Never, Lost: Never, Denied: Never,
		Killed: Never, Moved: Never,
		LastUse: Never, Used: map[string][]*Use{},
	}
	g.Owner = g.ID
	switch {
	case within != nil && within.g.Owner != "" && within.g.Lock == lock:
		g.Owner = within.g.Owner
	case c.w.cfg.Reused:
		g.Owner = c.name
	}
	c.w.truth.Grants = append(c.w.truth.Grants, g)
	return g
}

// job does what is to be done in a period, if nobody has: what was done is looked up where all see it, and written
// there when it is done.
func (c *client) job(h *holding, then func()) {
	w, g := c.w, h.g
	period := w.now / w.cfg.Period
	if c.final || w.jobs[period] || !c.valid(h) {
		c.after(false, c.stay(), then)
		return
	}
	e := c.op(history.FWork, g)
	e.Value = history.ValueOf(struct {
		Period int64 `json:"period"`
	}{period})
	c.invoke(e)
	g.LastUse = w.now
	c.after(false, w.upTo(8*ms), func() {
		w.jobs[period] = true
		w.truth.Jobs[period] = append(w.truth.Jobs[period], g)
		c.done(e, history.OK, "")
		then()
	})
}
