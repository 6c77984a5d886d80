package cases

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Libraries are the libraries of the catalogue with their options, under each discipline and under each fault that can strike
// them.
func Libraries() []suite.Case {
	cat := harness.New(stores.All()...)
	return slices.DeleteFunc(byLibrary("presets/libraries.yaml"), func(c suite.Case) bool {
		_, err := harness.Resolve(cat, c.Run)
		return err != nil
	})
}

// Adapters are the libraries of other languages. They run from the root of this repository, as Releases do.
func Adapters() []suite.Case { return byLibrary("adapters.yaml") }

// Releases are the releases of such libraries that are compared.
func Releases() []suite.Case { return byLibrary("releases.yaml") }

// byLibrary are the cases of a suite file, called as docs/measured has them: after the library as its users would say it, the
// discipline or the release, and the fault.
func byLibrary(file string) []suite.Case {
	all := casesOf(file)
	for i, c := range all {
		fault := c.Run.Nemesis[0]
		all[i].Name = strings.Join([]string{c.Text, cmp.Or(c.Run.Discipline, release(c.Run.Arguments)), fault}, "/")
		all[i].Text += " under " + fault
	}
	return all
}

// release is where the library of an adapter is from, by the words that start it: a release of its Go modules, or one of Debian.
func release(words []string) string {
	line := strings.Join(words, " ")
	if _, rest, ok := strings.Cut(line, "@"); ok {
		return rest[:strings.IndexAny(rest, ", ")]
	}
	if strings.Contains(line, "bin/trixie/") {
		return "trixie"
	}
	return "bookworm"
}
