package search

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Behaviour is what a run did, as far as the search goes by it.
type Behaviour struct {
	Features []uint64 // hashes, sorted, each once
	Margin   int64    // ns from the end of one grant of a lock to the begin of the next one of another client; the least of the run
}

// moment is something that happened to a client, or to all of them.
type moment struct {
	at     int64
	kind   string
	client string // empty: everybody
}

// gram is how many moments in a row make a feature.
const gram = 3

// Observe reads the behaviour off a record: the orders in which requests, answers, ends of leases, losses and faults came for
// each pair of clients, what the checks say, and how near two grants came to each other.
func Observe(rec *history.Record, r *checker.Results) Behaviour {
	seen := map[uint64]bool{}
	b := Behaviour{Margin: farthest}
	for _, lock := range rec.Locks {
		b.Margin = min(b.Margin, margin(rec, rec.ByLock[lock]))
		all := moments(rec, lock)
		orders(all, seen)
	}
	for name, c := range r.Checks {
		seen[hash("check", name, string(c.Verdict))] = true
		for _, f := range c.Findings {
			seen[hash("finding", name, f.Rule, string(f.Class), string(f.CauseKind))] = true
		}
	}
	if b.Margin < farthest { // a step nearer is a feature
		sign := "after"
		if b.Margin < 0 {
			sign = "before"
		}
		seen[hash("margin", sign, string(rune('a'+bits.Len64(uint64(max(b.Margin, -b.Margin))/1e6))))] = true
	}
	for f := range seen {
		b.Features = append(b.Features, f)
	}
	slices.Sort(b.Features)
	return b
}

func hash(words ...string) uint64 {
	h := fnv.New64a()
	for _, w := range words {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// moments are those of a lock, in order.
func moments(rec *history.Record, lock string) (out []moment) {
	add := func(at int64, kind, client string) { out = append(out, moment{at, kind, client}) }
	for _, g := range rec.ByLock[lock] {
		if g.Acquire == nil {
			continue
		}
		add(g.Sent(), "ask", g.Client)
		if ret := g.Acquire.Return; ret != nil {
			add(ret.Time, "acquire "+string(ret.Type()), g.Client)
		}
		if !g.Granted() {
			continue
		}
		if d := g.DeadlineAt(math.MaxInt64); d.Set {
			add(d.V, "end", g.Client)
		}
		for _, of := range []struct {
			kind  string
			calls []*history.Call
		}{{"use", g.Uses}, {"release", g.Releases}} {
			for _, c := range of.calls {
				add(c.Start(), of.kind, g.Client)
				if c.Return != nil {
					add(c.Return.Time, of.kind+" "+string(c.Return.Type()), g.Client)
				}
			}
		}
		for _, l := range g.Losses {
			add(l.Time, "lost", g.Client)
		}
	}
	for _, f := range rec.Faults {
		if !f.Effective() {
			continue
		}
		who := ""
		if len(f.Clients) == 1 {
			who = f.Clients[0]
		}
		add(f.Effect.Time, f.Fault.Fault+" begins", who)
		if f.HealEnd != nil {
			add(f.HealEnd.Time, f.Fault.Fault+" ends", who)
		}
	}
	slices.SortStableFunc(out, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return out
}

// orders adds the orders of each pair of clients; who is who does not matter, only who came first.
func orders(all []moment, seen map[uint64]bool) {
	var clients []string
	for _, m := range all {
		if m.client != "" && !slices.Contains(clients, m.client) {
			clients = append(clients, m.client)
		}
	}
	for i, a := range clients {
		for _, b := range clients[i+1:] {
			var row []moment
			for _, m := range all {
				if m.client != a && m.client != b && m.client != "" {
					continue
				}
				if n := len(row); n > 0 && row[n-1].kind == m.kind && row[n-1].client == m.client {
					continue // as before
				}
				row = append(row, m)
			}
			for k := 0; k+gram <= len(row); k++ {
				seen[hash(called(row[k:k+gram])...)] = true
			}
		}
	}
}

// called are moments in words, the client that comes first as A.
func called(row []moment) []string {
	first := ""
	out := make([]string, len(row))
	for i, m := range row {
		who := "all"
		switch {
		case m.client == "":
		case first == "" || m.client == first:
			first, who = m.client, "A"
		default:
			who = "B"
		}
		out[i] = who + " " + m.kind
	}
	return out
}

// farthest is the margin of a run in which no lock had two holders.
const farthest = int64(time.Hour)

// margin is how long after the last act under one grant the next one of another client was answered; negative: before that act.
// Grants that may be held together have none.
func margin(rec *history.Record, grants []*history.Grant) int64 {
	least, over := farthest, int64(math.MinInt64)
	var holder *history.Grant
	held := slices.DeleteFunc(slices.Clone(grants), func(g *history.Grant) bool { return !g.Granted() })
	slices.SortFunc(held, func(a, b *history.Grant) int { return cmp.Compare(a.From(), b.From()) })
	for _, g := range held {
		if holder != nil && holder.Client != g.Client && !rec.Model.Together(holder, g) {
			least = min(least, g.From()-over)
		}
		last := g.From()
		for _, u := range g.Uses {
			last = max(last, u.Start())
			if u.Return != nil {
				last = max(last, u.Return.Time)
			}
		}
		if last > over {
			over, holder = last, g
		}
	}
	return least
}

// Shape is what tells apart two violations of one rule: the events of the proof in order, their clients by order of appearance.
func Shape(rec *history.Record, f checker.Finding) string {
	if f.Proof == nil {
		return ""
	}
	byIndex := map[int64]*history.Event{}
	for _, i := range f.Proof.Events {
		if at, ok := slices.BinarySearchFunc(rec.Events, i, func(e history.Event, i int64) int { return cmp.Compare(e.Index, i) }); ok {
			byIndex[i] = &rec.Events[at]
		}
	}
	var names, parts []string
	for _, i := range f.Proof.Events {
		e := byIndex[i]
		if e == nil || e.F() == history.FRun {
			continue
		}
		who := cmp.Or(e.Client(), e.Party())
		n := slices.Index(names, who)
		if n < 0 {
			n, names = len(names), append(names, who)
		}
		parts = append(parts, string(rune('A'+min(n, 25)))+":"+e.F()+"/"+string(e.Type()))
	}
	return strings.Join(parts, " ")
}
