package models

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/operations"
)

// Verdict is what is known of a history.
type Verdict string

// There is an order, there is none, or too many had to be looked at.
const (
	Pass    Verdict = "pass"
	Failed  Verdict = "fail"
	Unknown Verdict = "unknown"
)

// Result is the verdict on the operations of one object.
type Result struct {
	Key        string `json:"key,omitempty"`
	Verdict    Verdict
	Operations int
	// Of a violation: the operation that cannot follow, in what the object can be before it, and the operations of which
	// alone there is no order, whatever the others did.
	At      *operations.Call
	Before  []string
	More    int // states that Before leaves out
	Proof   []*operations.Call
	Minimal bool // without any one of them there is an order
}

// Limits of a judgement.
const (
	mostStates = 3
	reduceFor  = 4 * time.Second
	searchFor  = 10 * time.Second // for an object, where ctx has no deadline
)

// Judge judges each object of a history, and gives one up after ten seconds, or at the deadline of ctx if it has one. It fails
// where an operation has values of which the model can make nothing.
func Judge(ctx context.Context, m Model, h *operations.History) ([]Result, error) {
	by := map[string][]*operations.Call{}
	for _, c := range h.Calls {
		by[c.Key] = append(by[c.Key], c)
	}
	var out []Result
	for _, key := range h.Keys {
		t := newTable(m.initial)
		ops, err := m.compile(t, by[key])
		if err != nil {
			return nil, err
		}
		r, err := m.judge(ctx, t, ops)
		if err != nil {
			return nil, err
		}
		r.Key = key
		out = append(out, r)
	}
	return out, nil
}

// judge looks for an order, wider each time.
func (m Model) judge(ctx context.Context, t *table, ops []op) (Result, error) {
	r := Result{Verdict: Unknown, Operations: len(ops)}
	whole := ctx
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, searchFor)
		defer cancel()
	}
	for _, width := range widths {
		s := newSearch(m, ops, width)
		found, err := s.run(ctx)
		switch {
		case whole.Err() != nil:
			return r, whole.Err()
		case err != nil: // there was no time for more
			return r, nil
		case found:
			r.Verdict = Pass
			return r, nil
		case !s.cut:
			r.Verdict = Failed
			s.explain(whole, t, &r)
			return r, nil
		}
	}
	return r, nil
}

// explain says at which operation the last order ended, and of which few operations there is none.
func (s *search) explain(ctx context.Context, t *table, r *Result) {
	e := s.events[s.failed]
	r.At = s.ops[e.op].call
	for _, w := range s.ways {
		if text := s.m.tell(t, w.s); !slices.Contains(r.Before, text) {
			r.Before = append(r.Before, text)
		}
	}
	slices.Sort(r.Before)
	if len(r.Before) > mostStates {
		r.Before, r.More = r.Before[:mostStates], len(r.Before)-mostStates
	}
	ctx, cancel := context.WithTimeout(ctx, reduceFor)
	defer cancel()
	r.Proof, r.Minimal = s.reduce(ctx, e)
}

// reduce finds few operations of which there is no order, whichever of the others took effect.
func (s *search) reduce(ctx context.Context, end event) (proof []*operations.Call, minimal bool) {
	var all []int // those that ended, the latest first
	for i := range s.ops {
		if c := s.ops[i].call; !c.Unknown() && c.From < end.at {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b int) int { return s.ops[b].call.To - s.ops[a].call.To })
	unsure := false // some were kept because there was no time to look
	none := func(known []int) bool {
		ctx, cancel := context.WithTimeout(ctx, reduceFor/8)
		defer cancel()
		found, err := newSearch(s.m, s.forgetful(known, end.at), widths[1]).judged(ctx)
		unsure = unsure || err != nil
		return err == nil && !found
	}
	known := all
	for n := 4; n < len(all); n *= 2 {
		if none(all[:n]) {
			known = all[:n]
			break
		}
	}
	minimal = true
	for size := max(len(known)/2, 1); ; size = max(size/2, 1) {
		gone := false
		for from := 0; from < len(known); {
			less := slices.Concat(known[:from], known[min(from+size, len(known)):])
			if ctx.Err() == nil && none(less) {
				known, gone = less, true
			} else {
				from += size
			}
		}
		if ctx.Err() != nil {
			minimal = false
			break
		}
		if size == 1 && !gone {
			break
		}
	}
	for _, i := range known {
		proof = append(proof, s.ops[i].call)
	}
	slices.SortFunc(proof, func(a, b *operations.Call) int { return a.From - b.From })
	return proof, minimal && !unsure
}

// judged is run, and an error where ways were left out.
func (s *search) judged(ctx context.Context) (bool, error) {
	found, err := s.run(ctx)
	if err == nil && !found && s.cut {
		err = errors.New("no verdict, because there are too many possible orders of the operations")
	}
	return found, err
}

// forgetful are the operations that began before a moment; of all but those known, nobody knows whether they took effect.
func (s *search) forgetful(known []int, before int) []op {
	keep := map[int]bool{}
	for _, i := range known {
		keep[i] = true
	}
	var out []op
	for i, o := range s.ops {
		if o.call.From >= before || (o.kind == read && !keep[i]) {
			continue
		}
		o.maybe = !keep[i]
		if o.call.To > before {
			c := *o.call
			c.To = operations.Open
			o.call = &c
		}
		out = append(out, o)
	}
	return out
}

// Worst is the verdict on all objects together.
func Worst(all []Result) Verdict {
	worst := Pass
	for _, r := range all {
		if r.Verdict == Failed {
			return Failed
		}
		if r.Verdict == Unknown {
			worst = Unknown
		}
	}
	return worst
}
