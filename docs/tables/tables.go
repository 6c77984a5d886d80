// Package tables writes the tables of the docs from the catalogue, so that they cannot
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
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/suite"
	"github.com/lockstorm/lockstorm/suite/own"
	"github.com/lockstorm/lockstorm/suite/tally"
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
	p.line("# Faults\n\n%s"+`Ask for one with `+"`--nemesis NAME[:key=value,...]`"+`; several may be combined in one plan. A fault
proves that it took effect, or counts as not injected; what it hurt and the proof are events of the
history. A fault that cannot work on a topology is skipped with its reason; as the only fault it is
refused (exit code 3).

`+"`at`"+` ties a fault to a point of a client (`+"`list workloads`"+` and `+"`list backends`"+` name them) or, with
`+"`random`"+`, to random times; `+"`nth`"+`, `+"`every`"+` and `+"`for`"+` say when and how long. A length is a duration or a
multiple of the ttl. A fault of servers, stores or clocks that is tied to a point keeps its client
there until another one was granted, at most for `+"`stay`"+` and never beyond 0.9 of its lease: a race that
is rare otherwise becomes certain. `+"`nodes`"+` takes the servers that granted the lock first, where the
lock says which they were. Servers without data (Sentinels) are hurt only when they are named.

Links run through toxiproxy inside our own process: one for each client and server, one for each client
and the protected resource, and one for each pair of servers that talk to each other. Links of clients
that no fault of the plan touches lead past it.
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
	p.line("\n## By provider of servers\n\nWhat [a provider](providers.md) can do for some backend and topology; what it cannot, a run says with the reason.\n")
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
	{history.FamilyMixed, "All together"},
}

func (p *page) fault(s nemesis.Spec) {
	p.line("### %s\n\n%s.\n\n%s\n", s.Name, sentence(s.Doc), s.Proven)
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

%sA backend is a way to lock. Run one with `+"`--backend NAME`"+`; the first of its topologies is the default.
"Ends" is how a grant ends when nobody releases it: by its lease, with its holder's process, or never.

Clients send again by themselves what was not answered, as those of users do: a SET NX whose answer was lost is told
as "held by somebody else", and is of unknown outcome on record. `+"`redis-lua:retries=0`"+` does not.
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
## What they do under faults

With default parameters, on the default topology (faults of leaders and quorums: on the ensemble), ` + "`--fencing both`" + `: the plain register has no fence, so what is
inherent shows. ` + "`make soak`" + ` measures 200 cells of this table, drawn by a seed, and fails on every one
that a run contradicts; a run that ends inconclusive contradicts nothing. A dash: the fault cannot work
there (the reason is what ` + "`lockstorm run`" + ` answers).
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
	w, ok := own.For(backend, fault)
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
		return "docs/suite.md has no place for figures"
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
		return "docs/history.md has no place for fields"
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
