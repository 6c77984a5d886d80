package history

// Kinds of locks.
const (
	ModelExclusive = "exclusive"  // one grant at a time; also the meaning of an empty kind
	ModelReadWrite = "read-write" // readers (mode shared) together, a writer alone
	ModelReentrant = "reentrant"  // one owner at a time, which may hold it several times: counted
	ModelNone      = "none"       // no lock: every client is let in, and conflicts are found at the write
)

// Model says which grants of a lock may be held together, and what ends them. Judges go by the model and not by the
// store.
type Model struct {
	Kind string `json:"kind,omitempty"`
	// Session is true if several grants may share one lease, and acquiring does not renew it.
	Session bool `json:"session,omitempty"`
}

// Known reports whether the kind is one that can be judged.
func (m Model) Known() bool {
	switch m.Kind {
	case "", ModelExclusive, ModelReadWrite, ModelReentrant, ModelNone:
		return true
	}
	return false
}

// Shares reports whether any two grants may be held together at all.
func (m Model) Shares() bool {
	return m.Kind == ModelReadWrite || m.Kind == ModelReentrant || m.Kind == ModelNone
}

// Locks reports whether it is a lock at all.
func (m Model) Locks() bool { return m.Kind != ModelNone }

// Counts reports whether the lock counts the grants of one owner: each of its releases gives one of them back,
// whichever it is, and only the last one frees the lock.
func (m Model) Counts() bool { return m.Kind == ModelReentrant }

// MovesOn reports whether a client that asks for the lock again, in the same mode, has left what it held, so that no
// client overlaps itself. A reentrant lock is the exception.
func (m Model) MovesOn() bool { return !m.Counts() }

// Together reports whether two grants of a lock may be held at once: two readers, a reader and a writer of one owner
// (an up- or downgrade), an owner that enters again.
func (m Model) Together(a, b *Grant) bool {
	switch m.Kind {
	case ModelReadWrite:
		return (a.Mode == ModeShared && b.Mode == ModeShared) || SameOwner(a, b)
	case ModelReentrant:
		return SameOwner(a, b)
	case ModelNone:
		return true
	}
	return false
}

// SameOwner reports whether the store cannot tell two grants apart by their owner.
func SameOwner(a, b *Grant) bool { return a.Client == b.Client && a.Owner == b.Owner }
