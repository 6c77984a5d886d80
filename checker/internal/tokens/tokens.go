package tokens

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// fencingTokens asks whether the tokens are a fence: by `sent` and ok of the grants they
// must grow strictly in real time and be unique, and the resource must not refuse the
// newest valid grant.
func fencingTokens(in question) checker.Result {
	figures := checker.Figures{}
	var findings []checker.Finding
	for _, lock := range in.Locks {
		findings = append(findings, in.tokenOrder(lock)...)
	}
	findings = append(findings, in.refusedValid(figures)...)
	r := in.Conclude("search for fencing tokens that do not increase from grant to grant, and for valid tokens that the fence "+
		"refused", in.Weigh(findings), len(findings))
	r.Figures = figures
	return r
}

func (in question) tokenOrder(lock string) []checker.Finding {
	unnumbered := func(g *history.Grant) bool { return !g.Token().Set }
	bySent, byOK := slices.DeleteFunc(in.BySent(lock), unnumbered), slices.DeleteFunc(in.ByOK(lock), unnumbered)
	var out []checker.Finding
	var highest []*history.Grant // of each mode, in order: among those known before the grant at hand was sent for
	seen := make(map[int64]holders, len(bySent))
	known := 0
	for _, g := range bySent {
		for ; known < len(byOK) && byOK[known].From() < g.Sent(); known++ {
			k := byOK[known]
			switch i, met := slices.BinarySearchFunc(highest, k.Mode, byMode); {
			case !met:
				highest = slices.Insert(highest, i, k)
			case k.Token().V > highest[i].Token().V:
				highest[i] = k
			}
		}
		token, before := g.Token().V, in.newest(highest, g)
		had := seen[token]
		if twin := in.apart(had, g); twin != nil {
			out = append(out, in.tokenFinding("duplicate", twin, g, fmt.Sprintf("grant %s got token %d, although grant %s already had "+
				"this token", g.ID, token, twin.ID)))
		} else if before != nil && before.Token().V > token {
			out = append(out, in.tokenFinding("regress", before, g,
				fmt.Sprintf("grant %s got token %d, although the earlier grant %s had got token %d: tokens must increase", g.ID, token,
					before.ID, before.Token().V)))
		}
		if had.add(g) {
			seen[token] = had
		}
	}
	return out
}

// holders are the grants that had a token, in order: mostly one. Of those that are alike the first is enough.
type holders struct {
	first *history.Grant
	more  []*history.Grant
}

// add reports whether the grant was not among them.
func (h *holders) add(g *history.Grant) bool {
	if h.first == nil {
		h.first = g
		return true
	}
	if alike(h.first, g) || slices.ContainsFunc(h.more, func(o *history.Grant) bool { return alike(o, g) }) {
		return false
	}
	h.more = append(h.more, g)
	return true
}

func byMode(g *history.Grant, mode string) int { return cmp.Compare(g.Mode, mode) }

// apart is the last of some grants that may not be held together with another one; nil: there is none.
func (in question) apart(had holders, g *history.Grant) *history.Grant {
	for _, h := range slices.Backward(had.more) {
		if !in.Model.Together(h, g) {
			return h
		}
	}
	if had.first != nil && !in.Model.Together(had.first, g) {
		return had.first
	}
	return nil
}

// alike reports whether two grants may be held together with the same ones.
func alike(a, b *history.Grant) bool { return history.SameOwner(a, b) && a.Mode == b.Mode }

// newest is the grant with the highest token, of those of each mode, that a grant must come after:
// readers who may hold the lock together come in any order. Of two with one token it is the one whose mode comes first.
func (in question) newest(highest []*history.Grant, g *history.Grant) (newest *history.Grant) {
	for _, h := range highest {
		together := h.Mode == history.ModeShared && g.Mode == history.ModeShared && in.Model.Together(h, g)
		if !together && (newest == nil || h.Token().V > newest.Token().V) {
			newest = h
		}
	}
	return newest
}

func (in question) tokenFinding(rule string, a, b *history.Grant, message string) checker.Finding {
	f := checker.Finding{
		Rule: rule, Class: checker.Defect, Gating: true, Message: message,
		Events: []int64{a.Acquire.Return.Index, b.Acquire.Return.Index}, Grants: []string{a.ID, b.ID}, From: b.Sent(), To: b.From(),
	}
	f.Because(in.StoreCause(a, b.From()))
	return f
}
