package reports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// grantsOf are the grants of a finding that are on record.
func grantsOf(rec *history.Record, f *checker.Finding) (out []*history.Grant) {
	for _, id := range f.Grants {
		if g := rec.ByID[id]; g != nil {
			out = append(out, g)
		}
	}
	return out
}

// clientsOf are the clients of a finding's grants, in the order of the grants.
func clientsOf(rec *history.Record, f *checker.Finding) (clients []string) {
	for _, g := range grantsOf(rec, f) {
		if !slices.Contains(clients, g.Client) {
			clients = append(clients, g.Client)
		}
	}
	if f.Rule == ruleDeadlocked {
		slices.SortFunc(clients, byName)
	}
	return clients
}

func whoCell(rec *history.Record, h *happening) cell {
	f := h.first()
	clients := clientsOf(rec, f)
	c := cell{Name: "Who", Text: listed(clients, 4), More: lockOf(rec, f)}
	switch pair := len(clients) == 2; {
	case pair && (f.Rule == "overlap" || f.Rule == "double-grant" ||
		(f.Rule == "late-notice" && h.found[0].Check == checker.MutualExclusion)):
		c.Text = clients[1] + " got the lock while " + clients[0] + " still used it"
	case pair && f.Rule == "foreign-release":
		c.Text = clients[0] + " released the lock of " + clients[1]
	case len(clients) > 1 && (f.Rule == "lost-update" || f.Rule == "late-write"):
		c.Text = clients[0] + " overwrote updates of " + listed(clients[1:], 3)
	case f.Rule == ruleDeadlocked:
		c.More = "each waits for the other's lock"
	case f.Rule == "orphan" && len(clients) == 1:
		c.Text = "no client could get the lock: the store may have kept the lock for " + clients[0]
	}
	if c.More == "the lock" {
		c.More = ""
	}
	if len(clients) == 0 {
		c.Text = "the lock service"
	}
	return c
}

// listed names the first of several.
func listed(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, " and ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// maxName is how much of a name a sentence can bear.
const maxName = 60

func lockOf(rec *history.Record, f *checker.Finding) string {
	if of := grantsOf(rec, f); len(of) > 0 {
		return "lock " + cut(of[0].Lock, maxName)
	}
	if len(rec.Locks) == 1 {
		return "lock " + cut(rec.Locks[0], maxName)
	}
	return "the lock"
}

func whenCell(rec *history.Record, h *happening) cell {
	f := h.first()
	from := sinceWhen(rec, f)
	c := cell{Name: "When", Text: moment(from)}
	if f.To-from > 1000 && f.Rule != "foreign-release" { // which is a moment
		c.Text = fmt.Sprintf("%s, for %s", moment(from), span(f.To-from))
	}
	c.More = "after the start of the run (length of the run: " + span(endOf(rec)) + ")"
	return c
}

// stages name the steps that make a mechanism.
var stages = map[StepKind]string{
	StepLeaseOver: "lease expired", StepTold: "holder told of the loss", StepRefused: "stale request refused",
	StepLost: "update lost", StepOverwritten: "update overwritten", StepRole: "new leader",
}

// toldLate is how long after the end of its lease the first holder was told of the loss.
func toldLate(h *happening) (late int64, known bool) {
	over := int64(-1)
	for _, s := range h.steps {
		switch {
		case s.Kind == StepLeaseOver && over < 0:
			over = s.At
		case s.Kind == StepTold && over >= 0:
			return s.At - over, true
		}
	}
	return 0, false
}

// neverOn finds in the proof of a fail-over that the new leader did not have the lock.
var neverOn = regexp.MustCompile(`(?:its|the) key (\S+) was never on (\S+);`)

// whyCell is the mechanism in order, from the fault to the damage.
func whyCell(h *happening) cell {
	f := h.first()
	c := cell{Name: "Why", More: capital(briefly(because(f)))}
	m := mechanism{h: h, f: f}
	struck := !slices.ContainsFunc(h.steps, func(s Step) bool { return s.Kind == StepFault })
	for _, s := range h.steps {
		struck = struck || s.Kind == StepFault
		switch {
		case s.Kind == StepGranted:
			m.granted(s, struck)
		case struck:
			m.step(s)
		}
	}
	if f.Reason == checker.ReasonBothValid && neverOn.FindString(f.Cause) == "" {
		c.More += "; the record does not show why the store had forgotten the first grant"
	}
	c.Text = strings.Join(m.parts, " → ")
	if len(m.parts) < 2 {
		c.Text, c.More = capital(because(f)), ""
	}
	return c
}

// mechanism is how a violation came about, in a few words each.
type mechanism struct {
	h      *happening
	f      *checker.Finding
	parts  []string
	holder string // the first
	grants int
}

func (m *mechanism) add(text string) {
	if len(m.parts) == 0 || m.parts[len(m.parts)-1] != text {
		m.parts = append(m.parts, text)
	}
}

// granted adds the grants after the first one.
func (m *mechanism) granted(s Step, struck bool) {
	m.grants++
	m.holder = cmp.Or(m.holder, s.Party)
	switch {
	case !struck || m.grants == 1:
	case m.grants == 2 && m.f.Reason == checker.ReasonBothValid:
		m.add("grant to " + s.Party + " during the lease of " + m.holder)
	default:
		m.add("grant to " + s.Party)
	}
}

func (m *mechanism) step(s Step) {
	switch s.Kind {
	case StepFault:
		name, _, _ := strings.Cut(s.Text, " ")
		m.add(name)
		if found := neverOn.FindStringSubmatch(m.f.Cause); found != nil {
			m.add("key " + cut(found[1], maxName) + " never reached " + found[2])
		}
	case StepHeal:
		if m.grants < 2 { // else it ends what has done its harm
			name, _, _ := strings.Cut(s.Text, " ")
			m.add(name + " ended")
		}
	case StepRelease:
		if m.f.Rule == "foreign-release" && s.At <= m.f.To && s.At >= m.f.From {
			m.add("release by " + s.Party)
		}
	case StepTold:
		if late, known := toldLate(m.h); known && late > 0 {
			m.add("holder told " + span(late) + " too late")
		} else if m.f.Reason != checker.ReasonBothValid { // there it ends what was wrong already
			m.add(stages[s.Kind])
		}
	case StepLeaseOver, StepRefused, StepLost, StepOverwritten, StepRole:
		m.add(stages[s.Kind])
	}
}

// briefly is a cause without its proof, which the story has.
func briefly(cause string) string {
	for _, end := range []string{", effect observed at ", ", triggered ", " (", "; "} {
		cause, _, _ = strings.Cut(cause, end)
	}
	return strings.TrimSuffix(cause, " on")
}

// registers are those whose losses are told.
var registers = []string{facts.RegPlain, facts.RegFenced, regLedger}

func costCell(r *checker.Results, h *happening) cell {
	c := cell{Name: "Cost"}
	loss, whole := lossOf(r, h.first()), lossesIn(r, registers...)
	acked := r.Stats["updates_acked"] + r.Stats["ledger_updates"]
	switch {
	case loss.Lost > 0:
		c.Text = checker.Count(loss.Lost, "acknowledged update") + " lost"
	case loss.Overwritten > 0:
		c.Text = lossSentence(loss)
	case whole.counted && acked == 0:
		c.Text = "no update was lost, because no update was acknowledged"
	case whole.counted || acked > 0:
		c.Text = "this finding did not cause the loss of an update"
	default:
		c.Text = "not measured: the clients wrote no data"
	}
	c.More = fmt.Sprintf("in the whole run: %s lost%s; two holders at once: %s", whole.of("update"), whole.others(" (", ")"),
		checker.Count(r.Stats["violations"], "time"))
	return c
}

// fenceCell has three answers: prevented, did not help, not measured.
func fenceCell(r *checker.Results, about Context) cell {
	c := cell{Name: "Would a fence have helped?"}
	if r.Fencing == history.FencingOn {
		c.Name = "Data behind the fence"
	}
	plain, fenced := lossesIn(r, facts.RegPlain), lossesIn(r, facts.RegFenced)
	refused := r.Stats["fence_refused"]
	c.More = fmt.Sprintf("%s lost with the fence; the fence refused %s", fenced.of("update"), checker.Count(refused, "request"))
	switch {
	case fenced.counted && plain.lost > 0 && fenced.most == 0:
		c.Text = "yes, the fence prevented the loss"
		c.More = fmt.Sprintf("%s lost without the fence, 0 with the fence; the fence refused %s", plain.of("update"),
			checker.Count(refused, "request"))
	case fenced.lost > 0:
		c.Text = "no, the fence did not help"
	case fenced.most > 0:
		c.Text = "unknown, because some updates may be lost"
	case fenced.counted:
		c.Text, c.More = "no update was lost", "the fence refused "+checker.Count(refused, "request")
	case noTokens(r.Checks[checker.DataFenced]) || noTokens(r.Checks[checker.FencingTokens]):
		c.Text = "not measured"
		c.More = subject(r) + " issues no fencing tokens"
		if about.WithTokens != "" {
			c.More += "; try " + about.WithTokens
		}
	case r.Fencing == history.FencingOff:
		c.Text, c.More = "not measured", "with --fencing off, no data is behind a fence (a check of fencing tokens)"
	default:
		c.Text, c.More = "not measured", "this workload has no data behind a fence (a check of fencing tokens)"
	}
	return c
}
