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
	p.line("# Faults\n\n%s"+`Inject a fault with `+"`--nemesis NAME[:key=value,...]`"+`. A plan (the list of all faults of a run) can combine several faults.
lockstorm counts a fault as injected only if there is evidence that the fault took effect. The record of the run (the history) contains the targets
of each fault and the evidence of its effect (the proof of the fault). This page describes each fault, the evidence for the fault, and how the fault ends.

lockstorm skips a fault that cannot work on the topology (the set of servers) of the run, and gives the reason. If lockstorm has
to skip all faults of a run, lockstorm refuses the run. The exit code of a refused run is 3, or 4 if only this host prevents the
faults (for example, because a tool is missing).

A point is a named step of a client (`+"`list workloads`"+` and `+"`list backends`"+` list the points). With the parameter `+"`at`"+` a fault acts when a client reaches
a point. With `+"`at=random`"+` the fault acts at random times. The parameters `+"`nth`"+`, `+"`every`"+` and `+"`for`"+` set when and for how long the fault acts. A length
of time is a duration (`+"`300ms`"+`) or a multiple of the time to live of a lock (`+"`1.5ttl`"+`). The parameter `+"`nodes`"+` selects servers. If the lock reports which
servers granted it to the client, lockstorm prefers these servers as targets of the fault. A server that keeps no data (a Sentinel) is a target only if `+"`nodes`"+` contains the name of this server.

Every lock with servers, in any language, has two more points: `+"`request`"+` and `+"`reply`"+`. The point `+"`request`"+` is reached when a client
has sent a message to a server of the lock. The point `+"`reply`"+` is reached when a server has sent a message to a client. If a fault
acts at a message (a request or a reply), lockstorm does not stop the client. lockstorm holds back the message until the fault has
taken effect, and then delivers the message. `+"`nth`"+` counts the messages of each client: `+"`server-restart:at=reply,nth=5`"+` restarts a
server after it has answered the fifth message of a client and before the client gets the answer.

If a fault of servers, stores or clocks acts at a step of a client (for example `+"`at=before-release`"+`), lockstorm holds the client
at that point until another client gets the lock. So a race that is otherwise rare becomes certain. lockstorm holds the client at
the point for at most the time `+"`stay`"+` (a parameter of the fault), and never for longer than 0.9 of the client's lease.
If `+"`client-kill`"+` kills a client that waits for a lock which renews its leases, lockstorm likewise holds the holder before its write.

A link is a network connection that faults can cut or delay. All links run through toxiproxy inside lockstorm's own process. There is a link between
each client and each server, between each client and the protected data, and between servers that communicate with each other. If no fault of the
plan needs the links of the clients, the clients have direct connections instead (except with an [adapter](adapters.md), which always uses links).
`, generated)
	p.byProvider(c)
	for _, family := range families {
		specs := slices.DeleteFunc(c.Nemeses.All(), func(s nemesis.Spec) bool { return s.Family != family.name })
		if len(specs) == 0 {
			continue
		}
		p.line("\n## %s\n", family.title)
		for _, s := range specs {
			p.fault(s)
		}
	}
	return p.String()
}

// byProvider says which provider of servers each fault needs.
func (p *page) byProvider(c *harness.Catalogue) {
	providers := harness.ProviderNames()[1:] // without auto
	p.line("\n## By provider of servers\n\nA [provider](providers.md) is the way in which lockstorm gets the servers of a run. `process`: programs on PATH. `container`: containers. `embedded`: servers inside lockstorm's own program. `external`: existing servers. \"yes\" means that the fault works with this provider for at least one backend (lock) and topology. A dash means that the fault never works with this provider. If a fault cannot work in a run, lockstorm gives the reason.\n")
	p.header(append([]string{"fault"}, providers...)...)
	for _, s := range c.Nemeses.All() {
		if s.Fault == nil {
			continue
		}
		why := harness.By(c, s)
		cells := []string{"`" + s.Name + "`"}
		for _, provider := range providers {
			cell := "yes"
			if why[provider] != nil {
				cell = "-"
			}
			cells = append(cells, cell)
		}
		p.row(cells...)
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

func (p *page) fault(s nemesis.Spec) {
	p.line("### %s\n\n%s.\n", s.Name, sentence(s.Doc))
	if s.Notes != "" {
		p.line("%s\n", s.Notes)
	}
	p.line("**Evidence that it took effect:** %s\n\n**End:** %s\n", s.Proven, s.End)
	p.header("parameter", "default", "meaning")
	for _, q := range s.Params {
		def := "`" + q.Default + "`"
		if q.Default == "" {
			def = "-"
		}
		p.row("`"+q.Name+"`", def, q.Doc)
	}
	p.line("")
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
		return "docs/suite.md lacks the comments between which `make docs` writes the figures"
	}
	var p strings.Builder
	for _, f := range tally.Figures() {
		unit := map[tally.Unit]string{tally.Time: "time"}[f.Unit] + strings.TrimPrefix(string(f.Unit), "ns")
		fmt.Fprintf(&p, "- `%s` (%s): %s\n", f.Name, unit, f.Doc)
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
