package proof

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/history"
)

// Claimed is a claim of the judge, and the events that it names.
type Claimed struct {
	Claim
	Events []int64
}

// Record is a whole record, in which proofs are looked for and against which they are held.
type Record struct {
	rec   *history.Record
	run   *history.Event
	last  map[string]*history.Event // the last event of each client
	ends  map[string]*history.Event // the end of its log
	kills map[string]*history.Event // its death
	logs  registerLogs
}

// New looks a record through.
func New(rec *history.Record) *Record {
	r := &Record{
		rec: rec, last: map[string]*history.Event{}, ends: map[string]*history.Event{}, kills: map[string]*history.Event{},
		logs: registerLogs{all: rec.Registered},
	}
	if i := slices.IndexFunc(rec.Events, func(e history.Event) bool { return e.F() == history.FRun }); i >= 0 {
		r.run = &rec.Events[i]
	}
	for _, e := range rec.Ends {
		r.ends[e.Party()] = e
	}
	for client, at := range rec.Kills {
		r.kills[client] = r.killed(client, at)
	}
	for i := len(rec.Events) - 1; i >= 0 && len(r.last) < len(rec.Last); i-- {
		if e := &rec.Events[i]; e.Client() != "" && e.Party() == e.Client() && r.last[e.Client()] == nil {
			r.last[e.Client()] = e
		}
	}
	return r
}

// killed is the event of a client's death.
func (r *Record) killed(client string, at int64) *history.Event {
	i, _ := slices.BinarySearchFunc(r.rec.Events, at, func(e history.Event, at int64) int { return cmp.Compare(e.Time, at) })
	for ; i < len(r.rec.Events); i++ {
		if e := &r.rec.Events[i]; e.F() == history.FKill && e.Client() == client {
			return e
		}
	}
	return nil
}

// Prove finds the fewest events that prove a finding: none of them can be left out. Where there are none, the proof rests on
// the record, and why says so.
func (r *Record) Prove(f Claimed) (proven *Certificate) {
	err := ErrRecord
	defer func() {
		if p := recover(); p != nil { // the judgement stands without
			proven = &Certificate{
				Grants: f.Grants, From: f.From, To: f.To, Events: f.Events, Record: true,
				Why: fmt.Sprintf("the code that searches for a proof crashed (a bug of lockstorm): %v", p),
			}
		}
	}()
	if rules[f.Check][f.Rule].few != nil {
		for _, c := range r.claims(f) {
			var p *Certificate
			if p, err = r.prove(c, f.Events); err == nil {
				return p
			}
		}
	}
	p := &Certificate{Grants: f.Grants, From: f.From, To: f.To, Events: slices.Clone(f.Events), Record: true}
	if !errors.Is(err, ErrRecord) {
		p.Why = err.Error()
	}
	return p
}

// ProveAll finds the proofs of findings, of several at once.
func (r *Record) ProveAll(findings []Claimed) []*Certificate {
	out := make([]*Certificate, len(findings))
	r.logs.expect(findings)
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(len(findings), runtime.GOMAXPROCS(0)) {
		done.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(findings)); i = next.Add(1) - 1 {
				out[i] = r.Prove(findings[i])
			}
		})
	}
	done.Wait()
	return out
}

// mostClaims is how many pairs of grants are tried for a finding about many.
const mostClaims = 20

// claims are what a finding claims, or what of it can be shown: of a loss that is about many writes, that of one of them.
func (r *Record) claims(f Claimed) []Claim {
	c := f.Claim
	switch {
	case f.Check == "lock-linearizability":
		c.From, c.To = unset, unset
	case f.Rule == lostUpdate || f.Rule == lateWrite || f.Rule == split:
		return r.losses(f)
	}
	return []Claim{c}
}

func (r *Record) losses(f Claimed) (out []Claim) {
	var e *history.Event
	var others []*history.Event
	for _, i := range f.Events {
		switch o := r.at(i); {
		case o == nil:
		case o.Time == f.To && (o.Grant() == f.Grants[0] || o.Party() != history.PartyRegister) && e == nil:
			e = o
		default:
			others = append(others, o)
		}
	}
	for _, w := range others[:min(len(others), mostClaims)] {
		if e != nil {
			c := f.Claim
			c.Grants, c.From, c.To = []string{w.Grant(), e.Grant()}, w.Time, e.Time
			out = append(out, c)
		}
	}
	return out
}

// at is the event of an index.
func (r *Record) at(index int64) *history.Event {
	i, found := slices.BinarySearchFunc(r.rec.Events, index, func(e history.Event, i int64) int { return cmp.Compare(e.Index, i) })
	if !found {
		return nil
	}
	return &r.rec.Events[i]
}

// prove reduces all events about the grants of a claim to those that prove it. Mostly it is enough to look at those that the
// finding names.
func (r *Record) prove(c Claim, named []int64) (*Certificate, error) {
	events, err := r.proven(c)
	if err != nil {
		return nil, err
	}
	holds := func(events []history.Event) bool {
		if unasked(events) {
			return false
		}
		s := built(r.rec.Run, events)
		return s.fits() == nil && s.proves(c) == nil
	}
	if near := r.near(c, named); len(near) < len(events) && holds(near) {
		events = near
	}
	events = reduce(events, holds)
	if c.To == unset {
		span, _ := rules[c.Check][c.Rule].few(built(r.rec.Run, events), c)
		c.From, c.To = span.From, span.To
	}
	p := &Certificate{Grants: c.Grants, From: c.From, To: c.To}
	for i := range events {
		p.Events = append(p.Events, events[i].Index)
	}
	return p, nil
}

// unasked reports whether there is an answer without its request: what [scene.fits] would say, without building anything.
func unasked(events []history.Event) bool {
	const few = 100 // of more it would take longer than building
	if len(events) > few {
		return false
	}
	for i := range events {
		e := &events[i]
		if !e.Process().IsOp() || e.Type() == history.Invoke {
			continue
		}
		asked := false
		for k := i - 1; k >= 0 && !asked; k-- {
			o := &events[k]
			if o.Process() == e.Process() {
				if o.Type() != history.Invoke || o.F() != e.F() {
					break
				}
				asked = true
			}
		}
		if !asked {
			return true
		}
	}
	return false
}

// proven are the events of the record that are about a claim, which they prove.
func (r *Record) proven(c Claim) (events []history.Event, err error) {
	for _, wide := range []bool{false, true} {
		events = r.about(c, wide)
		s := built(r.rec.Run, events)
		if alone := s.Unpaired; len(alone) > 0 {
			events = paired(events, alone)
			s = built(r.rec.Run, events)
		}
		if err = errors.Join(s.fits(), s.proves(c)); err == nil {
			return events, nil
		}
	}
	return nil, err
}

// paired are events without the answers whose requests are not among them: the last event of a client may be one, and no events
// with it are a proof, however few they are.
func paired(events []history.Event, alone []*history.Event) []history.Event {
	missing := map[int64]bool{}
	for _, e := range alone {
		missing[e.Index] = true
	}
	return slices.DeleteFunc(events, func(e history.Event) bool { return missing[e.Index] })
}

// near are the acquires of the grants of a claim, and the calls of the events that its finding names, and what registers accepted
// of them.
func (r *Record) near(c Claim, named []int64) []history.Event {
	a := &gathering{r: r, claim: c}
	a.add(r.run)
	wanted := map[int64]bool{}
	for _, i := range named {
		wanted[i] = true
		a.add(r.at(i))
	}
	for _, id := range c.Grants {
		g := r.rec.ByID[id]
		if g == nil {
			continue
		}
		a.calls(g.Acquire)
		if ofData[c.Rule].few != nil {
			a.add(r.logs.of(id)...)
		}
		for _, calls := range [][]*history.Call{g.Renews, g.Releases, g.Uses} {
			for _, call := range calls {
				if wanted[call.Invoke.Index] || (call.Return != nil && wanted[call.Return.Index]) ||
					(ofData[c.Rule].few != nil && call.Invoke.F() == history.FWrite) {
					a.calls(call)
				}
			}
		}
	}
	a.others()
	return a.events()
}

// reduce leaves events out, first many at once and the latest first, for as long as the rest holds; of few, of which most are
// needed, one by one. The first one stays. It ends when each that is left was tried after the last one that was left out.
func reduce(events []history.Event, holds func([]history.Event) bool) []history.Event {
	const few = 20
	events, less := slices.Clone(events), make([]history.Event, 0, len(events)) // nothing of them is kept
	tried := 0                                                                  // one by one, since an event was left out
	size := max(len(events)/2, 1)
	if len(events) <= few {
		size = 1
	}
	for ; ; size = max(size/2, 1) {
		for end := len(events); end > 1; end = max(end-size, 1) {
			less = append(append(less[:0], events[:max(end-size, 1)]...), events[end:]...)
			switch {
			case holds(less):
				events, less, tried = less, events, 0
			case size == 1:
				tried++
			}
			if tried >= len(events)-1 && size == 1 {
				return events
			}
		}
		if size == 1 && len(events) == 1 {
			return events
		}
	}
}

// pick are the events of a proof.
func (r *Record) pick(p *Certificate) ([]history.Event, error) {
	var out []history.Event
	for _, i := range p.Events {
		e := r.at(i)
		if e == nil {
			return nil, fmt.Errorf("the proof uses event %d, but the record has no such event", i)
		}
		out = append(out, *e)
	}
	return out, nil
}
