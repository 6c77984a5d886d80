// Package tables writes the tables of the docs from the catalogue and from the data below docs/measured, so that they
// always agree with `list`. Its test fails when the files are stale:
//
//	go test ./internal/docs/tables -rewrite
package tables

import (
	"cmp"
	"embed"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
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
	p.line(intro("faults"), generated)
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

//go:embed *.md.tmpl
var intros embed.FS

// intro is how a page, or a part of one, begins.
func intro(page string) string {
	b, err := intros.ReadFile(page + ".md.tmpl")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(b)
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
	p.line(intro("backends"), generated)
	all := c.Backends.All()
	for _, store := range storesOf(c) {
		p.line("\n## %s\n", store.name)
		p.header("backend", "what it is", "ends", "tokens", "renews", "topologies", "parameters")
		for _, b := range store.locks {
			params := lists.Map(b.Params, func(q backends.Param) string {
				return "`" + strings.TrimSuffix(q.Name+"="+q.Default, "=") + "`"
			})
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

// onDisk ends the names of topologies that differ from others in what their servers sync.
var onDisk = regexp.MustCompile("-(aof|everysec|sync|nosync|async|remote-write|flush[02])$")

// kinds are topologies in short: one with those that keep its data on disk in another way is one.
func kinds(names []string) string {
	more := map[string]bool{}
	for _, n := range names {
		more[onDisk.ReplaceAllString(n, "")] = more[onDisk.ReplaceAllString(n, "")] || onDisk.MatchString(n)
	}
	var out []string
	for _, n := range names {
		if !onDisk.MatchString(n) {
			out = append(out, n+map[bool]string{true: "⁺"}[more[n]])
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
	p.line("%s", intro("matrix"))
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
	event := reflect.TypeFor[history.Line]()
	for i := range event.NumField() {
		tag := event.Field(i).Tag
		p.row("`"+tag.Get("json")+"`", tag.Get("is"), strings.ReplaceAll(tag.Get("doc"), "~", "`"))
	}
	return between("docs/history.md", text, "fields", &p)
}
