package reports

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// runData is what the timeline's script draws: columns of numbers, so that a hundred thousand events are two
// megabytes. Times are in us since the start of the run; -1 is "not on record". timeline.js reads it.
type runData struct {
	End       int64          `json:"end"`
	Clients   []string       `json:"clients"`
	Servers   []string       `json:"servers"`
	Locks     []string       `json:"locks"`
	Registers []string       `json:"registers"`
	Parties   []string       `json:"parties"` // of events
	Dead      map[int]int64  `json:"dead"`    // client -> when it was killed
	Ended     []int64        `json:"ended"`   // client -> its last event
	Grants    grantColumns   `json:"g"`
	Events    eventColumns   `json:"e"`
	Faults    []faultData    `json:"faults"`
	Roles     []roleData     `json:"roles"`
	Stalls    [][2]int64     `json:"stalls"`
	Incidents []incidentData `json:"incidents"`
	// Whole is false where only a part of the events is in the page; Left says which is not.
	Whole   bool     `json:"whole"`
	Left    string   `json:"left,omitempty"`
	Density *density `json:"density,omitempty"`
}

// grantColumns are the attempts in order of their first event.
type grantColumns struct {
	Client []int          `json:"c"`
	Number []int          `json:"n"` // its id is CLIENT-NUMBER, unless Names has another one
	Names  map[int]string `json:"names,omitempty"`
	Lock   []int          `json:"l"`
	Start  []int64        `json:"s"` // asked, as the difference to the one before
	Wait   []int64        `json:"w"` // from asked to answered; -1: no answer
	State  []int          `json:"o"` // 0 granted, 1 refused, 2 unknown
	Hold   []int64        `json:"h"` // how long it was held for certain
	Lease  []int64        `json:"d"` // from asked to the deadline, or the release before; -1: none
	Kept   []int64        `json:"k"` // beyond the hold, how long the store kept it although nobody believed in it
	Token  map[int]string `json:"t,omitempty"`
	Shared []int          `json:"shared,omitempty"`
}

// eventColumns are the events in order.
type eventColumns struct {
	Kinds []string       `json:"kinds"` // "f type register error"
	Time  []int64        `json:"t"`     // as the difference to the one before
	Kind  []int          `json:"k"`
	Party []int          `json:"p"`
	Grant []int          `json:"g"` // as the difference to that of the party's event before; -1 is no grant
	Value []int64        `json:"v"` // of each read and write, in order: base, then new; null where absent
	Index []int64        `json:"i,omitempty"`
	Text  map[int]string `json:"m,omitempty"` // message
}

type faultData struct {
	ID      int    `json:"id"`
	Name    string `json:"name"`
	Clients []int  `json:"c"`
	Servers []int  `json:"s"`
	Began   int64  `json:"b"`
	Proven  int64  `json:"p"`
	Ended   int64  `json:"e"`
	Proof   string `json:"text"`
	Done    bool   `json:"ok"`
	Tied    string `json:"tied,omitempty"`
}

type roleData struct {
	Server int    `json:"s"`
	Role   string `json:"r"`
	From   int64  `json:"b"`
	To     int64  `json:"e"`
}

const (
	// maxData is how many events are in a page, each by itself; of longer runs there are levels of density, and
	// the events around incidents.
	maxData = 100_000
	// maxText is how long a message is in the data.
	maxText = 300
)

func us(ns int64) int64 {
	if ns == history.Forever {
		return -1
	}
	return ns / 1000
}

// places numbers names in the order in which they come.
type places struct {
	names []string
	at    map[string]int
}

func placesOf(names []string) *places {
	p := &places{at: map[string]int{}, names: []string{}}
	for _, n := range names {
		p.of(n)
	}
	return p
}

func (p *places) of(name string) int {
	i, ok := p.at[name]
	if !ok {
		i = len(p.names)
		p.at[name], p.names = i, append(p.names, name)
	}
	return i
}

// dataOf is the data of a run for the script.
func dataOf(rec *history.Record, all []*happening, found []listedFinding) *runData {
	in := facts.Of(rec)
	end := endOf(rec)
	clients := slices.Collect(maps.Keys(rec.Last))
	slices.SortFunc(clients, byName)
	servers := serversOf(rec)
	slices.SortFunc(servers, byName)
	d := &runData{
		End: max(us(end), 1), Dead: map[int]int64{}, Whole: len(rec.Events) <= maxData,
		Faults: []faultData{}, Ended: []int64{}, Roles: []roleData{}, Stalls: [][2]int64{}, Incidents: []incidentData{},
	}
	c, s, l, regs, parties := placesOf(clients), placesOf(servers), placesOf(rec.Locks), placesOf(nil), placesOf(nil)
	for _, client := range clients {
		d.Ended = append(d.Ended, us(rec.Last[client]))
		if t, dead := rec.Kills[client]; dead {
			d.Dead[c.of(client)] = us(t)
		}
	}
	d.Grants = grantColumns{
		Client: []int{}, Number: []int{}, Lock: []int{}, Start: []int64{}, Wait: []int64{}, State: []int{},
		Hold: []int64{}, Lease: []int64{}, Kept: []int64{},
	}
	d.Events = eventColumns{Kinds: []string{}, Time: []int64{}, Kind: []int{}, Party: []int{}, Grant: []int{}, Value: []int64{}}
	near := nearOf(d.Whole, rec, all, found)
	g := d.grants(in, c, l, end, near)
	d.events(rec, regs, parties, g, near)
	d.faults(rec, c, s)
	for _, t := range tenures(rec) {
		d.Roles = append(d.Roles, roleData{s.of(t.node), cut(t.role, maxText), us(t.From), us(t.To)})
	}
	for _, iv := range in.LongStalls() {
		d.Stalls = append(d.Stalls, [2]int64{us(iv.From), us(iv.To)})
	}
	for _, h := range all {
		d.Incidents = append(d.Incidents, incidentOf(h, g))
	}
	if !d.Whole {
		d.Density = densityOf(in, l, end)
		d.Left = absent(len(rec.Events), len(d.Events.Time), near)
	}
	d.Clients, d.Servers, d.Locks, d.Registers, d.Parties = shown(c.names), shown(s.names), shown(l.names), shown(regs.names),
		shown(parties.names)
	return d
}

// grants fills the columns of grants, and numbers them.
func (d *runData) grants(in *facts.Facts, clients, locks *places, end int64, near []history.Interval) map[string]int {
	g := &d.Grants
	g.Names, g.Token = map[int]string{}, map[int]string{}
	at := map[string]int{}
	var before int64
	for _, gr := range in.Grants {
		if gr.Acquire == nil {
			continue
		}
		start, hold := gr.Acquire.Start(), in.Hold(gr)
		until := max(hold.To, gr.Acquire.Start())
		if !within(near, start, min(until, end)) {
			continue
		}
		i := len(g.Client)
		at[gr.ID] = i
		g.Client, g.Lock = append(g.Client, clients.of(gr.Client)), append(g.Lock, locks.of(gr.Lock))
		n, ok := strings.CutPrefix(gr.ID, gr.Client+"-")
		num, err := strconv.Atoi(n)
		if !ok || err != nil || strconv.Itoa(num) != n {
			g.Names[i] = cut(gr.ID, maxText)
		}
		g.Number = append(g.Number, num)
		g.Start = append(g.Start, us(start)-before)
		before = us(start)
		wait, state, held, lease, extra := int64(-1), 2, int64(0), int64(-1), int64(0)
		if ret := gr.Acquire.Return; ret != nil {
			wait = us(ret.Time) - us(start)
		}
		switch gr.Acquire.Outcome() {
		case history.OK:
			state, held = 0, max(us(hold.To)-us(hold.From), 0)
			if dl := gr.DeadlineAt(history.Forever); dl.Set {
				lease = max(us(dl.V)-us(start), 0)
			}
			if until, orphan := kept(in, gr, hold, end); orphan {
				extra = us(until) - us(hold.To)
			}
		case history.Fail:
			state = 1
		}
		g.Wait, g.State, g.Hold, g.Lease, g.Kept = append(g.Wait, wait), append(g.State, state), append(g.Hold, held),
			append(g.Lease, lease), append(g.Kept, extra)
		if t := gr.Token(); t.Set {
			g.Token[i] = strconv.FormatInt(t.V, 10)
		}
		if gr.Mode == history.ModeShared {
			g.Shared = append(g.Shared, i)
		}
	}
	return at
}

// events fills the columns of events.
func (d *runData) events(rec *history.Record, regs, parties *places, grants map[string]int, near []history.Interval) {
	kinds := map[string]int{}
	e := &d.Events
	room := len(rec.Events)
	if !d.Whole {
		room = maxNear
	}
	e.Time, e.Kind, e.Party, e.Grant, e.Index = make([]int64, 0, room), make([]int, 0, room), make([]int, 0, room),
		make([]int, 0, room), make([]int64, 0, room)
	e.Text = map[int]string{}
	last := map[int]int{}
	var before int64
	inOrder := true
	for i := range rec.Events {
		ev := &rec.Events[i]
		if !within(near, ev.Time, ev.Time) {
			continue
		}
		n := len(e.Time)
		inOrder = inOrder && ev.Index == int64(n)
		key := ev.F() + " " + string(ev.Type()) + " " + ev.Register() + " " + ev.Code()
		kind, known := kinds[key]
		if !known {
			kind = len(kinds)
			kinds[key] = kind
			e.Kinds = append(e.Kinds, visible(key))
			if ev.Register() != "" {
				regs.of(ev.Register())
			}
		}
		party := parties.of(ev.Party())
		grant := -1
		if ev.Grant() != "" {
			if g, ok := grants[ev.Grant()]; ok {
				grant = g
			}
		}
		e.Time, e.Kind, e.Party = append(e.Time, us(ev.Time)-before), append(e.Kind, kind), append(e.Party, party)
		before = us(ev.Time)
		e.Grant = append(e.Grant, grant-last[party])
		last[party] = grant
		if ev.F() == history.FRead || ev.F() == history.FWrite {
			e.Value = append(e.Value, ev.Base().Or(0), ev.New().Or(0))
		}
		e.Index = append(e.Index, ev.Index)
		if ev.Message() != "" {
			e.Text[n] = cut(ev.Message(), maxText)
		}
	}
	if inOrder {
		e.Index = nil
	}
}

func (d *runData) faults(rec *history.Record, clients, servers *places) {
	for _, in := range rec.Faults {
		f := faultData{
			ID: in.ID, Name: cut(in.Fault.Fault, maxText), Clients: []int{}, Servers: []int{}, Began: us(in.Began()),
			Proven: -1, Ended: -1, Proof: cut(in.Proof, maxText), Done: in.Effective(), Tied: cut(checker.Trigger(in.Fault), maxText),
		}
		for _, c := range in.Clients {
			f.Clients = append(f.Clients, clients.of(c))
		}
		for _, s := range in.Nodes {
			f.Servers = append(f.Servers, servers.of(s))
		}
		if in.Effective() {
			f.Proven = us(in.Effect.Time)
		} else {
			f.Proof = cut(missed(in), maxText)
		}
		if in.HealEnd != nil {
			f.Ended = us(in.HealEnd.Time)
		} else if in.Instant() && in.Effective() {
			f.Ended = f.Proven
		}
		d.Faults = append(d.Faults, f)
	}
}

// cut is text that is harmless and not too long.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return visible(s)
}

// shown are names as a page has them.
func shown(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = cut(n, maxText)
	}
	return out
}

type incidentData struct {
	Head   string     `json:"head"`
	Class  string     `json:"class"`
	Checks []string   `json:"checks"`
	Links  []string   `json:"links"` // ids of its findings in the page
	From   int64      `json:"b"`
	To     int64      `json:"e"`
	Window [2]int64   `json:"w"`
	Grants []int      `json:"g"`
	Fault  int        `json:"fault,omitempty"`
	Cause  string     `json:"cause"`
	Steps  []stepData `json:"steps"`
	Proof  []int64    `json:"pr,omitempty"` // events of its proof
}

type stepData struct {
	At    int64  `json:"t"`
	Text  string `json:"x"`
	Bad   bool   `json:"bad,omitempty"`
	Event int64  `json:"ev"` // -1: none
}

// incidentOf is an incident as the page's data has it; grants are the places of grants in it.
func incidentOf(h *happening, grants map[string]int) incidentData {
	f := h.first()
	out := incidentData{
		Head: cut(strings.TrimPrefix(h.kinds+". "+headlineOf(f), ". "), 1000), Class: string(f.Class), From: us(f.From), To: us(f.To),
		Window: [2]int64{us(h.window.From), us(h.window.To)},
		Fault:  f.Fault, Cause: cut(capital(because(f)), 1000), Grants: []int{}, Steps: []stepData{}, Proof: provenOf(h),
	}
	for _, one := range h.found {
		out.Checks = lists.With(out.Checks, cut(one.Check, maxText))
		out.Links = append(out.Links, findingID(one.Check, one.at))
		for _, id := range one.Finding.Grants {
			if g, ok := grants[id]; ok {
				out.Grants = lists.With(out.Grants, g)
			}
		}
	}
	for _, s := range h.steps[:min(len(h.steps), 40)] {
		out.Steps = append(out.Steps, stepData{us(s.At), cut(s.Text, 1000), s.Bad, eventOf(s)})
	}
	return out
}
