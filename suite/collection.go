package suite

import (
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/harness"
)

// Collection is what a program's suites are made of: its catalogue, and its cases, presets and documented outcomes.
// All but the catalogue may be missing.
type Collection struct {
	*harness.Catalogue
	Sets    map[string]func() []Case                         // cases, by the name under which a file includes them
	Says    func(backend, fault string) (w Outcome, ok bool) // the documented outcome of a pair, with default parameters; nil: none
	Presets map[string][]byte                                // suite files that come with the program, by name
	// the suite file to begin with, for a program without backends of its own
	First []byte
}

// SetNames returns the names of the sets of cases, sorted.
func (b *Collection) SetNames() []string { return slices.Sorted(maps.Keys(b.Sets)) }

// PresetNames returns the names of the presets, sorted.
func (b *Collection) PresetNames() []string { return slices.Sorted(maps.Keys(b.Presets)) }

// Documented returns the documented outcome of a backend under a fault.
func (b *Collection) Documented(backend, fault string) (Outcome, bool) {
	if b.Says == nil {
		return "", false
	}
	return b.Says(backend, fault)
}
