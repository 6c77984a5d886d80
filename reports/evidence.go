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

const (
	maxEvents  = 300  // events that a page shows as they are on record
	maxBacks   = 4    // links from an event to what names it
	maxLine    = 2000 // bytes of an event
	maxPerItem = 12   // events that one finding names on the page
)

// eventRow is an event of the record as it is, and who names it.
type eventRow struct {
	Index int64
	At    int64
	Line  string
	Backs []backLink
}

// backLink leads from an event to the place that names it.
type backLink struct{ ID, Text string }

// eventRef is an event that is named; its line may not be on the page.
type eventRef struct {
	Index int64
	Shown bool
}

// evidence is the events that steps and findings name, the first named first.
type evidence struct {
	order []int64
	backs map[int64][]backLink
	Rows  []eventRow // events with a line, in order
	shown map[int64]bool
	Left  int // how many have no line

	incidents map[string]int // of each finding, by its id in the page
}

// evidenceOf gathers the events of incidents that are told and of all findings, those of the worst first,
// and as many of their lines as a page can hold.
func evidenceOf(r *checker.Results, rec *history.Record, told []*happening, w *Survived) *evidence {
	e := &evidence{backs: map[int64][]backLink{}, shown: map[int64]bool{}}
	for i, h := range told {
		e.steps(fmt.Sprintf("s%d", i), h.steps)
	}
	if w != nil {
		e.steps("w", w.Steps)
	}
	listed := map[string][]int{}
	for _, name := range r.Order {
		listed[name] = worstOf(r.Checks[name].Findings)
	}
	for n := range maxFindings {
		for _, name := range r.Order {
			if n >= len(listed[name]) {
				continue
			}
			i := listed[name][n]
			e.name(backLink{findingID(name, i), fmt.Sprintf("%s %d", name, i+1)}, r.Checks[name].Findings[i].Events...)
		}
	}
	e.find(rec)
	return e
}

func findingID(check string, i int) string { return fmt.Sprintf("f-%s-%d", check, i) }

func stepID(story string, i int) string { return fmt.Sprintf("%s-%d", story, i) }

func (e *evidence) steps(story string, steps []Step) {
	for i, step := range steps[:min(len(steps), maxSteps)] {
		e.name(backLink{stepID(story, i), "story, " + moment(step.At)}, step.Events[:min(len(step.Events), 1)]...)
	}
}

// name notes that events are named somewhere.
func (e *evidence) name(by backLink, events ...int64) {
	for _, i := range events[:min(len(events), maxPerItem)] {
		old, known := e.backs[i]
		if !known {
			e.order = append(e.order, i)
		}
		if len(old) < maxBacks && !slices.Contains(old, by) {
			e.backs[i] = append(old, by)
		}
	}
}

// find looks the events up; those that the record lacks are not shown.
func (e *evidence) find(rec *history.Record) {
	lines := map[int64]*history.Event{}
	for i := range rec.Events {
		ev := &rec.Events[i]
		if _, wanted := e.backs[ev.Index]; wanted && lines[ev.Index] == nil {
			lines[ev.Index] = ev
		}
	}
	for _, i := range e.order {
		switch ev := lines[i]; {
		case ev == nil:
		case len(e.Rows) == maxEvents:
			e.Left++
		default:
			e.shown[i] = true
			line := cut(string(ev.AppendJSON(nil, true)), maxLine)
			e.Rows = append(e.Rows, eventRow{Index: i, At: ev.Time, Line: line, Backs: e.backs[i]})
		}
	}
	slices.SortFunc(e.Rows, func(a, b eventRow) int { return int(a.Index - b.Index) })
}

// refs are the events that something names, and how many more it names.
func (e *evidence) refs(events []int64) (refs []eventRef, more int) {
	for _, i := range events[:min(len(events), maxPerItem)] {
		refs = append(refs, eventRef{i, e.shown[i]})
	}
	return refs, len(events) - len(refs)
}

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
		if e := &rec.Events[i]; e.Party() == history.PartyRegister && (e.F() == history.FRead || e.F() == history.FWrite) {
			l.events[e.Lock()] = append(l.events[e.Lock()], e)
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
		row := ledgerRow{At: e.Time, Register: e.Register(), Client: e.Client(), What: "reads"}
		if g := l.rec.ByID[e.Grant()]; row.Client == "" && g != nil {
			row.Client = g.Client
		}
		if e.F() == history.FWrite {
			row.What = "writes"
		}
		row.What += " " + valueText(e.Value())
		switch note := l.notes[e.Index]; {
		case e.Code() == history.ErrStaleToken:
			row.Note = fmt.Sprintf("refused: token %d is outdated", e.Token().V)
		case e.Type() == history.Fail:
			row.Note = "refused: " + e.Code()
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
				out[o.Index] = fmt.Sprintf(what, s.Event.Client(), moment(s.Event.Time))
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
