package backends

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Signal is one way in which a library tells its user that a lock is lost.
type Signal struct {
	Kind SignalKind
	Name string // as its documentation has it: "Until", "the context of WithContext"
}

// SignalKind is what a signal is.
type SignalKind string

// The kinds of signals. One that is sent ends the belief when it comes ([Hooks].Lost); a method
// that is asked ends it at the moment from which it would have answered no: the deadline of the
// grant and of its renewals on record is then what it goes by.
const (
	SignalContext SignalKind = "context" // a context that ends
	SignalError   SignalKind = "error"   // of a call that its user makes
	SignalChannel SignalKind = "channel"
	SignalMethod  SignalKind = history.AskedSignal // that its user is documented to ask
)

// SignalKinds are the kinds of its signals, each once.
func (s Spec) SignalKinds() (kinds []string) {
	for _, sig := range s.Signals {
		if !slices.Contains(kinds, string(sig.Kind)) {
			kinds = append(kinds, string(sig.Kind))
		}
	}
	return kinds
}
