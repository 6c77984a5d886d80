package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
)

// ledgerRow is what a register did with one request.
type ledgerRow struct {
	At                           int64
	Register, Client, What, Note string
	Bad                          bool
}

// maxLedger is how many requests of an incident are shown.
const maxLedger = 60

// ledger is what the registers of a run did: their reads and writes in order, and what became of each write.
type ledger struct {
	rec    *history.Record
	events map[string][]*history.Event // by lock
	notes  map[int64]string
}

func newLedger(rec *history.Record) *ledger {
	l := &ledger{rec: rec, events: map[string][]*history.Event{}, notes: lossNotes(rec)}
	for i := range rec.Events {
		if e := &rec.Events[i]; e.Party == history.PartyRegister && (e.F == history.FRead || e.F == history.FWrite) {
			l.events[e.Lock] = append(l.events[e.Lock], e)
		}
	}
	return l
}

// of is what the registers of an incident's lock did in its window, in the order in which they did it: who read what, who
// wrote what, whose write was overwritten by whom without having been seen, and what was refused.
func (l *ledger) of(h *happening) (rows []ledgerRow, more int) {
	lock := ""
	if of := grantsOf(l.rec, h.first()); len(of) > 0 {
		lock = of[len(of)-1].Lock
	}
	for _, e := range l.events[lock] {
		if e.Time < h.window.From || e.Time > h.window.To {
			continue
		}
		if len(rows) == maxLedger {
			more++
			continue
		}
		row := ledgerRow{At: e.Time, Register: e.Register, Client: e.Client, What: "reads"}
		if g := l.rec.ByID[e.Grant]; row.Client == "" && g != nil {
			row.Client = g.Client
		}
		if e.F == history.FWrite {
			row.What = "writes"
		}
		row.What += " " + valueText(e.Value)
		switch note := l.notes[e.Index]; {
		case e.Error == history.ErrStaleToken:
			row.Note = fmt.Sprintf("refused: token %d is outdated", e.Token.V)
		case e.Type == history.Fail:
			row.Note = "refused: " + e.Error
		case note != "":
			row.Note, row.Bad = note, true
		}
		rows = append(rows, row)
	}
	return rows, more
}

func valueText(v history.Value) string {
	switch {
	case v.Base.Set && v.New.Set:
		return fmt.Sprintf("%d → %d", v.Base.V, v.New.V)
	case v.New.Set:
		return fmt.Sprint(v.New.V)
	case v.Base.Set:
		return fmt.Sprint(v.Base.V)
	}
	return ""
}

// lossNotes says of each write, by its index, that it was overwritten unseen, or that it overwrote others.
func lossNotes(rec *history.Record) map[int64]string {
	in, out := facts.Of(rec), map[int64]string{}
	for _, register := range []string{facts.RegPlain, facts.RegFenced} {
		for _, s := range in.Replayed(register).Shown {
			if s.What != facts.ShowsLoss {
				continue
			}
			out[s.Event.Index] = "overwrites " + checker.Count(len(s.Others), "acknowledged update") + " unseen"
			for _, o := range s.Others {
				what := "lost: overwritten by %s at %s"
				if !slices.Contains(s.Gone, o) {
					what = "overwritten unseen by %s at %s, and brought back by a later write"
				}
				out[o.Index] = fmt.Sprintf(what, s.Event.Client, moment(s.Event.Time))
			}
		}
	}
	return out
}

// proofShown is the proof of an incident, for people.
type proofShown struct {
	Events  []int64
	Lines   []string // an event each
	Follows []string
}

// proofOf is the proof of the finding that ranks first of an incident; nil where no few events prove it.
func proofOf(record *proof.Record, h *happening) *proofShown {
	f := h.first()
	if f.Proof == nil || f.Proof.Record {
		return nil
	}
	story, err := record.Verify(f.Claim(h.found[0].Check), f.Proof)
	if err != nil {
		return nil // verify says why
	}
	out := &proofShown{Events: f.Proof.Events}
	for _, line := range story {
		if strings.HasPrefix(line, " ") {
			out.Lines = append(out.Lines, strings.TrimSpace(line))
		} else {
			out.Follows = append(out.Follows, line)
		}
	}
	return out
}

// provenOf are the events of the proof of an incident that the timeline lights up.
func provenOf(h *happening) []int64 {
	p := h.first().Proof
	if p == nil || p.Record || len(p.Events) == 0 {
		return nil
	}
	return slices.Clone(p.Events[1:]) // the first one says what was run
}

// losses are what became of the acknowledged updates of one register in a whole run, or of several.
type losses struct {
	counted           bool
	lost, most        int64 // for good; most is more where the record leaves a range
	overwritten, back int64
}

// lossesIn are those of some registers.
func lossesIn(r *checker.Results, registers ...string) (l losses) {
	for _, register := range registers {
		of := func(what string) int64 { return r.Stats[lossStat(what, register)] }
		_, counted := r.Stats[lossStat("lost", register)]
		lost := of("lost")
		l = losses{
			l.counted || counted, l.lost + lost, l.most + max(lost, of("lost_max")), l.overwritten + of("overwritten"),
			l.back + of("brought_back"),
		}
	}
	return l
}

const regLedger = "ledger" // the register of the workload stock that is counted

func lossStat(what, register string) string {
	if register == regLedger {
		return "ledger_" + what
	}
	return "updates_" + what + "_" + register
}

// of is how many updates are lost for good: "1 update", "1 to 3 updates".
func (l losses) of(what string) string {
	if l.most > l.lost {
		return fmt.Sprintf("%d to %s", l.lost, checker.Count(l.most, what))
	}
	return checker.Count(l.lost, what)
}

// others says that more was overwritten unseen than is lost for good; empty: it was not.
func (l losses) others() string {
	if l.back == 0 {
		return ""
	}
	unseen := fmt.Sprintf("%d%soverwritten unseen", l.overwritten, was(l.overwritten))
	return fmt.Sprintf("; %s, and later writes brought back %d", unseen, l.back)
}

// lossOf is what a finding cost.
func lossOf(r *checker.Results, f *checker.Finding) facts.Loss {
	if d := r.LossOf(f); d != nil && d.Loss().Compare(f.Loss()) < 0 {
		return d.Loss()
	}
	return f.Loss()
}

// lossSentence says what became of updates that were overwritten, for the end of a sentence; empty: nothing was overwritten.
func lossSentence(l facts.Loss) string {
	switch back := cmp.Or(l.Overwritten, l.Lost) - l.Lost; {
	case l.Lost > 0:
		return checker.Count(l.Lost, "acknowledged update") + was(l.Lost) + "lost"
	case back > 0:
		return checker.Count(back, "acknowledged update") + was(back) + "overwritten unseen, and brought back by later writes"
	}
	return ""
}

func was(n int64) string {
	if n == 1 {
		return " was "
	}
	return " were "
}
