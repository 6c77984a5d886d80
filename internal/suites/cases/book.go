// Package cases is what lockstorm says of its own locks: the claims of articles, published failures, the table of every lock under
// every fault, suites that come with the program. No other program compiles it in.
package cases

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

//go:embed presets/*.yaml init.yaml
var embedded embed.FS

// Book is the book of lockstorm over a catalogue.
func Book(cat *harness.Catalogue) *suite.Collection {
	return &suite.Collection{
		Catalogue: cat,
		Sets: map[string]func() []suite.Case{
			"cells": Cells, "published": Published, "ensembles": Ensembles, "databases": Databases,
			"claims":  ClaimCases,
			"network": Network,
			"table":   func() []suite.Case { return Table(cat) },
		},
		Says: For, Presets: presets(), First: mustRead("init.yaml"),
	}
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
