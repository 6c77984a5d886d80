package plant

import (
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Records are the ways in which a record can be wrong.
func Records() []Plant {
	var out []Plant
	for _, e := range edits {
		out = append(out, Plant{Name: e.name, Edit: onLines(e.do), Torn: e.name == "no-end"})
	}
	return out
}

// record is a history as its lines.
type record struct{ Events []history.Line }

// onLines edits a history by its lines.
func onLines(edit func(*rand.Rand, *record) bool) func(*rand.Rand, *history.History) bool {
	return func(r *rand.Rand, h *history.History) bool {
		lines := &record{history.Lines(h.Events)}
		done := edit(r, lines)
		h.Events = history.Events(lines.Events...)
		return done
	}
}

var edits = []struct {
	name string
	do   func(*rand.Rand, *record) bool
}{
	{"seq-gap", func(r *rand.Rand, h *record) bool { return remove(h, ordinary(r, h)) && number(h) }},
	{"line-lost", func(r *rand.Rand, h *record) bool { return remove(h, ordinary(r, h)) }},
	{"line-doubled", func(r *rand.Rand, h *record) bool {
		i := ordinary(r, h)
		return i >= 0 && insert(h, i+1, h.Events[i])
	}},
	{"time-back", timeBack},
	{"overlapping", overlapping},
	{"unpaired-return", change(anyReturn, func(e *history.Line) { e.Process.N += 500_000 })},
	{"died", died},
	{"after-end", afterEnd},
	{"end-count", change(ofF(history.FEnd), func(e *history.Line) { e.Value = history.ValueOf(history.End{Events: e.Seq + 4}) })},
	{"end-without-count", change(ofF(history.FEnd), func(e *history.Line) { e.Value = history.Value{} })},
	{"party-count", partyCount},
	{"party-uncounted", partyUncounted},
	{"grant-twice", grantTwice},
	{"process-of-two", processOfTwo},
	{"function", change(anyInvoke, func(e *history.Line) { e.F = "dance" })},
	{"clock-step", clockStep},
	{"no-end", func(_ *rand.Rand, h *record) bool { return remove(h, len(h.Events)-1) }},
	{"no-run", func(_ *rand.Rand, h *record) bool {
		i := slices.IndexFunc(h.Events, func(e history.Line) bool { return e.F == history.FRun && history.ClientOf(e.Party) != "" })
		if i < 0 {
			return false
		}
		h.Events[i].F, h.Events[i].Value = history.FStall, history.ValueOf(history.Stall{})
		return true
	}},
	{"run-contradicts", changeRun(1, func(run *history.Run) { run.TTL *= 2 })},
	{"tolerance-negative", changeRun(-1, func(run *history.Run) { run.Tolerance = -1 })},
	{"tolerance-hour", changeRun(-1, func(run *history.Run) { run.Tolerance = 3_600_000_000_000 })},
	{"check-unknown", changeRun(-1, func(run *history.Run) { run.Required = []string{"no-such-check"} })},
	{"register-unlisted", func(r *rand.Rand, h *record) bool { // one that nobody uses may be missing
		return pick(r, h, ackedUse) >= 0 && changeRun(-1, func(run *history.Run) { run.Registers = map[string]int64{"other": 0} })(r, h)
	}},
	{"sent-early", change(leased, func(e *history.Line) { e.Sent.V = 0 })},
	{"sent-late", change(leased, func(e *history.Line) { e.Sent.V = e.Time + 1_000_000 })},
	{"sent-missing", change(leased, func(e *history.Line) { e.Sent = history.Opt{} })},
	{"deadline-beyond", change(leased, func(e *history.Line) { e.Deadline.V += 1_000_000_000 })},
	{"token-missing", change(tokened, func(e *history.Line) { e.Token = history.Opt{} })},
	{"token-of-another", otherToken},
	{"error-unknown", change(failed, func(e *history.Line) { e.Error = "weird" })},
	{"error-missing", change(failed, func(e *history.Line) { e.Error = "" })},
	{"value-missing", change(ackedWrite, func(e *history.Line) { e.Value = history.Value{} })},
	{"values-differ", change(ackedWrite, func(e *history.Line) { e.Value.New.V += 100 })},
	{"read-differs", change(ackedRead, func(e *history.Line) { e.Value.Base.V += 100 })},
	{"named-process", namedProcess},
	{"used-after-info", usedAfterInfo},
}

// change is an edit of one event of a kind.
func change(is func(*history.Line) bool, do func(*history.Line)) func(*rand.Rand, *record) bool {
	return func(r *rand.Rand, h *record) bool {
		i := pick(r, h, is)
		if i >= 0 {
			do(&h.Events[i])
		}
		return i >= 0
	}
}

func ofF(f string) func(*history.Line) bool {
	return func(e *history.Line) bool { return e.F == f && e.Party != history.PartyController }
}

func byClient(e *history.Line) bool { return e.Process.IsOp() }

func anyInvoke(e *history.Line) bool { return byClient(e) && e.Type == history.Invoke }

func anyReturn(e *history.Line) bool { return byClient(e) && e.Type != history.Invoke }

func failed(e *history.Line) bool { return byClient(e) && e.Type == history.Fail }

func leased(e *history.Line) bool {
	return byClient(e) && e.Type == history.OK && e.Deadline.Set && (e.F == history.FAcquire || e.F == history.FRenew)
}

func tokened(e *history.Line) bool {
	return byClient(e) && e.Type == history.OK && e.Token.Set && e.F == history.FAcquire
}

func ackedUse(e *history.Line) bool { return ackedRead(e) || ackedWrite(e) }

func ackedWrite(e *history.Line) bool {
	return byClient(e) && e.Type == history.OK && e.F == history.FWrite
}

func ackedRead(e *history.Line) bool {
	return byClient(e) && e.Type == history.OK && e.F == history.FRead
}

// pick chooses an event of a kind; -1: there is none.
func pick(r *rand.Rand, h *record, is func(*history.Line) bool) int {
	var of []int
	for i := range h.Events {
		if is(&h.Events[i]) {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return -1
	}
	return of[r.IntN(len(of))]
}

func ordinary(r *rand.Rand, h *record) int { return pick(r, h, byClient) }

func remove(h *record, i int) bool {
	if i < 0 {
		return false
	}
	h.Events = slices.Delete(slices.Clone(h.Events), i, i+1)
	return true
}

func insert(h *record, i int, e history.Line) bool {
	h.Events = slices.Insert(slices.Clone(h.Events), i, e)
	return true
}

// number counts the lines again.
func number(h *record) bool {
	for i := range h.Events {
		h.Events[i].Index = int64(i)
	}
	return true
}

// sequence counts the lines of every party again, and what the ends say of them.
func sequence(h *record) bool {
	h.Events = history.Lines(history.Counted(&history.History{Events: history.Events(h.Events...)}).Events)
	return true
}

// changeRun edits the nth f:run; -1: all of them.
func changeRun(nth int, do func(*history.Run)) func(*rand.Rand, *record) bool {
	return func(_ *rand.Rand, h *record) bool {
		n := 0
		for i := range h.Events {
			var run history.Run
			e := &h.Events[i]
			if e.F != history.FRun || json.Unmarshal(e.Value.JSON, &run) != nil {
				continue
			}
			if nth < 0 || n == nth {
				do(&run)
				e.Value = history.ValueOf(run)
			}
			n++
		}
		return true
	}
}
