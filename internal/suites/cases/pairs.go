package cases

import (
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// For is what a backend does under a fault, with default parameters, where it
// can work; ok is false where the table does not say.
func For(backend, fault string) (w suite.Outcome, ok bool) {
	w, ok = table[fault][backend]
	if !ok {
		w, ok = table[fault][others]
	}
	return w, ok
}

// Pair is a backend under a fault on a topology, as [For] expects it to end; an empty topology is
// the backend's default one. Where the table does not say, it expects nothing, which [Validate]
// refuses.
func Pair(backend, fault, topology string) suite.Case {
	w, ok := For(backend, fault)
	text := backend + " under " + fault + ": " + w.Doc()
	if !ok {
		text = backend + " under " + fault + ": lockstorm's documentation does not state an expected outcome for this lock under this fault yet"
	}
	cfg := harness.Defaults()
	cfg.Backend, cfg.Nemesis, cfg.Topology = backend, []string{fault}, topology
	return suite.Case{Name: backend + "/" + fault, Text: text, Run: cfg, Expect: suite.Expectation{Outcome: w}}
}

// The server of Debian 12, 2.9.10, grants one lock twice on three servers, without any fault (docs/libraries.md): own suites take the embedded one.
const (
	ofThreeNATS = "nats-three"
	ownServer   = "embedded"
)

// Table is every pair of backend and fault that can work, backend by backend, each on the topology
// that harness.Where chooses.
func Table(cat *harness.Catalogue) []suite.Case {
	var cases []suite.Case
	for _, b := range cat.Backends.All() {
		for _, f := range cat.Nemeses.All() {
			top, err := harness.Where(cat, b.Name, f.Name)
			if err != nil {
				continue
			}
			if top == b.Topologies[0] {
				top = ""
			}
			c := Pair(b.Name, f.Name, top)
			if top == ofThreeNATS {
				c.Run.Provider = ownServer
			}
			cases = append(cases, c)
		}
	}
	return cases
}
