package tables

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

// Adapters is docs/adapters-measured.md: rows that were not measured, by the name of their case, are those of the
// page before, and so are machine and versions where none are said.
func Adapters(before, machine string, measured map[string]Measured) string {
	p := &page{}
	p.line("# Lock libraries that run through adapters: measured under faults\n\n<!-- Written by `make adapters`. Do not edit. -->\n")
	p.line(adaptersIntro + measuredColumns)
	rows, _ := adapterRows(before, measured)
	p.measured(rows, before, machine)
	p.line("\nThe command of each run was `lockstorm run FLAGS --discipline DISCIPLINE --nemesis FAULT --seed N`. If FLAGS contains ` -- `, the\nother flags must be written before ` -- `. The next table shows the FLAGS of each variant, and the versions of the software that ran.\n")
	p.header("variant", "flags", "versions")
	for _, v := range cases.Adapters() {
		p.row(v.Name, "`"+v.Flags()+"`", cmp.Or(ranWith(v, measured), versionsIn(before, v)))
	}
	return p.String()
}

// adaptersIntro explains the first table of the page.
const adaptersIntro = `This page shows how lock libraries of Python, Java, PHP, Node and Go behave under faults. Each library runs through its
[adapter](adapters.md), with its own defaults, and each run has three clients. The first table has a row for each combination of a variant (a library with
certain options and calls), a discipline and a fault. [faults.md](faults.md) explains the faults. The fault ` + "`" + `none` + "`" + ` means a run without a fault. The
discipline is the rule by which a client stops using the lock: under ` + "`" + `told` + "`" + ` at the library's loss signal, under ` + "`" + `obey` + "`" + ` at the deadline of its lease
([semantics.md](semantics.md#disciplines)). A library without a loss signal has no rows for ` + "`" + `told` + "`" + `. `

func adapterRows(before string, measured map[string]Measured) (rows []libraryRow, missing []string) {
	var all []variantCase
	for _, v := range cases.Adapters() {
		for _, c := range v.Cases() {
			all = append(all, variantCase{v, c})
		}
	}
	return rowsOf(all, before, measured)
}

// ranWith says the versions that the measured runs of a variant had.
func ranWith(v cases.Variant, measured map[string]Measured) (versions string) {
	for name, m := range measured {
		if strings.HasPrefix(name, v.Name+"/") {
			versions = max(versions, m.Versions)
		}
	}
	return versions
}

// versionsIn are the versions that a page has of a variant.
func versionsIn(page string, v cases.Variant) string {
	head := fmt.Sprintf("| %s | `%s` | ", v.Name, v.Flags())
	for l := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(l, head); ok {
			return strings.TrimSuffix(strings.TrimSpace(rest), " |")
		}
	}
	return ""
}
