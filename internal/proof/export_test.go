package proof

import "github.com/lockstorm/lockstorm/history"

// ClassAt is the class that the verifier gives an overlap of two grants that begins at a moment.
func (r *Record) ClassAt(a, b *history.Grant, at int64) (class, reason string) {
	return r.all().class(a, b, at)
}
