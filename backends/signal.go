package backends

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Signal is one way in which a library tells its user that a lock is lost.
type Signal struct {
	Kind SignalKind
	Name string // as in its documentation: "Until", "the context of WithContext"
}

// SignalKind is the form of a signal.
type SignalKind string

// Kinds of signals. A signal that is sent ends the belief when it comes ([Hooks].Lost). A method that is asked ends
// it at the moment from which it would have answered no, which is the recorded deadline of the grant and of its
// renewals.
const (
	SignalContext SignalKind = "context" // a context that ends
	SignalError   SignalKind = "error"   // the error of a call that its user makes
	SignalChannel SignalKind = "channel"
	SignalMethod  SignalKind = history.AskedSignal // a method that its user is documented to ask
)

// SignalKinds returns the kinds of its signals, each once.
func (s Spec) SignalKinds() (kinds []string) {
	for _, sig := range s.Signals {
		if !slices.Contains(kinds, string(sig.Kind)) {
			kinds = append(kinds, string(sig.Kind))
		}
	}
	return kinds
}
