package history

// Model stub: replaced when the judge's branch is merged.
type Model struct {
	Kind    string `json:"kind,omitempty"`
	Session bool   `json:"session,omitempty"`
}

const (
	ModelExclusive = "exclusive"
	ModelReadWrite = "read-write"
	ModelReentrant = "reentrant"
	FLease         = "lease"
)
