package sim

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// The faults.
const (
	Pause    = "client-pause"
	Stall    = "client-stall"
	Kill     = "client-kill"
	Cut      = "partition-client"
	LoseHear = "lost-reply"
	Delay    = "packet-delay"
	SrvPause = "server-pause"
	SrvKill  = "server-kill"
	Restart  = "server-restart" // without persistence: only with the bug that it is
)

// FaultNames are those that a correct service survives.
var FaultNames = []string{Pause, Pause, Stall, Kill, Cut, LoseHear, Delay, SrvPause, SrvKill}

var families = map[string]string{
	Pause: history.FamilyClient, Stall: history.FamilyClient, Kill: history.FamilyClient, Cut: history.FamilyLink,
	LoseHear: history.FamilyLink, Delay: history.FamilyLink, SrvPause: history.FamilyServer, SrvKill: history.FamilyServer,
	Restart: history.FamilyServer,
}

// Requests are the faults asked for, each once.
func (c *Config) Requests() []string {
	var out []string
	for _, f := range c.Faults {
		out = lists.With(out, f)
	}
	return out
}

// plan sets a moment for each fault and for each hiccup of the host.
func (w *world) plan() {
	at := 20 * ms
	for _, name := range w.cfg.Faults {
		if at += w.upTo(w.cfg.Work / int64(len(w.cfg.Faults)+1)); at < w.cfg.Work-20*ms {
			w.at(at, func() { w.inject(name) })
		}
	}
	for i := int64(1); w.cfg.Feigned && i < 8; i++ {
		w.at(i*w.cfg.Work/8, w.feign)
	}
	if w.cfg.Steps {
		for i := range int64(2) { // each is small enough to be believed
			w.at(w.cfg.Work/2+i*ms, func() {
				w.log(history.PartyController, history.Line{
					F: history.FClock, Type: history.Info,
					Value: history.ValueOf(history.ClockStep{Step: w.cfg.Tolerance * 3 / 4}),
				})
			})
		}
	}
	for range w.cfg.Stalls {
		w.at(10*ms+w.upTo(w.cfg.Work-20*ms), w.hiccup)
	}
}

// hiccup is the host that holds a client up without being asked to.
func (w *world) hiccup() {
	c := w.victim()
	if c == nil {
		return
	}
	length := w.upTo(w.cfg.TTL * 3 / 2)
	c.frozen++
	from := w.now
	if w.cfg.Grazed {
		w.graze(c, length)
	}
	w.after(length, func() {
		c.frozen--
		w.truth.Held = append(w.truth.Held, HeldUp{Client: c.name, From: from, To: w.now})
		if !c.dead && length > w.cfg.Tolerance {
			c.notice(history.Line{F: history.FStall, Value: history.ValueOf(history.Stall{Late: length})})
		}
		c.thaw()
	})
}

// graze injects a fault that has next to nothing to do with a hiccup that it touches: at its beginning, in it, or just before its
// end.
func (w *world) graze(c *client, length int64) {
	w.after([]int64{0, w.upTo(length), max(0, length-2*ms)}[w.rnd.IntN(3)], func() {
		if c.dead {
			return
		}
		f, v := w.ask(Pause, c, ms)
		w.after(200*us, func() {
			if w.rnd.IntN(2) == 0 {
				w.missed(f, v)
				return
			}
			w.strike(f, c, v, ms)
		})
	})
}

// feign lets a client record a stall in which it went on: at most a quarter of it passed between two of its
// events.
func (w *world) feign() {
	const least = 8
	for _, c := range w.clients {
		// no act of its own
		log := slices.DeleteFunc(slices.Clone(w.logs[c.name]), func(e history.Line) bool { return e.F == history.FStall })
		if c.dead || c.ended || len(log) <= least {
			continue
		}
		var widest int64
		for i := len(log) - least; i < len(log); i++ {
			widest = max(widest, log[i].Time-log[i-1].Time)
		}
		late := w.now - log[len(log)-least-1].Time
		if c.frozen+c.stalled == 0 && 4*max(widest, w.now-log[len(log)-1].Time) < late && late > w.cfg.Tolerance {
			c.notice(history.Line{F: history.FStall, Value: history.ValueOf(history.Stall{Late: late})})
			return
		}
	}
}

// victim is a living client that moves, of those that have begun: rather one that holds.
func (w *world) victim() *client {
	again := w.cfg.Twice && w.rnd.IntN(2) == 0
	of := lists.Filter(w.clients, func(c *client) bool {
		return !c.dead && (c.frozen+c.stalled == 0 || again) && len(w.logs[c.name]) > 0
	})
	if len(of) == 0 {
		return nil
	}
	inside := slices.DeleteFunc(slices.Clone(of), func(c *client) bool {
		return !slices.ContainsFunc(c.held, func(h *holding) bool { return !h.over && !h.lost })
	})
	if len(inside) > 0 && w.rnd.IntN(3) > 0 {
		of = inside
	}
	return of[w.rnd.IntN(len(of))]
}

// inject strikes: a fault has an invocation, an effect that is proven a little later, and a
// heal.
func (w *world) inject(name string) {
	var c *client
	if families[name] != history.FamilyServer {
		if c = w.victim(); c == nil {
			return
		}
	}
	length := w.cfg.TTL/4 + w.upTo(w.cfg.TTL*3/2)
	if w.cfg.Brief && name == Pause {
		length = w.cfg.TTL / 3
	}
	f, value := w.ask(name, c, length)
	w.after(200*us+w.upTo(300*us), func() { w.strike(f, c, value, length) })
}

// ask records the invocation of a fault on a client, or on the server: nil.
func (w *world) ask(name string, c *client, length int64) (*Fault, history.Fault) {
	f, value := w.newFault(name, c, length)
	w.fault(history.FFault, history.Invoke, value)
	w.truth.Faults = append(w.truth.Faults, f)
	return f, value
}

func (w *world) newFault(name string, c *client, length int64) (*Fault, history.Fault) {
	w.faults++
	f := &Fault{
		ID: w.faults, Name: name, Family: families[name], Invoked: w.now, To: Forever, Healed: Forever,
		Delays: name == Delay,
	}
	value := history.Fault{
		ID: f.ID, Fault: name, Request: slices.Index(w.cfg.Requests(), name), Family: f.Family, For: length, Delays: f.Delays,
	}
	if c != nil {
		f.Clients = []string{c.name}
		value.Clients = f.Clients
	} else {
		value.Nodes = []string{"n1"}
	}
	if name == Kill {
		value.For = 0
	}
	return f, value
}

func (w *world) fault(f string, typ history.Type, v history.Fault) {
	w.log(history.PartyNemesis, history.Line{F: f, Type: typ, Value: history.ValueOf(v)})
}

func (w *world) missed(f *Fault, v history.Fault) {
	f.From, f.To, f.Healed = Forever, w.now, w.now
	w.fault(history.FFault, history.Fail, v)
}

// strike brings the effect about, proves it, and heals it.
func (w *world) strike(f *Fault, c *client, v history.Fault, length int64) {
	f.From = w.now
	if c != nil && c.dead {
		w.missed(f, v)
		return
	}
	if f.Name == Kill {
		w.kill(c, f, v)
		return
	}
	until := w.now + length
	w.effect(f, c, until)
	w.after(200*us, func() {
		v.Proof = "it took effect"
		w.fault(history.FFault, history.OK, v)
	})
	w.at(until-100*us, func() { w.fault(history.FHeal, history.Invoke, v) })
	w.at(until, func() {
		w.undo(f, c)
		f.To = w.now
	})
	w.at(until+100*us, func() {
		w.fault(history.FHeal, history.OK, v)
		f.Healed = w.now
	})
}

// effect begins what a fault does. Of several of one kind at once none ends what another one does.
func (w *world) effect(f *Fault, c *client, until int64) {
	switch f.Name {
	case Pause:
		c.frozen++
	case Stall:
		c.stalled++
	case Cut:
		c.link.cut = max(c.link.cut, until)
		w.cutOff(c, until)
	case LoseHear:
		c.link.deaf = max(c.link.deaf, until)
	case Delay:
		if until > c.link.slow {
			c.link.slow, c.link.fault = until, f.ID
		}
	case SrvPause:
		w.server.paused = max(w.server.paused, until)
	default:
		w.server.down = max(w.server.down, until)
		w.cutAll(until)
	}
}

func (w *world) undo(f *Fault, c *client) {
	switch f.Name {
	case Pause, Stall:
		if f.Name == Pause {
			c.frozen--
		} else {
			c.stalled--
		}
		w.truth.Held = append(w.truth.Held, HeldUp{Client: c.name, From: f.From, To: w.now, Fault: f.ID})
		if !c.dead && f.Name == Pause {
			c.notice(history.Line{F: history.FStall, Value: history.ValueOf(history.Stall{Late: w.now - f.From})})
		}
		c.thaw()
	case Restart:
		if w.forgets() {
			w.svc.forget(f.ID)
		}
	case SrvKill:
		for _, l := range w.svc.sorted() {
			w.svc.pump(l)
		}
	}
}

// forgets reports whether there is something to forget.
func (w *world) forgets() bool {
	held := slices.ContainsFunc(w.svc.sorted(), func(l *lock) bool {
		w.svc.purge(l)
		return len(l.holds) > 0
	})
	return held && w.bug(Forgets)
}

// kill ends a client; another one takes its place.
func (w *world) kill(c *client, f *Fault, v history.Fault) {
	w.log(history.PartyNemesis, history.Line{F: history.FKill, Type: history.Info, Client: c.name})
	c.dead = true
	for _, g := range w.truth.Grants {
		if g.Client == c.name && g.Killed < 0 {
			g.Killed = w.now
		}
	}
	if w.cfg.Service == Processes || w.cfg.Service == Connections {
		w.after(w.upTo(10*ms), func() { w.svc.died(c.name) })
	}
	w.start(5*ms + w.upTo(5*ms))
	w.after(2*ms, func() {
		v.Proof = fmt.Sprintf("%s died of SIGKILL", c.name)
		w.fault(history.FFault, history.OK, v)
		f.To, f.Healed = w.now, w.now
	})
}

// armed is a point before a write: a paused client may have been caught just there.
func (w *world) armed(c *client, h *holding, then func()) {
	if w.now >= w.quiet || w.rnd.IntN(40) != 0 || !slices.Contains(w.cfg.Faults, Pause) || c.frozen > 0 {
		then()
		return
	}
	point := history.Line{
		F: history.FPoint, Type: history.Invoke, Client: c.name, Lock: h.g.Lock, Grant: h.g.ID,
		Value: history.ValueOf("before-write"),
	}
	w.log(c.name, point)
	w.pauseAt(c, h)
	c.after(false, 700*us, func() {
		point.Type = history.OK
		w.log(c.name, point)
		then()
	})
}

// pauseAt pauses the client that stands at the point.
func (w *world) pauseAt(c *client, h *holding) {
	length := w.cfg.TTL/4 + w.upTo(w.cfg.TTL*3/2)
	f, v := w.newFault(Pause, c, length)
	v.Point, v.By, v.Grant = "before-write", c.name, h.g.ID
	w.after(100*us, func() {
		f.Invoked = w.now
		w.fault(history.FFault, history.Invoke, v)
		w.truth.Faults = append(w.truth.Faults, f)
	})
	w.after(300*us, func() { w.strike(f, c, v, length) })
}
