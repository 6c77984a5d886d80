// Package tables writes the tables of the docs, from the catalogue and from the data below docs/measured, so that they cannot
// say anything else than `list` does. Its test fails when the files are stale:
//
//	go test ./docs/tables -rewrite
package tables

import (
	"fmt"
	"reflect"
	"slices"
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
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// row is a line of a table.
func (p *page) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	p.line("| %s |", strings.Join(cells, " | "))
}

func (p *page) header(cells ...string) {
	p.row(cells...)
	p.line("|%s", strings.Repeat(" --- |", len(cells)))
}

// Faults is docs/faults.md.
func Faults(c *harness.Catalogue) string {
	var p page
	p.line("# Faults\n\n%s"+`Inject a fault with ~--nemesis NAME[:key=value,...]~; repeat the flag to combine faults. A fault counts as injected only if its effect was
observed: the history holds its targets and this proof. ~lockstorm list nemeses~ prints all parameters.

A fault that cannot work on the topology is skipped, with the reason. If all are skipped, the run is refused: exit code 3, or 4 if only this
host prevents them (a tool is missing).

## When it strikes

A point is a step of a client (~list workloads~ and ~list backends~ list them) or a message of the lock: at ~request~ the client has sent one, at
~reply~ the server has. Without ~at~, most faults alternate between a fresh grant and a random time.

- **Messages** are held back until the fault has taken effect; the client is not stopped. ~server-restart:at=reply,nth=5~ restarts a server after
  it has answered the fifth message of a client, before the client gets the answer.
- **Steps:** a fault of servers, stores or clocks keeps the client at its point until another client is granted the lock, so that a rare race
  becomes certain: for ~stay~ at most, and never longer than 0.9 of its lease.
- **Servers:** ~nodes~ prefers those that granted the lock, if it says which. One without data (a Sentinel) is hit only by name.
- **Links** (client to server, client to protected data, server to server) lead through toxiproxy in lockstorm's own process. If no fault needs
  them, clients connect directly, except with an [adapter](adapters.md).

## Common parameters

Lengths of time are durations (~300ms~) or multiples of the lock's time to live (~1.5ttl~). Each fault lists those that it takes, with its defaults.
`, generated)
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
	return strings.ReplaceAll(p.String(), "~", "`")
}

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
	p.line("\n## By provider of servers\n\nWhat never works with a [provider](providers.md), on any backend and topology (with one that is not listed, all can):\n")
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
	0: "what the drawn faults hit", nemesis.Clients: "clients", nemesis.Nodes: "servers", nemesis.ClientsAndNodes: "clients and servers",
	nemesis.OwnTargets: "something else",
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

// Backends is docs/backends.md.
func Backends(c *harness.Catalogue) string {
	var p page
	p.line(`# Backends

%sA backend is a lock that lockstorm can test. Test a backend with `+"`--backend NAME`"+`. The last column lists the topologies (sets of servers) of each backend; the first topology of each list is the default.
The column "ends" shows when a grant (a held lock) ends if no client releases it: when its lease expires, when its holder's process, session or connection ends, or never. The column "tokens" shows whether the lock issues fencing tokens. The column "renews" shows whether the lock renews its leases by itself while a client holds it.

If a client of lockstorm's Redis locks gets no answer to a command, the client sends the command again, as the clients of real users do. If the answer to a SET NX was lost, the second SET NX
reports "held by another client", although the first SET NX may have taken the lock. lockstorm then records the outcome of the attempt as unknown. With `+"`redis-lua:retries=0`"+` the client
does not resend commands.
`, generated)
	p.header("backend", "what it is", "ends", "tokens", "renews", "topologies")
	for _, b := range c.Backends.All() {
		p.row("`"+b.Name+"`", b.Doc, b.Ends, tick(b.Tokens), tick(b.Renews), strings.Join(b.Topologies, ", "))
	}
	p.line("\n## What to know\n")
	for _, b := range c.Backends.All() {
		switch {
		case b.Notes != "":
			p.line("- **%s**: %s", b.Name, b.Notes)
		case len(b.Points) > 0:
			p.line("- **%s**: %s.", b.Name, b.Doc)
		}
		for _, pt := range b.Points {
			p.line("  - point `%s`: %s", pt.Name, pt.Doc)
		}
	}
	p.line("\n## Topologies\n")
	p.header("topology", "servers", "what it is", "default ttl")
	for _, t := range c.Topologies.All() {
		ttl := "1s"
		if t.TTL != 0 {
			ttl = t.TTL.String()
		}
		p.row("`"+t.Name+"`", fmt.Sprint(len(t.Nodes)), t.Doc, ttl)
	}
	p.matrix(c)
	return p.String()
}

func tick(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// matrix is what each backend does under each fault.
func (p *page) matrix(c *harness.Catalogue) {
	p.line(`
## What the locks do under faults

The tables show the expected outcome of each lock under each fault, with default parameters and the default topology. If a fault needs
several servers (for example ` + "`leader-kill`" + `) and the default topology has only one, the run uses a topology with several servers. Each run also changes data without a fence (` + "`--fencing both`" + `), so the tables show findings that are inherent to
leases. ` + "`make soak`" + ` tests 200 random cells of these tables, and fails if a run contradicts its cell. An inconclusive run (a run without a verdict) does not contradict a cell. A
dash means that the fault cannot work on this backend. For such a combination, ` + "`lockstorm run`" + ` gives the reason.
`)
	p.header("word", "meaning")
	for _, w := range suite.Words() {
		p.row("`"+string(w)+"`", w.Doc())
	}
	for _, group := range groups(c.Backends.All()) {
		p.line("")
		head := []string{"fault"}
		for _, b := range group {
			head = append(head, b.Name)
		}
		p.header(head...)
		for _, f := range c.Nemeses.All() {
			cells := []string{"`" + f.Name + "`"}
			for _, b := range group {
				cells = append(cells, cell(c, b.Name, f.Name))
			}
			p.row(cells...)
		}
	}
}

const columns = 7 // of one table, so that it can be read

func groups(all []backends.Spec) [][]backends.Spec {
	return slices.Collect(slices.Chunk(all, columns))
}

func cell(c *harness.Catalogue, backend, fault string) string {
	if _, err := harness.Where(c, backend, fault); err != nil {
		return "-"
	}
	w, ok := cases.For(backend, fault)
	if !ok {
		return "?"
	}
	return string(w)
}

const figuresBegin, figuresEnd = "<!-- figures: made by `make docs` -->\n", "<!-- end of figures -->\n"

// Suite is docs/suite.md with the figures that there are.
func Suite(text string) string {
	before, rest, found := strings.Cut(text, figuresBegin)
	_, after, ended := strings.Cut(rest, figuresEnd)
	if !found || !ended {
		return "docs/suite.md lacks the comments between which `make docs` writes the table of figures"
	}
	var p page
	p.header("figure", "meaning", "unit")
	for _, f := range tally.Figures() {
		p.row("`"+f.Name+"`", f.Doc, map[tally.Unit]string{tally.Time: "time"}[f.Unit]+strings.TrimPrefix(string(f.Unit), "ns"))
	}
	return before + figuresBegin + p.String() + figuresEnd + after
}

const fieldsBegin, fieldsEnd = "<!-- fields: made by `make docs` -->\n", "<!-- end of fields -->\n"

// History is docs/history.md with the fields that an event has, by their tags.
func History(text string) string {
	before, rest, found := strings.Cut(text, fieldsBegin)
	_, after, ended := strings.Cut(rest, fieldsEnd)
	if !found || !ended {
		return "docs/history.md lacks the comments between which `make docs` writes the table of fields"
	}
	var p page
	p.header("field", "type", "meaning")
	event := reflect.TypeFor[history.Event]()
	for i := range event.NumField() {
		tag := event.Field(i).Tag
		p.row("`"+tag.Get("rec")+"`", tag.Get("is"), strings.ReplaceAll(tag.Get("doc"), "~", "`"))
	}
	return before + fieldsBegin + p.String() + fieldsEnd + after
}
