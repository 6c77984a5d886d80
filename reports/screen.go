package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// screen is what the first screen of a page says: the verdict in plain words, and six answers.
type screen struct {
	Verdict string // a sentence
	Kind    string // what kind of violation it is, and what that means
	Cure    string // a sentence: what ends it, or what to do next
	Cells   []cell
	Run     string // what was run, in a line
}

// cell is one answer, with a remark.
type cell struct{ Name, Text, More string }

// screenOf answers by the incident that ranks first; of a run without one, by what it withstood.
func screenOf(r *checker.Results, rec *history.Record, first *happening, about Context) screen {
	s := screen{Run: heading(r)}
	if first == nil || r.Verdict == checker.Pass {
		return s.withoutViolation(r, rec, first, about)
	}
	f := first.first()
	s.Verdict = verdictSentence(r, rec, first)
	s.Kind, s.Cure = kindOfFinding(f), cure(r, first, about)
	if first.found[0].Check == checker.Liveness && f.Class == checker.NoClass {
		s.Kind = "The lock did not recover from the faults."
	}
	if r.Verdict == checker.Unknown {
		s.Kind = "The run is inconclusive: " + reasonOf(r) + "."
		s.Cure = "Run it again on a host with less load; docs/inconclusive.md lists what else helps."
	}
	s.Cells = []cell{
		{"Promise broken", promiseOf(first.found[0].Check), "check " + first.found[0].Check + ", rule " + f.Rule},
		whoCell(rec, first),
		whenCell(rec, first),
		whyCell(first),
		costCell(r, first),
		fenceCell(r, about),
	}
	if slices.Contains([]string{checker.Liveness, checker.Deadlock, checker.Bounded, checker.Fairness}, first.found[0].Check) && lossOf(r, f) == 0 {
		s.Cells[5].Text, s.Cells[5].More = "no, it does not help", "a fence protects data, but cannot free a lock"
	}
	if r.Verdict == checker.Unknown {
		s.Cells[0].Name = "Promise in doubt"
	}
	return s
}

// withoutViolation is the first screen of a run that passed, or that found nothing.
func (s screen) withoutViolation(r *checker.Results, rec *history.Record, first *happening, about Context) screen {
	effective := r.Stats["faults_effective"]
	s.Verdict = fmt.Sprintf("No violation in %s under %s.", checker.Count(r.Stats["grants"], "grant"), checker.Count(effective, "effective fault"))
	s.Kind = "A single passing run proves little: other seeds and other faults may show a violation."
	if effective == 0 {
		s.Verdict = fmt.Sprintf("No violation in %s without any fault.", checker.Count(r.Stats["grants"], "grant"))
		s.Kind = "No fault took effect, so the run says little about this lock."
	}
	if n, most := r.Stats["unplanned_stalls"], r.Stats["unplanned_stall_max_ns"]; r.TTL > 0 && most > r.TTL/10 {
		s.Kind += fmt.Sprintf(" The host stalled %s (max %s), so anything shorter than that proves nothing.", times(n), span(most))
	}
	s.Cure = "Next: try more seeds, faults at each point of a section, and longer runs (a suite does all three)."
	if r.Verdict == checker.Unknown {
		s.Verdict = "No verdict: " + reasonOf(r) + "."
		s.Kind = "The run is inconclusive: it shows neither that the lock is safe nor a violation."
		s.Cure = "Run it again on a host with less load; docs/inconclusive.md lists what else helps."
	} else if n := r.Stats["violations"]; n > 0 {
		s.Verdict = fmt.Sprintf("Clients overlapped %s, but every check that this run requires passed.", times(n))
		s.Kind = strings.TrimSpace(strings.Trim(notGating(r), " ()"))
		s.Cure = "The store or the fence protected the data; without such protection, the overlaps would count."
	}
	who := cell{"Who", fmt.Sprintf("%s, %s", checker.Count(int64(max(r.Clients, len(rec.Last))), "client"), checker.Count(int64(len(rec.Locks)), "lock")), strings.Join(rec.Locks[:min(len(rec.Locks), 8)], ", ")}
	when := cell{"When", "a run of " + seconds(r.Duration), fmt.Sprintf("seed %d", r.Seed)}
	why := cell{"Faults", checker.Count(effective, "effective fault"), strings.Join(faultNames(rec), ", ")}
	cost := cell{"Cost", "no acknowledged update lost", checker.Count(r.Stats["updates_acked"], "update") + " acknowledged"}
	switch n, counted := r.Stats["updates_lost_plain"]; {
	case !counted && r.Stats["updates_acked"] == 0:
		cost = cell{"Cost", "not measured", "this run kept no data that could be lost"}
	case n > 0:
		cost = cell{"Cost", checker.Count(n, "acknowledged update") + " lost without a fence", ""}
	}
	promise := cell{"Promises kept", fmt.Sprintf("%d of %d required checks passed", passed(r), required(r)), ""}
	if first != nil && r.Verdict == checker.Pass {
		promise.More = "noted: " + first.first().Message
	}
	s.Cells = []cell{promise, who, when, why, cost, fenceCell(r, about)}
	return s
}

func passed(r *checker.Results) (n int) {
	for _, c := range r.Checks {
		if c.Required && c.Verdict == checker.Pass {
			n++
		}
	}
	return n
}

func required(r *checker.Results) (n int) {
	for _, c := range r.Checks {
		if c.Required && c.Verdict != checker.Skipped {
			n++
		}
	}
	return n
}

func reasonOf(r *checker.Results) string {
	for _, name := range r.Order {
		if c := r.Checks[name]; c.Required && c.Verdict == checker.Unknown {
			return name + ": " + cmp.Or(c.Reason, "the host or the record explains every finding")
		}
	}
	return "a required check gave no answer"
}

func faultNames(rec *history.Record) (names []string) {
	for _, in := range rec.Faults {
		if in.Effective() && !slices.Contains(names, in.Fault.Fault) {
			names = append(names, in.Fault.Fault)
		}
	}
	return names
}

// promises say what each check holds a lock to.
var promises = map[string]string{
	checker.Assumptions:         "The record can be trusted",
	checker.Coverage:            "The faults hit an active client",
	checker.MutualExclusion:     "One holder at a time",
	checker.LockLinearizability: "A correct lock could have given all answers",
	checker.DataPlain:           "No acknowledged update is lost",
	checker.DataFenced:          "No acknowledged update is lost behind the fence",
	checker.FencingTokens:       "Each grant has a higher token than all earlier ones",
	checker.LossNotice:          "A holder is told of a loss before another client gets the lock",
	checker.Ownership:           "Only the holder can release",
	checker.Liveness:            "The lock can be acquired again after every fault",
	checker.Fairness:            "No client that asked later gets the lock first",
	checker.Deadlock:            "No clients wait for each other forever",
	checker.Bounded:             "A try ends within its bound",
	checker.Once:                "Each job is done once",
	checker.Stock:               "The stock agrees with its ledger",
}

func promiseOf(check string) string { return cmp.Or(promises[check], check) }

// verdictSentence is what happened, and what was lost by it.
func verdictSentence(r *checker.Results, rec *history.Record, h *happening) string {
	f := h.first()
	lock := lockOf(rec, f)
	var text string
	switch f.Rule {
	case "overlap":
		text = fmt.Sprintf("Two clients held %s at once for %s", lock, span(f.To-f.From))
	case "double-grant":
		text = fmt.Sprintf("%s was granted to two clients at once", lock)
	case "foreign-release":
		text = fmt.Sprintf("A client released %s while another one held it", lock)
	case "lost-update", "late-write":
		return fmt.Sprintf("%s lost: a client that had not seen the latest value overwrote it.", capital(checker.Count(max(f.Lost, 1), "acknowledged update")+plainWas(max(f.Lost, 1))))
	case "no-recovery":
		text = "After the faults ended, not every client could get " + lock + " again"
	case "orphan":
		if h.found[0].Check == checker.Liveness {
			text = "No client could get " + lock + " again: a grant whose holder was gone did not end"
		} else {
			text = fmt.Sprintf("%s was unavailable for %s, although no client held it", lock, span(f.To-f.From))
		}
	case "duplicate":
		text = "Two grants of " + lock + " have the same fencing token"
	case "regress":
		text = "A later grant of " + lock + " has a lower fencing token"
	default:
		return capital(f.Message) + "."
	}
	if lost := lossOf(r, f); lost > 0 {
		text += fmt.Sprintf("; %s%s lost", checker.Count(lost, "acknowledged update"), plainWas(lost))
	}
	return text + "."
}

func plainWas(n int64) string {
	if n == 1 {
		return " was"
	}
	return " were"
}

// lossOf is how many acknowledged updates were lost by a finding.
func lossOf(r *checker.Results, f *checker.Finding) int64 {
	if d := r.LossOf(f); d != nil {
		return max(f.Lost, d.Lost)
	}
	return f.Lost
}

func kindOfFinding(f *checker.Finding) string {
	switch f.Class {
	case checker.Inherent:
		return "Inherent to leases: any lock with a time-out can do this when its holder is late."
	case checker.Defect:
		return "A defect of the lock: a correct lock would not have done this."
	case checker.Undetermined:
		return "It is unknown whether this is a defect: a deadline is not on record."
	}
	return ""
}

// cure is one sentence: what ends this kind of violation.
func cure(r *checker.Results, h *happening, about Context) string {
	f := h.first()
	fenced := r.Checks[checker.DataFenced].Verdict == checker.Pass
	switch {
	case f.Class == checker.Inherent && fenced:
		return "Cure: let the data refuse old tokens; in this run the fence did, and nothing was lost behind it."
	case f.Class == checker.Inherent && about.WithTokens != "":
		return "Cure: a lock that issues fencing tokens (" + about.WithTokens + "), and data that refuses old ones."
	case f.Class == checker.Inherent:
		return "Cure: data that refuses old fencing tokens. A longer lease only makes it rarer."
	case f.Rule == "foreign-release" || f.Rule == "release-of-none" || f.CauseKind == checker.CauseRelease:
		return "Cure: delete the lock only if it is still your own, by comparing its owner and deleting it in one step."
	case f.Reason == checker.ReasonToldLate:
		return "Cure: a library that tells its user before the lease ends; until then, stop by your own clock."
	case f.Rule == "duplicate" || f.Rule == "regress":
		return "Cure: tokens from a store that keeps them through a fail-over."
	case f.Rule == "no-recovery" || f.Rule == "orphan":
		return "Cure: a grant that ends by itself when its holder dies, set in the same step as the lock."
	case slices.Contains(twice, f.Rule) && f.CauseKind != checker.CauseFault:
		return "Cure: another lock. This one let two clients in although no fault explains it."
	case slices.Contains(twice, f.Rule):
		return "Cure: another lock. This one forgets a grant that was still running; a longer lease does not help."
	}
	return "Next: read the story, then the events that prove it."
}

// twice are the rules of a lock that was held, or given, twice.
var twice = []string{"lost-lease", "double-grant", "overlap"}

func whoCell(rec *history.Record, h *happening) cell {
	var clients []string
	for _, id := range h.first().Grants {
		if g := rec.ByID[id]; g != nil && !slices.Contains(clients, g.Client) {
			clients = append(clients, g.Client)
		}
	}
	f := h.first()
	c := cell{Name: "Who", Text: listed(clients, 4), More: "lock " + lockOf(rec, f)}
	switch pair := len(clients) == 2; {
	case pair && (f.Rule == "overlap" || f.Rule == "double-grant"):
		c.Text = clients[1] + " got it while " + clients[0] + " still used it"
	case pair && f.Rule == "foreign-release":
		c.Text = clients[0] + " released the lock of " + clients[1]
	case len(clients) > 1 && (f.Rule == "lost-update" || f.Rule == "late-write"):
		c.Text = clients[0] + " overwrote " + listed(clients[1:], 3)
	case f.Rule == "orphan" && len(clients) == 1:
		c.Text = "all clients, because of a grant of " + clients[0]
	}
	if strings.HasSuffix(c.More, "the lock") {
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

func lockOf(rec *history.Record, f *checker.Finding) string {
	for _, id := range f.Grants {
		if g := rec.ByID[id]; g != nil {
			return shortened(g.Lock)
		}
	}
	if len(rec.Locks) == 1 {
		return shortened(rec.Locks[0])
	}
	return "the lock"
}

// shortened is a name cut to what a sentence can bear.
func shortened(name string) string {
	const most = 60
	if r := []rune(name); len(r) > most {
		return string(r[:most]) + "…"
	}
	return name
}

func whenCell(rec *history.Record, h *happening) cell {
	f := h.first()
	c := cell{Name: "When", Text: moment(f.From)}
	if f.To-f.From > 1000 {
		c.Text = fmt.Sprintf("%s, for %s", moment(f.From), span(f.To-f.From))
	}
	c.More = "after the start of the run, which took " + seconds(endOf(rec))
	return c
}

// stages name the steps that make a mechanism.
var stages = map[StepKind]string{
	StepFault: "fault", StepDeath: "server killed", StepLeaseOver: "lease over", StepTold: "holder told", StepRefused: "stale request refused", StepLost: "update lost",
	StepRole: "new leader", StepRelease: "release",
}

// whyCell is the mechanism in order, from the fault to the damage.
func whyCell(h *happening) cell {
	c := cell{Name: "Why", More: capital(h.first().Cause)}
	var parts []string
	add := func(text string) {
		if len(parts) == 0 || parts[len(parts)-1] != text {
			parts = append(parts, text)
		}
	}
	granted, struck := 0, !slices.ContainsFunc(h.steps, func(s Step) bool { return s.Kind == StepFault })
	for _, s := range h.steps {
		if struck = struck || s.Kind == StepFault; !struck {
			if s.Kind == StepGranted {
				granted++
			}
			continue
		}
		switch s.Kind {
		case StepFault:
			name, _, _ := strings.Cut(s.Text, " ")
			add(name)
		case StepGranted:
			if granted++; granted > 1 {
				add("grant to " + s.Party)
			}
		case StepRelease:
			if h.first().Rule == "foreign-release" && s.At <= h.first().To && s.At >= h.first().From {
				add("release by " + s.Party)
			}
		case StepLeaseOver, StepTold, StepRefused, StepLost, StepRole:
			add(stages[s.Kind])
		}
	}
	c.Text = strings.Join(parts, " → ")
	if len(parts) < 2 {
		c.Text, c.More = cmp.Or(c.More, "no fault in the record explains this"), ""
	}
	return c
}

func costCell(r *checker.Results, h *happening) cell {
	c := cell{Name: "Cost"}
	lost, whole := lossOf(r, h.first()), r.Stats["updates_lost_plain"]+r.Stats["updates_lost_fenced"]
	switch _, counted := r.Stats["updates_lost_plain"]; {
	case lost > 0:
		c.Text = checker.Count(lost, "acknowledged update") + " lost"
	case counted || r.Stats["updates_acked"] > 0:
		c.Text = "this lost no update"
	default:
		c.Text = "not measured: this run kept no data"
	}
	c.More = fmt.Sprintf("whole run: %s lost, %s", checker.Count(whole, "update"), checker.Count(r.Stats["violations"], "overlap"))
	return c
}

// fenceCell has three answers: prevented, did not help, not measured.
func fenceCell(r *checker.Results, about Context) cell {
	c := cell{Name: "Would a fence have helped?"}
	plain, without := r.Stats["updates_lost_plain"]
	fenced, with := r.Stats["updates_lost_fenced"]
	refused := r.Stats["fence_refused"]
	switch {
	case with && without && plain > 0 && fenced == 0:
		c.Text = "yes, it prevented the loss"
		c.More = fmt.Sprintf("%d updates lost without it, 0 with it; it refused %d requests", plain, refused)
	case with && fenced > 0:
		c.Text = "no, it did not help"
		c.More = fmt.Sprintf("%d updates lost behind the fence; it refused %d requests", fenced, refused)
	case with:
		c.Text = "nothing was lost"
		c.More = fmt.Sprintf("%d updates lost behind the fence; it refused %d requests", fenced, refused)
	case noTokens(r.Checks[checker.DataFenced]) || noTokens(r.Checks[checker.FencingTokens]):
		c.Text = "not measured"
		c.More = "backend " + r.Backend + " issues no tokens"
		if about.WithTokens != "" {
			c.More += "; try " + about.WithTokens
		}
	case r.Fencing == history.FencingOff:
		c.Text, c.More = "not measured", "the run was made with --fencing off"
	default:
		c.Text, c.More = "not measured", "this workload has no data behind a fence"
	}
	return c
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// span is a length for people, with three digits.
func span(ns int64) string { return checker.Millis(ns) }

func seconds(ns int64) string { return checker.Millis(ns) }
