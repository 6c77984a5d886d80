package ownlock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/causes"
	"github.com/lockstorm/lockstorm/history"
)

// LedgerWhole is the name of the check, as in results.json and for --require.
const LedgerWhole = "ledger-whole"

// The rules of its findings.
const (
	// two entries have the same number: the first entry is lost, and so are all entries that followed it
	RuleTwice   = "entry-twice"
	RuleMoney   = "money-changed" // the sum of all accounts has changed
	RuleStrange = "strange-entry" // the record contains an invalid entry
)

// Checks describes the check for the catalogue.
func Checks() []checker.Check {
	return []checker.Check{{
		Name: LedgerWhole, Doc: "does every entry of the ledger have its own number, and does the sum of all accounts stay the same?",
		Gates:   checker.Always,
		Applies: keepsLedger,
		Run:     ledgerWhole,
	}}
}

// keepsLedger returns the reason why the check does not apply to a run of another workload.
func keepsLedger(in *checker.Input) (checker.Code, string) {
	if name, _, _ := strings.Cut(in.Run.Workload, ":"); name != Ledger && name != Late {
		return checker.CodeNoData, fmt.Sprintf("workload %s keeps no ledger", name)
	}
	return "", ""
}

// LedgerProof is the evidence of the check: one LedgerSeen for each lock.
type LedgerProof map[string]LedgerSeen

// LedgerSeen counts the entries of one ledger.
type LedgerSeen struct {
	Entries int64 `json:"entries"` // acknowledged entries
	Lost    int64 `json:"lost"`    // acknowledged entries that a client overwrote without having seen them
}

// posted is an acknowledged entry. The check ignores entries with unknown outcome, because they may not be in the
// book.
type posted struct {
	Entry
	grant *history.Grant
	call  *history.Call
}

// ledgerWhole replays the acknowledged entries of each lock's ledger.
func ledgerWhole(in *checker.Input) checker.Result {
	var findings []checker.Finding
	figures, proof := checker.Figures{"ledger_entries": 0, "ledger_entries_lost": 0}, LedgerProof{}
	for _, lock := range in.Locks {
		entries, strange := postedUnder(in, lock)
		found, lost := follow(in, entries)
		findings = append(append(findings, strange...), found...)
		proof[lock] = LedgerSeen{Entries: int64(len(entries)), Lost: lost}
		figures["ledger_entries"] += int64(len(entries))
		figures["ledger_entries_lost"] += lost
	}
	r := checker.Conclude("replay of the acknowledged entries of the ledger", findings, len(findings))
	r.Figures, r.Proof = figures, checker.NewProof(proof)
	return r
}

// follow replays the entries. Every client reads the book and writes it under the same grant. So if the number of a new entry is
// already in the book, other clients have changed the book between the read and the write. The entries from this number on are
// then lost. Later clients continue with the numbers that they read, and make no error.
func follow(in *checker.Input, entries []posted) (findings []checker.Finding, lost int64) {
	var book []posted // in the order of their numbers
	for _, p := range entries {
		if p.Total != entries[0].Total {
			findings = append(findings, money(p, entries[0]))
		}
		for len(book) > 0 && book[len(book)-1].Number >= p.Number {
			before := book[len(book)-1]
			if before.Number == p.Number {
				findings = append(findings, twice(in, before, p))
			}
			book, lost = book[:len(book)-1], lost+1
		}
		book = append(book, p)
	}
	return findings, lost
}

// postedUnder lists the entries of one lock in the order in which they were acknowledged.
func postedUnder(in *checker.Input, lock string) (out []posted, strange []checker.Finding) {
	for _, g := range in.ByLock[lock] {
		for _, u := range g.Uses {
			if u.Invoke.F() != history.FWork || u.Outcome() != history.OK {
				continue
			}
			p := posted{grant: g, call: u}
			if err := u.Invoke.Value().Into(&p.Entry); err != nil || p.Number < 1 || !g.Granted() {
				f := finding(RuleStrange, fmt.Sprintf("%s wrote an invalid entry, or wrote without the lock: %s", g.Client,
					u.Invoke.Value().JSON), p)
				f.Cause, f.CauseKind, f.Doubtful = "an error in the record", checker.CauseRecord, true
				strange = append(strange, f)
				continue
			}
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b posted) int { return cmp.Compare(a.call.End(), b.call.End()) })
	return out, strange
}

// finding makes a finding about entries (the earlier entry first), without a cause.
func finding(rule, message string, about ...posted) checker.Finding {
	f := checker.Finding{
		Rule: rule, Class: checker.NoClass, Cause: "no fault in the record explains this", CauseKind: checker.CauseNone, Gating: true,
		Message: message,
		From:    about[0].call.Start(), To: about[len(about)-1].call.End(),
	}
	for _, p := range about {
		f.Events = append(f.Events, p.call.Invoke.Index, p.call.Return.Index)
		f.Grants = append(f.Grants, p.grant.ID)
	}
	return f
}

// money reports a transfer that changed the sum of all accounts. No lock can cause this: the workload made the error.
func money(p, before posted) checker.Finding {
	f := finding(RuleMoney, fmt.Sprintf("after entry %d (written by %s) the sum of all accounts is %d, but after the first entry "+
		"it was %d", p.Number, p.grant.Client, p.Total, before.Total), before, p)
	f.Cause, f.CauseKind = "an error of the workload", checker.CauseRecord
	return f
}

// twice reports two entries with the same number, and finds out why both clients could write.
func twice(in *checker.Input, a, b posted) checker.Finding {
	f := finding(RuleTwice, fmt.Sprintf("%s (grant %s) and %s (grant %s) both wrote entry %d of the ledger of lock %s: one of the "+
		"two entries is lost",
		a.grant.Client, a.grant.ID, b.grant.Client, b.grant.ID, a.Number, a.grant.Lock), a, b)
	for _, p := range []posted{a, b} {
		if p.afterRelease() {
			f.Cause, f.CauseKind = p.grant.Client+" wrote after its release of the lock: an error of the workload", checker.CauseRecord
			return f
		}
	}
	if c, met := causes.Of(in).Clash(a.grant, b.grant); met {
		f.Class, f.Reason, f.Doubtful = c.Class, c.Reason, c.Doubtful
		f.Cause, f.CauseKind, f.Fault = c.Cause.Text, c.Cause.Kind, c.Cause.Fault
		return f
	}
	if b.grant.From() < a.grant.From() {
		a, b = b, a
	}
	if a.call.End() > b.grant.From() { // a sent the write while it held the lock, but the write took effect later
		late := causes.Of(in).LateCause(causes.Lateness{
			Grant: a.grant, From: a.call.Start(), Until: a.call.End(), Begun: b.grant.From(), Due: a.grant.DeadlineAt(a.call.Start()),
			OnItsWay: true,
		})
		f.Class, f.Reason, f.Doubtful = checker.Inherent, checker.ReasonAppliedLate, late.Unasked()
		f.Cause, f.CauseKind, f.Fault = late.Text, late.Kind, late.Fault
		return f
	}
	f.Cause, f.CauseKind, f.Doubtful = "either a write with unknown outcome, or an error in the record (the two clients never "+
		"held the lock at the same time)", checker.CauseRecord, true
	return f
}

// afterRelease reports whether the client wrote after its release had been acknowledged.
func (p posted) afterRelease() bool {
	return slices.ContainsFunc(p.grant.Releases, func(rel *history.Call) bool {
		return rel.Outcome() == history.OK && rel.End() <= p.call.Start()
	})
}
