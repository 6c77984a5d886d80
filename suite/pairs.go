package suite

import "github.com/lockstorm/lockstorm/harness"

// For is what a backend does under a fault, with default parameters on its default
// topology; ok is false where the table does not say.
func For(backend, fault string) (w Word, ok bool) {
	w, ok = table[fault][backend]
	if !ok {
		w, ok = table[fault][others]
	}
	return w, ok
}

// Pair is a backend under a fault, as [For] expects it to end. Where the table does not say,
// it expects nothing, which [Validate] refuses.
func Pair(backend, fault string) Case {
	w, ok := For(backend, fault)
	text := backend + " under " + fault + ": " + w.Doc()
	if !ok {
		text = backend + " under " + fault + ": nobody has said yet"
	}
	cfg := harness.Defaults()
	cfg.Backend, cfg.Nemesis = backend, []string{fault}
	return Case{Name: backend + "/" + fault, Text: text, Run: cfg, Expect: Expectation{Outcome: w}}
}

// Table is every pair of backend and fault that can work on the backend's default
// topology, backend by backend.
func Table(cat *harness.Catalogue) []Case {
	var cases []Case
	for _, b := range cat.Backends.All() {
		for _, f := range cat.Nemeses.All() {
			if harness.Possible(cat, b.Name, f.Name) == nil {
				cases = append(cases, Pair(b.Name, f.Name))
			}
		}
	}
	return cases
}
