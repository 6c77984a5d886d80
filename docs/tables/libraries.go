package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/suite"
)

// Measured is what the runs of one row of docs/libraries-measured.md or docs/adapters-measured.md came to, as it is shown.
type Measured struct{ Runs, Late, Acquire, Versions string }

// nothing is a cell without a figure.
const nothing = "-"

// Libraries is docs/libraries-measured.md: rows that were not measured, by the name of their case, are those of
// the page before, and so is the machine where none is said.
func Libraries(before, machine string, cat *harness.Catalogue, measured map[string]Measured) string {
	p := &page{}
	p.line("# Libraries under faults, as measured\n\n<!-- Written by `make libraries`. Do not edit. -->\n")
	p.line(librariesIntro + measuredColumns)
	rows, _ := libraryRows(before, cat, measured)
	p.measured(rows, before, machine)
	p.line("\nThe command of each run was `lockstorm run FLAGS --discipline DISCIPLINE --nemesis FAULT --seed N`. The next table shows the FLAGS of each\nvariant.\n")
	p.header("variant", "flags")
	for _, v := range cases.Variants() {
		p.row(v.Name, "`"+v.Flags()+"`")
	}
	return p.String()
}

// measured is the table of what was measured.
func (p *page) measured(rows []libraryRow, before, machine string) {
	p.line("%s%s.\n", measuredOn, cmp.Or(machine, machineOf(before)))
	p.header("variant", "discipline", "fault", "runs", "told late", "acquire p99", "why")
	for _, r := range rows {
		links, _ := r.why()
		p.row(r.variant, r.discipline, "`"+r.fault+"`", r.Runs, r.Late, r.Acquire, strings.Join(links, ", "))
	}
}

// librariesIntro explains the first table of the page.
const librariesIntro = `This page shows how published lock libraries behave under faults. The first table has a row for each combination of a variant (a library with certain
options and calls), a discipline and a fault. [faults.md](faults.md) explains the faults. The fault ` + "`" + `none` + "`" + ` means a run without a fault. The
discipline is the rule by which a client stops using the lock: under ` + "`" + `told` + "`" + ` at the library's loss signal, under ` + "`" + `obey` + "`" + ` at the deadline of its lease, under
` + "`" + `trusting` + "`" + ` never ([semantics.md](semantics.md#disciplines)). `

// measuredColumns explains the columns of both pages.
const measuredColumns = `The columns have these meanings:

- **runs** shows in how many runs each outcome occurred (the runs have the seeds 1, 2, 3 and so on). ` + "`" + `safe` + "`" + `: no violation was found. ` + "`" + `inherent` + "`" + `: only violations that
  every lock with a lease allows. ` + "`" + `blocks` + "`" + `: no client got the lock again. ` + "`" + `defect` + "`" + `: the lock violated its own guarantee. ` + "`" + `unknown` + "`" + `: the run has no verdict.
  The brackets after ` + "`" + `defect` + "`" + ` name the rules (kinds of violations) of the defects, each with its number of runs
  ([libraries.md](libraries.md) explains the rules). ` + "`" + `orphan in 3` + "`" + ` means that 3 of the runs had an orphan: a lock that no client could get, although no
  client held the lock. An orphan is not a violation. In rows without the outcome ` + "`" + `blocks` + "`" + `, an orphan lasts for at most one time to live.
- **told late** is the longest time during which a holder had already lost the lock but could not know of the loss. Some libraries
  send a signal when a lock is lost (to a listener or through a channel). For libraries with such a signal, under ` + "`" + `told` + "`" + `, the
  measured time begins at the end of the lease and ends at the library's signal. In rows without ` + "`" + `told` + "`" + `, the measured time
  begins when another client gets the lock. The measured time ends when the holder is notified of the loss, or when the lease ends
  on the holder's own clock, whichever comes first.
- **acquire p99**: each run has a 99th percentile of the time to acquire the lock. The table shows the largest of these percentiles among the runs of the row.
- **why** links to the section of [libraries.md](libraries.md) that explains a defect, a blocked lock or a late signal.
`

// libraryRows are the rows of the page, and the names of the cases that neither it nor what was measured has.
func libraryRows(before string, cat *harness.Catalogue, measured map[string]Measured) (rows []libraryRow, missing []string) {
	var all []variantCase
	for _, v := range cases.Variants() {
		for _, d := range v.Disciplines {
			for _, c := range v.Libraries(cat, d) {
				all = append(all, variantCase{v, c})
			}
		}
	}
	return rowsOf(all, before, measured)
}

// variantCase is a case of a variant.
type variantCase struct {
	v cases.Variant
	suite.Case
}

func rowsOf(cases []variantCase, before string, measured map[string]Measured) (rows []libraryRow, missing []string) {
	for _, c := range cases {
		m, have := measured[c.Name]
		r := libraryRow{c.v.Name, c.Run.Discipline, c.Run.Nemesis[0], m}
		if !have {
			r, have = r.from(before)
		}
		if have {
			rows = append(rows, r)
		} else {
			missing = append(missing, c.Name)
		}
	}
	return rows, missing
}

// Has reports whether a page of measured libraries has the row of a case.
func Has(page string, c suite.Case) bool {
	variant, _, _ := strings.Cut(c.Name, "/"+c.Run.Discipline+"/")
	_, have := libraryRow{variant: variant, discipline: c.Run.Discipline, fault: c.Run.Nemesis[0]}.from(page)
	return have
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
			r.Measured = Measured{Runs: cells[0], Late: cells[1], Acquire: strings.TrimSuffix(strings.TrimSpace(cells[2]), " |")}
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
	runs, _, _ := strings.Cut(r.Runs, "; "+orphan)
	words, rest, _ := strings.Cut(runs, "(")
	for rule := range strings.SplitSeq(strings.TrimSuffix(rest, ")"), ", ") {
		if name, _, _ := strings.Cut(rule, " "); name != "" {
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
	{"", "client-pause", []string{toldLate}, "client paused", "Not a library bug: a paused client gets the loss signal late", ""},
	{"redislock, owner values; redislock, one token", "", nil, "token prefix", "redislock takes over a lock whose token begins with the caller's token", ""},
	{"redislock, Sentinel", "failover-kill", nil, "new master", sectionReplaced, ""},
	{"redislock, Sentinel", "leader-isolate", nil, "new master", sectionReplaced, ""},
	{"redsync WithFailFast", "none", nil, "late deletion", "redsync WithFailFast: a failed try deletes the keys of the next try", ""},
	{"client-go", "partition-client", nil, "the leader is told after its lease has ended", "client-go 0.37.2: with ReleaseOnCancel, a leader without a network learns of its loss after its lease has expired", ""},
	{"client-go", "client-pause", nil, "a paused leader releases the next leader's lease", "client-go 0.34.0 and later: a leader that was paused releases the lease of the next leader", ""},
	{"certmagic", "client-kill", []string{blocks}, "lock file kept fresh", sectionKeptFresh, ""},
	{"certmagic", "client-pause", []string{"foreign-release"}, "lock file kept fresh", sectionKeptFresh, ""},
	{"certmagic", "", nil, "held lock taken for stale", "certmagic 0.25.0: a waiting client treats a held lock as stale and takes it", ""},
	{"PostgreSQL advisory lock of a session", "", nil, "another session", sectionBouncer, ""},
	{"rueidislock, KeyMajority 1; rueidislock 1.0.14", "", []string{blocks}, "KeyMajority 1", "rueidislock with KeyMajority 1 forgets waiting clients", ""},
	{"rueidislock, KeyMajority 1; rueidislock 1.0.14", "delete-key", nil, "key deleted", sectionLostKeys, ""},
	{"rueidislock", "", []string{blocks}, "waits forever", "rueidislock waits forever if its server was down for longer than KeyValidity", ""},
	{"rq's scheduler with two queues", "", nil, "another scheduler's lock deleted", "rq 1.13.0: a scheduler that stops deletes the lock of another scheduler", ""},
	{onRedis, "server-restart", nil, "server lost keys", sectionLostKeys, "appendfsync always"},
	{onRedis, "delete-key", nil, "key deleted", sectionLostKeys, ""},
	{"portalocker", "", nil, "two holders at once", "portalocker 2.2.1: two clients can get a RedisLock at once", ""},
	{"kazoo ReadLock", "", []string{blocks}, "reader and writer deadlock", "kazoo 2.8.0: a reader and a writer wait for each other forever", ""},
	{"Symfony RedisStore", "", []string{blocks}, "blocked for 300 s", "symfony/lock 5.4.53: a client that dies within acquire() blocks the lock for 300 s", ""},
	{"Laravel FileStore, critical sections", "", nil, "expires a second early", sectionLaravelEarly, ""},
	{"Laravel FileStore", "client-pause", []string{"double-grant", "overlap", "lost-update", "inherent"}, "expires a second early", sectionLaravelEarly, ""},
	{"Laravel FileStore", "client-pause", nil, "late release", "illuminate/cache 8.83.26: a late release of a lock in files frees the lock of another client", ""},
	{"proper-lockfile", "", nil, "stale lock taken over twice", "proper-lockfile 4.1.2: two clients take over one stale lock, and a late release frees another client's lock", ""},
	{"kazoo Lock; Curator", "server-restart", []string{toldLate}, "no signal yet", "Not a library bug: a client without a connection does not learn that its session has ended", ""},
	{"redsync; redislock; rueidislock", "server-restart", []string{"double-grant", "overlap", "lost-lease", "lost-update", toldLate}, "server lost keys", sectionLostKeys, "appendfsync always"},
	{"rueidislock", "lost-reply", []string{"overlap", toldLate}, "keys deleted first", "rueidislock deletes its keys before it signals the loss to the holder", ""},
	{"rueidislock", "", []string{"late-notice", "lost-update", toldLate}, "signal half a ttl late", "rueidislock signals a lost lock too late, by up to half the time to live", ""},
	{"", "session-expire", nil, "session ended", "Not a library bug: an operator ends the session", ""},
	{"concurrency.NewElection", "client-pause", nil, "expired session", sectionElection, ""},
	{"concurrency.NewElection", "", []string{"double-grant", "regress"}, "expired session", sectionElection, ""},
	{"concurrency.NewElection", "", []string{"duplicate", "refused-valid"}, "old token", "etcd: after a lost release, a client in the same session gets the lock with its old token", ""},
	{"concurrency", "", []string{toldLate, "late-notice", "lost-update"}, "session signals late", "etcd: a session signals its end up to a second late", ""},
	{"zk.NewLock", "", []string{toldLate}, "no signal yet", "Not a library bug: a client without a connection does not learn that its session has ended", ""},
	{"zk.NewLock", "", []string{blocks}, "znode left behind", "go-zookeeper: a failed Lock leaves its znode, and the znode blocks the lock", ""},
}

const (
	sectionElection = "etcd: a client whose session has expired wins an election"
	sectionLostKeys = "Not a library bug: a server that loses its keys"
	// Locks of other languages that live in one Redis, whose keys a restart takes.
	onRedis             = "client-go; redis-py; Symfony RedisStore; Laravel RedisStore; malkusch; node-redis; tooz RedisLock; rq's scheduler"
	sectionLaravelEarly = "illuminate/cache 8.83.26: a lock in files expires too early, by up to one second"
	sectionKeptFresh    = "certmagic 0.25.0: an earlier holder keeps refreshing the lock file of a dead holder"
	sectionBouncer      = "Not a library bug: a lock of a session behind PgBouncer"
	sectionReplaced     = "Not a library bug: the lock is lost when a new server becomes the master"
)
