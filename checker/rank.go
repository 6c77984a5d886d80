package checker

import (
	"cmp"
	"slices"
)

// Found is a finding with the name of the check that made it.
type Found struct {
	Check   string
	Finding Finding
}

// Certain reports whether a finding fails its check: it gates, and neither host nor record explains it.
func (f Finding) Certain() bool { return f.Gating && !f.Doubtful }

// Rank orders findings, the one to tell first first. Reports, suites and programs that show only some findings all
// use it:
//
//  1. findings that certainly fail the check, those that host or record may explain, those that are only reported;
//  2. defects before what is inherent to leases, for another lock cures them;
//  3. a root cause before its consequence: a lock freed by another client, a lock given twice, lost data;
//  4. the greater loss, lasting losses first; the longer time.
//
// The beginning and the words make the order total.
func Rank(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.severity(), b.severity()),
		cmp.Compare(a.depth(), b.depth()),
		a.Loss().Compare(b.Loss()),
		cmp.Compare(b.To-b.From, a.To-a.From),
		cmp.Compare(a.From, b.From),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Message, b.Message),
	)
}

// RankFound is Rank over the findings of all checks. Different checks' findings on one event come in the order of
// RankOfCheck: what happened to clients before what the lock object did.
func RankFound(a, b Found) int {
	return cmp.Or(
		cmp.Compare(a.Finding.severity(), b.Finding.severity()),
		cmp.Compare(a.Finding.depth(), b.Finding.depth()),
		cmp.Compare(RankOfCheck(a.Check), RankOfCheck(b.Check)),
		cmp.Compare(a.Check, b.Check),
		Rank(a.Finding, b.Finding),
	)
}

// RankOfCheck returns the place of a check among those whose findings rank alike.
func RankOfCheck(name string) int {
	order := []string{Ownership, MutualExclusion, LockLinearizability, FencingTokens, DataPlain, DataFenced, Liveness}
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// severity orders findings, the worst first: those that certainly gate, those that may gate, the rest; defects before
// what is inherent.
func (f Finding) severity() int {
	switch {
	case f.Certain():
		return f.Class.Rank()
	case f.Gating:
		return 10 + f.Class.Rank()
	default:
		return 20 + f.Class.Rank()
	}
}

// Rank orders the classes, the worst first.
func (c Class) Rank() int {
	return map[Class]int{Defect: 0, Undetermined: 1, NoClass: 2, Inherent: 3}[c]
}

// How deep a finding lies among causes and their consequences.
const (
	depthFreed = iota // somebody else freed the lock
	depthTwice        // the lock was given twice, or a token
	depthData         // the data shows it
	depthRest         // waits, orphans, what the record lacks
)

// depths are those of the rules; other rules are of the rest.
var depths = map[string]int{
	"foreign-release": depthFreed, "release-of-none": depthFreed, "short-renewal": depthFreed, "deadlocked": depthFreed,
	"double-grant": depthTwice, "lost-lease": depthTwice, "revived-lease": depthTwice, "overlap": depthTwice,
	"late-notice": depthTwice,
	"duplicate":   depthTwice, "regress": depthTwice,
	"lost-update": depthData, "late-write": depthData, "split-section": depthData,
	"no-token": depthData, "stale-accepted": depthData, "equal-token": depthData, "refused-valid": depthData,
	"done-twice": depthData, "stock-off": depthData,
}

// depth is even for what stands for itself; what a release by somebody else led to comes after it.
func (f Finding) depth() int {
	d, ok := depths[f.Rule]
	if !ok {
		d = depthRest
	}
	if f.CauseKind == CauseRelease {
		return 2*d + 1
	}
	return 2 * d
}
