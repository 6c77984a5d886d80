package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite/own"
)

// Measured is what the runs of one row of docs/libraries-measured.md came to, as it is shown.
type Measured struct{ Runs, Late, Acquire string }

// nothing is a cell without a figure.
const nothing = "-"

// Libraries is docs/libraries-measured.md: rows that were not measured, by the name of their case, are those of
// the page before, and so is the machine where none is said.
func Libraries(before, machine string, cat *harness.Catalogue, measured map[string]Measured) string {
	p := &page{}
	p.line("# Libraries under faults, as measured\n\n<!-- Written by `make libraries`. Do not edit. -->\n")
	p.line("The column \"runs\" says how the runs of a row ended: safe, inherent (to leases), blocks, defect, or unknown. The brackets count the runs")
	p.line("with findings of each rule. A row has as many runs as it counts, with the seeds from 1 on. \"Told late\" is the longest time from the")
	p.line("end of a lease to the signal of its loss (discipline told) or, with another discipline, from the next grant to that signal. \"Why\" links to the")
	p.line("section of [libraries.md](libraries.md) that explains a defect, a blocked lock or a late signal. An orphan is a key or node that no client owns.")
	p.line("An orphan is only noted. Unless the row says that the lock blocks, an orphan lives for at most one time to live.")
	p.line("%s%s.\n", measuredOn, cmp.Or(machine, machineOf(before)))
	p.header("variant", "discipline", "fault", "runs", "told late", "acquire p99", "why")
	rows, _ := libraryRows(before, cat, measured)
	for _, r := range rows {
		links, _ := r.why()
		p.row(r.variant, r.discipline, "`"+r.fault+"`", r.Runs, r.Late, r.Acquire, strings.Join(links, ", "))
	}
	p.line("\nThe runs were made by `lockstorm run FLAGS --discipline DISCIPLINE --nemesis FAULT --seed N`, with these flags:\n")
	p.header("variant", "flags")
	for _, v := range own.Variants() {
		p.row(v.Name, "`"+v.Flags()+"`")
	}
	return p.String()
}

// libraryRows are the rows of the page, and the names of the cases that neither it nor what was measured has.
func libraryRows(before string, cat *harness.Catalogue, measured map[string]Measured) (rows []libraryRow, missing []string) {
	for _, v := range own.Variants() {
		for _, d := range v.Disciplines() {
			for _, c := range v.Libraries(cat, d) {
				m, have := measured[c.Name]
				r := libraryRow{v.Name, d, c.Run.Nemesis[0], m}
				if !have {
					r, have = r.from(before)
				}
				if have {
					rows = append(rows, r)
				} else {
					missing = append(missing, c.Name)
				}
			}
		}
	}
	return rows, missing
}

const measuredOn = "Measured on a machine with "

func machineOf(page string) string {
	_, rest, _ := strings.Cut(page, measuredOn)
	machine, _, _ := strings.Cut(rest, ".\n")
	return machine
}

// libraryRow is a library as it is used under a fault.
type libraryRow struct {
	variant, discipline, fault string
	Measured
}

// from is the row with the figures that a page has of it.
func (r libraryRow) from(page string) (libraryRow, bool) {
	head := fmt.Sprintf("| %s | %s | `%s` | ", r.variant, r.discipline, r.fault)
	for l := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(l, head); ok {
			cells := strings.Split(rest, " | ")
			r.Measured = Measured{cells[0], cells[1], strings.TrimSuffix(strings.TrimSpace(cells[2]), " |")}
			return r, true
		}
	}
	return r, false
}

// What a row has to explain besides the rules of its findings.
const (
	toldLate = "told late"
	blocks   = "blocks"
	orphan   = "orphan"
)

// open is what a row has to explain.
func (r libraryRow) open() (out []string) {
	words, rest, _ := strings.Cut(r.Runs, "(")
	for rule := range strings.SplitSeq(strings.TrimSuffix(rest, ")"), ", ") {
		if name, _, _ := strings.Cut(rule, " "); name != "" && name != orphan {
			out = append(out, name)
		}
	}
	if strings.Contains(words, blocks) {
		out = append(out, blocks)
	}
	if r.Late != nothing {
		out = append(out, toldLate)
	}
	return out
}

// why are links to the sections that explain a row, and what none of them explains.
func (r libraryRow) why() (links, missing []string) {
	for _, what := range r.open() {
		found := false
		for _, e := range explanations {
			if e.explains(r, what) {
				link := fmt.Sprintf("[%s](libraries.md#%s)", e.label, anchor(e.heading))
				if found = true; !slices.Contains(links, link) {
					links = append(links, link)
				}
				break
			}
		}
		if !found {
			missing = append(missing, what)
		}
	}
	return links, missing
}

// anchor is what a heading of a page is linked by.
func anchor(heading string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(heading) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c == '-' || c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		}
	}
	return b.String()
}

// explanation says in which section of docs/libraries.md findings are explained.
type explanation struct {
	variants, fault string   // what the names begin with; variants divided by "; "
	of              []string // rules, and what else a row has to explain; none: all of them
	label, heading  string
	except          string // what names of variants do not have
}

func (e explanation) explains(r libraryRow, what string) bool {
	return strings.HasPrefix(r.fault, e.fault) && (e.except == "" || !strings.Contains(r.variant, e.except)) && (len(e.of) == 0 || slices.Contains(e.of, what)) &&
		slices.ContainsFunc(strings.Split(e.variants, "; "), func(v string) bool { return strings.HasPrefix(r.variant, v) })
}

// explanations in order: the first that fits counts.
var explanations = []explanation{
	{"", "client-pause", []string{toldLate}, "stopped", "By no fault of the libraries: who is stopped cannot be told", ""},
	{"redislock, tokens; redislock, one token", "", nil, "tokens", "redislock takes a lock over whose token begins with its own", ""},
	{"redislock, Sentinel; rueidislock, Sentinel", "failover-kill", nil, "replaced", sectionReplaced, ""},
	{"redislock, Sentinel; rueidislock, Sentinel", "leader-isolate", nil, "replaced", sectionReplaced, ""},
	{"redsync WithFailFast", "none", nil, "late deletion", "redsync WithFailFast: a try that failed deletes what the next one took", ""},
	{"rueidislock, KeyMajority 1", "", []string{blocks}, "majority 1", "rueidislock with KeyMajority 1 forgets waiters", ""},
	{"rueidislock", "", []string{blocks}, "sleeps", "rueidislock sleeps for good when its server was away for longer than a validity", ""},
	{"redsync; redislock; rueidislock", "server-restart", []string{"double-grant", "overlap", "lost-lease", "lost-update", toldLate}, "forgets", "By no fault of the libraries: a server that forgets", "appendfsync always"},
	{"rueidislock", "lost-reply", []string{"overlap", toldLate}, "before it tells", "rueidislock gives its keys back before it tells its holder", ""},
	{"rueidislock", "", []string{"late-notice", "lost-update", toldLate}, "half a ttl", "rueidislock tells the loss up to half a time to live late", ""},
	{"", "session-expire", nil, "operator", "By no fault of the libraries: a session that its operator ends", ""},
	{"concurrency.NewElection", "client-pause", nil, "expired", sectionElection, ""},
	{"concurrency.NewElection", "", []string{"double-grant", "regress"}, "expired", sectionElection, ""},
	{"concurrency.NewElection", "", []string{"duplicate", "refused-valid"}, "old token", "etcd: under one session, a lock whose release was lost comes back with its old token", ""},
	{"concurrency", "", []string{toldLate, "late-notice", "lost-update"}, "session", "etcd: a session tells of its end up to a second late", ""},
	{"zk.NewLock", "", []string{toldLate}, "no signal", "By no fault of the libraries: what counts as a loss", ""},
	{"zk.NewLock", "", []string{blocks}, "dead", "go-zookeeper: a Lock that fails leaves its node, and the lock is dead", ""},
}

const (
	sectionElection = "etcd: an election is won by a client whose session has expired"
	sectionReplaced = "By no fault of the libraries: a master that is replaced"
)
