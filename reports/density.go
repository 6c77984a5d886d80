package reports

import (
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// density is a run by stretches of equal length: how much of each a client held, how many were inside a lock at
// once at most, how many events there were.
type density struct {
	Bins    int     `json:"n"`
	Events  []int   `json:"e"`
	Clients [][]int `json:"c"` // per client and stretch: percent of it in which it held a lock
	Locks   [][]int `json:"l"` // per lock and stretch: holders at once, at most
}

const (
	bins       = 2000
	maxDensity = 60 // rows of clients
)

func densityOf(in *facts.Facts, clients, locks *places, end int64) *density {
	d := &density{Bins: bins, Events: make([]int, bins)}
	width := max(end/bins, 1)
	bin := func(t int64) int { return int(min(max(t, 0)/width, bins-1)) }
	for i := range in.Events {
		d.Events[bin(in.Events[i].Time)]++
	}
	held := make([][]int64, min(len(clients.names), maxDensity))
	for i := range held {
		held[i] = make([]int64, bins)
	}
	for range locks.names {
		d.Locks = append(d.Locks, make([]int, bins))
	}
	for _, lock := range in.Locks {
		most := d.Locks[locks.of(lock)]
		for _, g := range in.ByOK(lock) {
			h := in.Hold(g)
			if h.Empty() {
				continue
			}
			first, last := bin(h.From), bin(h.To)
			for b := first; b <= last; b++ {
				most[b] = max(most[b], 1)
				part := h.Overlap(history.Interval{From: int64(b) * width, To: int64(b+1) * width})
				if c := clients.of(g.Client); c < len(held) && !part.Empty() {
					held[c][b] += part.To - part.From
				}
			}
		}
		for _, o := range in.Overlaps(lock) {
			for b := bin(o.Span.From); b <= bin(o.Span.To); b++ {
				most[b] = max(most[b], 2)
			}
		}
	}
	for _, row := range held {
		out := make([]int, bins)
		for b, ns := range row {
			out[b] = int(min(100, (ns*100+width-1)/width))
		}
		d.Clients = append(d.Clients, out)
	}
	return d
}
