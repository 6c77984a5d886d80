package checker

// LockProof is the proof of lock-linearizability: how much was judged.
type LockProof struct {
	Locks      int `json:"locks"`
	Operations int `json:"operations"`
	Pieces     int `json:"pieces"`   // a lock for which there is an order is one
	Replayed   int `json:"replayed"` // operations in orders that were replayed, the optional ones that they need included
}

// DataProof is the proof of the data checks: whether what the clients were told has an order
// of sections.
type DataProof struct {
	Clients Verdict `json:"clients"`
}

// Recovery is how long after a fault was over somebody asked for a lock and was granted it, the
// slowest lock: the proof of liveness lists one a fault. A fault with nothing to heal, and a
// fail-over, count from their beginning, and then only who was not hurt by it.
type Recovery struct {
	Fault string `json:"fault"`
	ID    int    `json:"id"`
	Lock  string `json:"lock"`
	From  int64  `json:"from_ns"`
	Took  int64  `json:"took_ns"`
}

// Rules of records that are unsound for what the host did: a client that could not end its log in time, and a
// wall clock that was set. All others are of whoever wrote the record.
const (
	RuleDied      = "died"
	RuleClockStep = "clock-step"
)

// RuleBreach is that of a record whose lock broke the protocol by which it is driven.
const RuleBreach = "breach"
