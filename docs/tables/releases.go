package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/suite"
)

// Releases is docs/releases.md: what was not measured, by the name of its case, is that of the page before.
func Releases(before, machine string, measured map[string]Measured) string {
	p := &page{}
	p.line("# Lock libraries by release\n\n<!-- Written by `make versions`. Do not edit. -->\n")
	p.line(releasesIntro)
	p.line("%s%s.", measuredOn, cmp.Or(machine, machineOf(before)))
	for _, s := range cases.Shelves() {
		old := section(before, s.Library)
		p.line("\n## %s\n", s.Library)
		p.line("`lockstorm run --backend exec:cmd=FILE %s --nemesis FAULT --seed N -- ARGS`\n", s.Shown())
		p.header("fault", "release", "runs", "changed by this release")
		for _, fault := range s.Faults {
			var last []string
			for _, r := range s.Releases {
				m, have := measured[s.Case(r, fault).Name]
				label := label(r, m)
				if !have {
					label, m.Runs = fromSection(old, fault, r)
				}
				if m.Runs == "" {
					continue
				}
				is := outcomes(m.Runs)
				p.row("`"+fault+"`", label, m.Runs, change(last, is))
				if len(is) > 0 {
					last = is
				}
			}
		}
	}
	p.line("\n## Commands\n\nTo run a command of this page, replace FAULT by a fault, and N by a seed. The last column of the next table shows the words for FILE and ARGS: the first word replaces FILE, and the other words replace ARGS.\n")
	p.header("library", "release", "FILE ARGS")
	for _, s := range cases.Shelves() {
		for _, r := range s.Releases {
			p.row(s.Library, r.Of, "`"+strings.Join(s.Words(r), " ")+"`")
		}
	}
	return p.String()
}

const releasesIntro = `This page shows whether a newer release of a lock library behaves differently under the same faults. The release ` + "`" + `bookworm` + "`" + `
is the version of a library that Debian 12 contains, and ` + "`" + `trixie` + "`" + ` is the version that Debian 13 contains. The servers, Python,
Java and PHP always come from Debian 12. The runs of a release under a fault have the seeds 1, 2, 3 and so on. The column "runs"
shows in how many of these runs each outcome occurred. The brackets show, for each rule (kind of violation), in how many runs a
defect had this rule. The words "orphan in 3" mean that 3 of the runs had an orphan (a lock that no client could get, although no
client held it).
[adapters-measured.md](adapters-measured.md) explains the outcomes (for example ` + "`" + `safe` + "`" + ` and
` + "`" + `inherent` + "`" + `).
The column "changed by this release" compares a release with the release in the row above it. The word "new" marks an outcome, or a rule of a
defect, that no run of the earlier release had. The word "gone" marks an outcome, or a rule of a defect, that no run of the newer release has. The word
"nothing" means that there is no such difference. The column "changed by this release" is empty if there is no earlier release to compare with, or if no
run of the release has a verdict. A few runs cannot show every outcome that a release can have, so a difference may also be due to chance.
`

// label names a release: where it is from, and the version that the runs had.
func label(r cases.Release, m Measured) string {
	library, _, _ := strings.Cut(m.Versions, ",")
	if words := strings.Fields(library); len(words) > 0 && words[len(words)-1] != r.Of {
		return words[len(words)-1] + " (" + r.Of + ")"
	}
	return r.Of
}

// section is the part of a page about a library.
func section(page, library string) string {
	_, rest, _ := strings.Cut(page, "\n## "+library+"\n")
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

// fromSection is the label and the outcomes that a section has of a release under a fault.
func fromSection(section, fault string, r cases.Release) (label, runs string) {
	for l := range strings.Lines(section) {
		cells := strings.Split(l, " | ")
		if len(cells) > 3 && cells[0] == fmt.Sprintf("| `%s`", fault) && (cells[1] == r.Of || strings.HasSuffix(cells[1], "("+r.Of+")")) {
			return cells[1], cells[2]
		}
	}
	return "", ""
}

// change is what is new, and what is gone, between the outcomes of two releases; nothing is said where one has none.
func change(was, is []string) string {
	if len(was) == 0 || len(is) == 0 {
		return ""
	}
	var parts []string
	for _, w := range is {
		if !slices.Contains(was, w) {
			parts = append(parts, "new: "+w)
		}
	}
	for _, w := range was {
		if !slices.Contains(is, w) {
			parts = append(parts, "gone: "+w)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

// outcomes are the words of a cell: of runs, and of rules of defects. Runs without a verdict and orphans say nothing.
func outcomes(cell string) (words []string) {
	for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(",;()", r) }) {
		if f := strings.Fields(part); len(f) > 0 && f[0] != "unknown" && f[0] != orphan {
			words = append(words, f[0])
		}
	}
	return words
}

// HasRelease reports whether a page of releases has the row of a case.
func HasRelease(page string, c suite.Case) bool {
	for _, s := range cases.Shelves() {
		for _, r := range s.Releases {
			fault := c.Run.Nemesis[0]
			if s.Case(r, fault).Name == c.Name {
				_, runs := fromSection(section(page, s.Library), fault, r)
				return runs != ""
			}
		}
	}
	return false
}
