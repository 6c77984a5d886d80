// Package cases is what lockstorm says of its own locks: the claims of articles, published failures, the table of every lock
// under every fault, suites that come with the program. No other program compiles it in.
package cases

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
	"github.com/lockstorm/lockstorm/suite"
)

//go:embed presets/*.yaml *.yaml
var embedded embed.FS

// Suites are those of lockstorm, over a catalogue.
func Suites(cat *harness.Catalogue) *suite.Collection {
	b := &suite.Collection{
		Catalogue: cat,
		Sets:      map[string]func() []suite.Case{"table": func() []suite.Case { return Table(cat) }},
		Says:      For, Presets: presets(), First: mustRead("init.yaml"),
	}
	for _, name := range []string{"cells", "published", "ensembles", "databases", "network", "power", "claims"} {
		b.Sets[name] = func() []suite.Case { return Set(name) }
	}
	return b
}

// Set are the cases of a preset that has them all itself.
func Set(preset string) []suite.Case { return casesOf("presets/" + preset + ".yaml") }

// casesOf are those of a suite file that is embedded.
func casesOf(file string) []suite.Case {
	f, err := plan.Read(file, mustRead(file))
	if err != nil {
		panic(err) // it is embedded
	}
	all, err := f.Cases(&suite.Collection{Catalogue: harness.New(stores.All()...)})
	if err != nil {
		panic(err)
	}
	return all
}

func presets() map[string][]byte {
	files, err := fs.Glob(embedded, "presets/*.yaml")
	if err != nil {
		panic(err) // the pattern is right
	}
	out := map[string][]byte{}
	for _, f := range files {
		out[strings.TrimSuffix(path.Base(f), ".yaml")] = mustRead(f)
	}
	return out
}

func mustRead(name string) []byte {
	b, err := embedded.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return b
}
