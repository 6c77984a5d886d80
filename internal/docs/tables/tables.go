// Package tables writes the tables of the docs from the catalogue and from the data below docs/measured, so that they
// always agree with `list`. Its test fails when the files are stale:
//
//	go test ./internal/docs/tables -rewrite
package tables

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/suites/tally"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/suite"
)

const generated = "<!-- Made from the catalogue by `make docs`. Do not edit. -->\n\n"

// page collects Markdown.
type page struct {
	strings.Builder
	tight bool // no spaces in tables
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// row is a line of a table.
func (p *page) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	p.columns(cells...)
}

func (p *page) columns(cells ...string) {
	space := " "
	if p.tight {
		space = ""
	}
	p.line("|%s", space+strings.Join(cells, space+"|"+space)+space+"|")
}

func (p *page) header(cells ...string) {
	p.row(cells...)
	p.columns(slices.Repeat([]string{"---"}, len(cells))...)
}

// Faults returns docs/faults.md.
func Faults(c *harness.Catalogue) string {
	var p page
	p.line("# Faults\n\n%s"+quoted(`Inject a fault with ~--nemesis NAME[:key=value,...]~; repeat the flag to combine faults. A
fault counts as injected only if its effect was observed: the history holds its targets and this proof. ~lockstorm list faults
NAME~ prints all parameters of one.

A fault that cannot work on the topology is skipped, with the reason. If all are skipped, the run is refused: exit code 3, or
4 if only this host prevents them (a tool is missing).

## When it strikes

A point is a step of a client (~list workloads NAME~ and ~list backends NAME~ show them) or a message of the lock: at
~request~ the client has sent one, at ~reply~ the server has. Without ~at~, most faults alternate between a fresh grant and a
random time.

- **Messages** are held back until the fault has taken effect; the client is not stopped. ~server-restart:at=reply,nth=5~
  restarts a server after
  it has answered the fifth message of a client, before the client gets the answer.
- **Steps:** a fault of servers, stores or clocks keeps the client at its point until another client is granted the lock, so
  that a rare race
  becomes certain: for ~stay~ at most, and never longer than 0.9 of its lease.
- **Servers:** ~nodes~ prefers those that granted the lock, if it says which. One without data (a Sentinel) is hit only by name.
- **Links** (client to server, client to protected data, server to server) lead through toxiproxy in lockstorm's own process.
  If no fault needs
  them, clients connect directly, except with an [adapter](adapters.md).

## Common parameters

Lengths of time are durations (~300ms~) or multiples of the lock's time to live (~1.5ttl~). Each fault lists those that it
takes, with its defaults.
`), generated)
	common := p.common(c.Nemeses.All())
	p.byProvider(c)
	for _, family := range families {
		specs := slices.DeleteFunc(c.Nemeses.All(), func(s nemesis.Spec) bool { return s.Family != family.name })
		if len(specs) == 0 {
			continue
		}
		p.line("\n## %s\n", family.title)
		for _, s := range specs {
			p.fault(s, common)
		}
	}
	return p.String()
}

// quoted is a text of ours, in which ~ stands for a backquote.
func quoted(text string) string { return strings.ReplaceAll(text, "~", "`") }

// meaning is a parameter as several faults may have it, each with its own default.
type meaning struct{ name, doc string }

// common tables the parameters that mean the same for several faults, and returns them.
func (p *page) common(faults []nemesis.Spec) map[meaning]bool {
	seen := map[meaning]bool{} // by several?
	var order []meaning
	for _, s := range faults {
		for _, q := range s.Params {
			m := meaning{q.Name, q.Doc}
			if _, again := seen[m]; !again {
				order = append(order, m)
				seen[m] = false
				continue
			}
			seen[m] = true
		}
	}
	p.header("parameter", "meaning")
	for _, m := range order {
		if seen[m] {
			p.row("`"+m.name+"`", m.doc)
		}
	}
	return seen
}

// byProvider says which faults work with no backend, by provider of servers.
func (p *page) byProvider(c *harness.Catalogue) {
	p.line("\n## By provider of servers\n\nWhat never works with a [provider](providers.md), on any backend and topology (with " +
		"one that is not listed, all can):\n")
	for _, provider := range harness.ProviderNames()[1:] { // without auto
		var not []string
		for _, s := range c.Nemeses.All() {
			if s.Fault != nil && harness.By(c, s)[provider] != nil {
				not = append(not, s.Name)
			}
		}
		if len(not) > 0 {
			p.line("- `%s`: %s", provider, strings.Join(not, ", "))
		}
	}
}

// families in the order of the page.
var families = []struct{ name, title string }{
	{history.FamilyClient, "Clients"},
	{history.FamilyLink, "Links"},
	{history.FamilyServer, "Servers"},
	{history.FamilyClock, "Clocks"},
	{history.FamilyStore, "Stores"},
	{history.FamilyMixed, "Random faults"},
}

// hit says whom a fault hits.
var hit = map[nemesis.Whom]string{
	0: "what the drawn faults hit", nemesis.Clients: "clients", nemesis.Nodes: "servers",
	nemesis.ClientsAndNodes: "clients and servers",
	nemesis.OwnTargets:      "something else",
}

// fault is an entry: of its parameters, those that others have too are told in the table of these.
func (p *page) fault(s nemesis.Spec, common map[meaning]bool) {
	p.line("### %s\n\n%s\n", s.Name, strings.TrimSpace(sentence(s.Doc)+". "+s.Notes))
	var takes, own []string
	for _, q := range s.Params {
		set := "`" + strings.TrimSuffix(q.Name+"="+q.Default, "=") + "`"
		if common[meaning{q.Name, q.Doc}] {
			takes = append(takes, set)
		} else {
			own = append(own, "- "+set+": "+q.Doc)
		}
	}
	lines := append([]string{strings.TrimSuffix("- Hits "+hit[s.Whom]+": "+strings.Join(takes, " "), ": ")}, own...)
	p.line("%s\n- **Proof:** %s **End:** %s\n", strings.Join(lines, "\n"), s.Proven, s.End)
}

func sentence(doc string) string { return strings.ToUpper(doc[:1]) + doc[1:] }

// Backends returns docs/backends.md.
func Backends(c *harness.Catalogue) string {
	p := page{tight: true}
	p.line(quoted(`# Backends

%sTest a lock with ~--backend NAME[:key=value,...]~. "Ends": what ends a grant that is not released. "Tokens": it issues fencing
tokens. "Renews": a lease that is held renews itself. The first topology is the default; ⁺: also with ~-aof~ behind its name.

lockstorm's Redis locks resend a command that got no answer, as real clients do. The second SET NX then says "held by another
client" although the first may have taken the lock: the attempt is recorded as unknown. ~retries=0~ resends nothing.
`), generated)
	all := c.Backends.All()
	for _, store := range storesOf(c) {
		p.line("\n## %s\n", store.name)
		p.header("backend", "what it is", "ends", "tokens", "renews", "topologies", "parameters")
		for _, b := range store.locks {
			var params []string
			for _, q := range b.Params {
				params = append(params, "`"+strings.TrimSuffix(q.Name+"="+q.Default, "=")+"`")
			}
			p.row("`"+b.Name+"`", b.Doc, b.Ends, tick(b.Tokens), tick(b.Renews), kinds(b.Topologies), strings.Join(params, " "))
		}
	}
	p.line("\n## Parameters\n")
	p.header("parameter", "meaning")
	var seen []meaning
	for _, b := range all {
		for _, q := range b.Params {
			if m := (meaning{q.Name, q.Doc}); !slices.Contains(seen, m) {
				seen = append(seen, m)
				p.row("`"+m.name+"`", m.doc)
			}
		}
	}
	p.line("\n## What to know\n")
	for _, b := range all {
		told := strings.TrimSpace(b.Notes)
		for _, pt := range b.Points {
			told = strings.TrimSpace(told + " Point `" + pt.Name + "`: " + pt.Doc + ".")
		}
		if told != "" {
			p.line("- **%s**: %s", b.Name, told)
		}
	}
	p.line("\n## Topologies\n\nThe default time to live is 1s, unless another one is given.\n")
	p.header("topology", "servers", "what it is")
	for _, t := range c.Topologies.All() {
		ttl := ""
		if t.TTL != 0 {
			ttl = "; ttl " + t.TTL.String()
		}
		p.row("`"+t.Name+"`", strconv.Itoa(len(t.Nodes)), t.Doc+ttl)
	}
	p.matrix(c)
	return p.String()
}

// kinds are topologies in short: one with its twin that keeps data on disk is one.
func kinds(names []string) string {
	var out []string
	for _, n := range names {
		if base, twin := strings.CutSuffix(n, "-aof"); !twin || !slices.Contains(names, base) {
			out = append(out, n+map[bool]string{true: "⁺"}[slices.Contains(names, n+"-aof")])
		}
	}
	return strings.Join(out, ", ")
}

func tick(b bool) string { return map[bool]string{true: "✓"}[b] }

// store is a section of locks.
type store struct {
	name  string
	locks []backends.Spec
}

// storeOf is the section of a lock.
func storeOf(cat *harness.Catalogue, lock string) string {
	binary := ""
	if b, err := cat.Backends.Get(lock); err == nil && len(b.Topologies) > 0 {
		if top, err := cat.Topologies.Get(b.Topologies[0]); err == nil && len(top.Nodes) > 0 {
			binary = top.Nodes[0].Binary
		}
	}
	return cmp.Or(map[string]string{
		"": "Files", "redis-server": "Redis and NATS", "nats-server": "Redis and NATS", "java": "ZooKeeper", "postgres": "Databases",
		"mariadbd": "Databases",
	}[binary], binary)
}

func storesOf(c *harness.Catalogue) (all []store) {
	for _, b := range c.Backends.All() {
		name := storeOf(c, b.Name)
		i := slices.IndexFunc(all, func(s store) bool { return s.name == name })
		if i < 0 {
			i, all = len(all), append(all, store{name: name})
		}
		all[i].locks = append(all[i].locks, b)
	}
	return all
}

// signs are the words of the expected outcomes, as docs/matrix.md shows what was measured.
var signs = map[suite.Outcome]string{
	suite.Safe: "✅", suite.Inherent: "⚠️", suite.Mostly: "⚠️~", suite.Defect: "❌", suite.Blocks: "⛔",
	suite.Violated: "❗", suite.Any: "~",
}

// matrix is what each backend is expected to do under each fault.
func (p *page) matrix(c *harness.Catalogue) {
	p.line(quoted(`
## What the locks do under faults

The expected outcome with defaults; if the fault needs several servers (~leader-kill~), on the first topology that has them. Data
without a fence is changed too (~--fencing both~). ~make series RUN=TestSeriesSoak~ runs 200 random cells and
fails if one is contradicted (by a verdict: inconclusive is none).
[matrix.md](matrix.md) has what was measured.
`))
	p.header("sign", "word", "meaning")
	for _, w := range suite.Words() {
		p.row(signs[w], "`"+string(w)+"`", w.Doc())
	}
	p.row("➖", "", "impossible; `lockstorm run` gives the reason")
	for _, s := range storesOf(c) {
		p.line("\n**%s**\n", s.name)
		names, rule := "", ""
		for _, b := range s.locks {
			names, rule = names+"`"+b.Name+"`|", rule+":-:|"
		}
		p.line("|fault|%s\n|---|%s", names, rule)
		for _, f := range c.Nemeses.All() {
			cells := ""
			for _, b := range s.locks {
				cells += cell(c, b.Name, f.Name) + "|"
			}
			if strings.Trim(cells, "➖|") != "" {
				p.line("|`%s`|%s", f.Name, cells)
			}
		}
	}
}

func cell(c *harness.Catalogue, backend, fault string) string {
	if _, err := harness.Where(c, backend, fault); err != nil {
		return "➖"
	}
	w, _ := cases.For(backend, fault)
	return cmp.Or(signs[w], "unknown")
}

// between replaces what stands in a page between the comment that names it and the next one that ends it.
func between(file, text, what string, p *page) string {
	begin, end := "<!-- "+what+": made by `make docs` -->\n", "<!-- end of "+what+" -->\n"
	before, rest, found := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return file + " lacks the comments between which `make docs` writes the " + what
	}
	return before + begin + p.String() + end + after
}

// Suite returns docs/suite.md with the present figures.
func Suite(text string) string {
	var p page
	for _, f := range tally.Figures() {
		unit := map[tally.Unit]string{tally.Time: "time"}[f.Unit] + strings.TrimPrefix(string(f.Unit), "ns")
		p.line("- `%s` (%s): %s", f.Name, unit, f.Doc)
	}
	return between("docs/suite.md", text, "figures", &p)
}

// History returns docs/history.md with the fields of an event, by their tags.
func History(text string) string {
	var p page
	p.header("field", "type", "meaning")
	event := reflect.TypeFor[history.Event]()
	for i := range event.NumField() {
		tag := event.Field(i).Tag
		p.row("`"+tag.Get("json")+"`", tag.Get("is"), strings.ReplaceAll(tag.Get("doc"), "~", "`"))
	}
	return between("docs/history.md", text, "fields", &p)
}
