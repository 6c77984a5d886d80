package cases

import (
	"bytes"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// others stands for every backend that no line of a fault names.
const others = "all"

// names are backends: one, several, or lists of them.
type names []string

// UnmarshalYAML reads them as one list.
func (ns *names) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*ns = append(*ns, n.Value)
		return nil
	}
	for _, c := range n.Content {
		var more names
		if err := c.Decode(&more); err != nil {
			return err
		}
		*ns = append(*ns, more...)
	}
	return nil
}

// table has, for each fault, what each backend does: documented.yaml.
var table = sync.OnceValue(func() map[string]map[string]suite.Outcome {
	var file struct {
		Groups []names `yaml:"x-groups"`
		Faults map[string][]map[suite.Outcome]names
	}
	d := yaml.NewDecoder(bytes.NewReader(mustRead("documented.yaml")))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		panic(err) // it is embedded
	}
	out := map[string]map[string]suite.Outcome{}
	for fault, lines := range file.Faults {
		out[fault] = map[string]suite.Outcome{}
		for _, line := range lines {
			for w, backends := range line {
				for _, b := range backends {
					out[fault][b] = w
				}
			}
		}
	}
	return out
})

// For is what a backend does under a fault, with default parameters, where it
// can work; ok is false where the table does not say.
func For(backend, fault string) (w suite.Outcome, ok bool) {
	w, ok = table()[fault][backend]
	if !ok {
		w, ok = table()[fault][others]
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
		text = backend + " under " + fault + ": lockstorm's documentation does not state an expected outcome for this lock under " +
			"this fault yet"
	}
	cfg := harness.Defaults()
	cfg.Backend, cfg.Nemesis, cfg.Topology = backend, []string{fault}, topology
	return suite.Case{Name: backend + "/" + fault, Text: text, Run: cfg, Expect: suite.Expectation{Outcome: w}}
}

// The server of Debian 12, 2.9.10, grants one lock twice on three servers, without any fault (docs/libraries.md): own suites take
// the embedded one.
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
