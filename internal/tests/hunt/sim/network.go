package sim

import "github.com/lockstorm/lockstorm/history"

// link is the way of a client to the servers and to the resource.
type link struct {
	cut   int64 // until then what is sent to the service is lost
	deaf  int64 // until then the service's replies are lost
	slow  int64 // until then requests to the resource are held back
	fault int   // that holds them back
}

// answer is what a server says, or what is known without it.
type answer struct {
	known  bool
	sent   bool // false: the request never left
	ok     bool
	code   string
	value  int64
	sentAt int64
}

// call is a request under way: settled once, by its answer or by a time-out.
type call struct {
	c          *client
	background bool
	settled    bool
	back       func(answer)
}

func (k *call) settle(a answer) {
	k.c.when(k.background, func() {
		if !k.settled {
			k.settled = true
			k.back(a)
		}
	})
}

func (w *world) hop() int64 { return 50*us + w.upTo(250*us) }

// ask sends a request to the service. serve runs there, once, if it arrives; it gets the way
// back, which a queue may use later.
func (c *client) ask(background bool, patience int64, serve func(reply func(answer)), back func(answer)) {
	w, k := c.w, &call{c: c, background: background, back: back}
	sent := w.now
	if w.server.down > w.now {
		w.after(w.hop(), func() { k.settle(answer{known: true, sentAt: sent}) })
		return
	}
	if patience > 0 {
		w.after(patience, func() { k.settle(answer{sent: true, sentAt: sent}) })
	}
	if c.link.cut > w.now || w.unlucky(w.cfg.Loss) {
		return
	}
	reply := func(a answer) {
		a.known, a.sent, a.sentAt = true, true, sent
		if c.link.cut > w.now || c.link.deaf > w.now || w.unlucky(w.cfg.Loss) {
			return
		}
		w.after(w.hop()+w.tardy(), func() { k.settle(a) })
	}
	w.after(w.hop()+w.tardy(), func() { w.serve(func() { serve(reply) }) })
}

// serve runs a request at the server: later where it is paused, never where it is down.
func (w *world) serve(do func()) {
	switch {
	case w.server.down > w.now:
	case w.server.paused > w.now:
		w.at(w.server.paused+w.upTo(100*us), func() { w.serve(do) })
	default:
		do()
	}
}

// tardy is how much later than usual a message comes, now and then.
func (w *world) tardy() int64 {
	if !w.unlucky(w.cfg.Late) {
		return 0
	}
	return w.upTo(w.cfg.TTL * 3 / 2)
}

// patience is how long a client waits for an answer.
func (w *world) patience() int64 { return w.cfg.TTL / 2 }

// send sends a request to the resource. What a link holds back waits there, also if it is lost then.
func (c *client) send(g *Grant, patience int64, serve func() answer, back func(answer)) {
	w, k := c.w, &call{c: c, back: back}
	sent := w.now
	w.after(patience, func() { k.settle(answer{sent: true, sentAt: sent}) })
	lost := w.unlucky(w.cfg.Loss)
	way, fault := c.way(lost)
	if way > w.cfg.Tolerance {
		i := len(g.Late)
		g.Late = append(g.Late, HeldUp{Client: c.name, From: w.now, To: w.now + way, Fault: fault, Waited: Forever})
		k.back = func(a answer) {
			g.Late[i].Waited = w.now
			back(a)
		}
	}
	if lost {
		return
	}
	w.after(way, func() {
		a := serve()
		a.known, a.sent, a.sentAt = true, true, sent
		if !w.unlucky(w.cfg.Loss) {
			w.after(w.hop(), func() { k.settle(a) })
		}
	})
}

// way is how long a request to the resource is on its way, and the fault that holds it back; one that
// is lost gets as far as that.
func (c *client) way(lost bool) (way int64, fault int) {
	w, slow := c.w, c.link.slow-c.w.now
	if !lost {
		way = w.hop() + w.tardy()
	}
	if slow > 0 && !lost {
		slow += w.hop()
	}
	if slow > way {
		return slow, c.link.fault
	}
	return way, 0
}

// unlucky is a chance of so many in a thousand, while faults strike.
func (w *world) unlucky(chance int) bool {
	return chance > 0 && w.now < w.quiet && w.rnd.IntN(1000) < chance
}

// outcome is what a record says of an answer.
func (a answer) outcome() (history.Type, string) {
	switch {
	case !a.known:
		return history.Info, history.ErrTimeout
	case !a.sent:
		return history.Fail, history.ErrNotSent
	case a.ok:
		return history.OK, ""
	}
	return history.Fail, a.code
}
