package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// How many rows of a table are open; the rest is folded, and everything beyond maxFindings and maxFaults is only
// counted, so that the page stays readable.
const (
	openFindings = 4 // of one check; fewer where many checks have some
	openInAll    = 9 // findings of all checks
	maxFindings  = 40
	openFaults   = 10
	maxFaults    = 200
	openSteps    = 30
	maxSteps     = 100
	maxNotes     = 20
)

// stepRow is a step of the story.
type stepRow struct {
	Step
	ID   string
	Of   []eventRef // the first event that shows it
	Time string     // as precise as the steps beside it need
}

// folded has rows of which the first are open, and the number of those left out.
type folded[T any] struct {
	Open, Folded []T
	More         int
}

// fold leaves so many rows open, and shows so many in all.
func fold[T any](rows []T, open, most int) folded[T] {
	shown := rows[:min(len(rows), most)]
	n := min(len(shown), open)
	return folded[T]{shown[:n], shown[n:], len(rows) - len(shown)}
}

// tale is the steps of an incident or of what a lock withstood.
type tale = folded[stepRow]

func (e *evidence) tale(story string, steps []Step) tale {
	show := moment
	if n := len(steps); n > 0 && steps[n-1].At-steps[0].At < 20_000_000 {
		show = precisely
	}
	rows := make([]stepRow, len(steps))
	for i, s := range steps {
		of, _ := e.refs(s.Events[:min(len(s.Events), 1)])
		rows[i] = stepRow{Step: s, ID: stepID(story, i), Of: of, Time: show(s.At)}
	}
	return fold(rows, openSteps, maxSteps)
}

// findingRow is a finding in the table of its check.
type findingRow struct {
	checker.Finding
	ID       string
	Refs     []eventRef
	More     int // events that are not named
	Incident int // that it belongs to, from 0; -1: none
}

// Because says why, for people.
func (f findingRow) Because() string { return because(&f.Finding) }

// checkRow is one check in the table of checks, with its findings.
type checkRow struct {
	Name         string
	Line         string
	Mark         string
	Result       checker.Result
	Open, Folded []findingRow
	More         int // findings that are left out
}

func checkRows(r *checker.Results, e *evidence, all []*happening) []checkRow {
	e.incidents = map[string]int{}
	for i, h := range all {
		for _, f := range h.found {
			e.incidents[findingID(f.Check, f.at)] = i
		}
	}
	with := 0
	for _, c := range r.Checks {
		with += min(len(c.Findings), 1)
	}
	open := min(openFindings, openInAll/max(with, 1))
	var out []checkRow
	for _, name := range listedChecks(r) {
		c := r.Checks[name]
		row := checkRow{Name: name, Line: oneLine(c), Mark: mark(c), Result: c}
		listed := worstOf(c.Findings)
		row.Open = e.findings(name, c, listed[:min(len(listed), open)])
		row.Folded = e.findings(name, c, listed[len(row.Open):])
		row.More = len(c.Findings) - len(row.Open) - len(row.Folded)
		out = append(out, row)
	}
	return out
}

// worstOf are the indexes of the findings that a page lists, in the order of checker.Rank.
func worstOf(findings []checker.Finding) []int {
	all := make([]int, len(findings))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return checker.Rank(findings[a], findings[b]) })
	return all[:min(len(all), maxFindings)]
}

// findings are the rows of some findings of a check, in the order of the check.
func (e *evidence) findings(check string, c checker.Result, which []int) []findingRow {
	var out []findingRow
	for _, i := range slices.Sorted(slices.Values(which)) {
		refs, more := e.refs(c.Findings[i].Events)
		id, incident := findingID(check, i), -1
		if n, ok := e.incidents[id]; ok {
			incident = n
		}
		out = append(out, findingRow{c.Findings[i], id, refs, more, incident})
	}
	return out
}

// whatRan is what was run.
func whatRan(r *checker.Results, rec *history.Record) [][2]string {
	out := [][2]string{
		{"backend", subject(r)},
		{"topology", r.Topology + " (" + r.Provider + ")"},
		{"nemesis", strings.Join(r.Nemesis, " + ")},
		{"workload", r.Workload},
		{"fencing", r.Fencing},
		{"discipline", r.Discipline},
		{"ttl", dur(r.TTL).String()},
		{"clients", fmt.Sprint(r.Clients)},
		{"locks", fmt.Sprint(len(rec.Run.Locks))},
		{"time", dur(rec.Run.Duration).String()},
		{"seed", fmt.Sprint(r.Seed)},
		{"started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"tolerance", dur(rec.Run.Tolerance).String()},
	}
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		out = append(out, [2]string{name, r.Versions[name]})
	}
	return out
}

// subject is the lock that was run: an adapter by what it says of itself.
func subject(r *checker.Results) string {
	name := r.Versions["adapter"]
	switch library := r.Versions["library"]; {
	case name == "":
		return r.Backend
	case library != "":
		return name + " (" + library + ")"
	}
	return name
}

// statRows are all figures by name.
func statRows(r *checker.Results) [][2]string {
	var out [][2]string
	for _, name := range slices.Sorted(maps.Keys(r.Stats)) {
		v := r.Stats[name]
		text := strconv.FormatInt(v, 10)
		if strings.HasSuffix(name, "_ns") {
			text = checker.Millis(v)
		}
		out = append(out, [2]string{name, text})
	}
	return out
}

// faultRow is one injection in the table of faults.
type faultRow struct {
	ID       int
	Fault    string
	Whom     string
	From     string // when it struck
	Proven   string // when its effect was observed
	Until    string
	What     string // the proof, or why it hurt nobody
	Recovery string
	Missed   bool
	At, To   int64 // when it began and ended
}

// faultRows are the injections in order, those that hurt nobody too.
func faultRows(r *checker.Results, rec *history.Record) []faultRow {
	took := recoveries(r)
	var out []faultRow
	for _, in := range rec.Faults {
		row := faultRow{
			ID: in.ID, Fault: in.Fault.Fault, Whom: in.Whom(),
			From: at(in.Began()), What: in.Proof + standingAt(in),
			At: in.Began(), To: in.Until(),
		}
		if in.Effective() {
			row.Proven = at(in.Effect.Time)
		}
		if in.HealEnd != nil {
			row.Until = at(in.HealEnd.Time)
		}
		if !in.Effective() {
			row.Missed, row.What, row.Whom = true, missed(in), cmp.Or(row.Whom, "none")
		}
		if rc, ok := took[in.ID]; ok {
			row.Recovery = checker.Millis(rc.Took)
		}
		out = append(out, row)
	}
	return out
}

// standingAt says what triggered a fault that is tied to a point.
func standingAt(in *history.Injection) string {
	if checker.Trigger(in.Fault) == "" {
		return ""
	}
	return " (" + checker.Trigger(in.Fault) + ")"
}

// missed says why a fault hurt nobody, as far as it is on record. One that was never
// begun has its failure for its first event.
func missed(in *history.Injection) string {
	answer := in.Effect
	if answer == nil {
		answer = in.Invoke
	}
	why := cmp.Or(answer.Message(), answer.Code())
	switch answer.Type() {
	case history.Invoke:
		return "lockstorm began to inject the fault, but the record does not show whether the fault took effect" + standingAt(in)
	case history.Info:
		return "lockstorm began to inject the fault, but it is unknown whether the fault took effect" + colon(why) + standingAt(in)
	default:
		return "the fault was not injected" + colon(why) + standingAt(in)
	}
}

func colon(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// recoveries are the recovery times that liveness measured, by the fault.
func recoveries(r *checker.Results) map[int]checker.Recovery {
	out := map[int]checker.Recovery{}
	var list []checker.Recovery
	if r.Checks[checker.Liveness].ProofInto(&list) != nil {
		return out // nothing was measured
	}
	for _, rc := range list {
		out[rc.ID] = rc
	}
	return out
}
