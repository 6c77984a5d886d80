package sim

// Bug is a way of the service or of a register to break its word, once.
type Bug string

// The bugs.
const (
	NoBug          Bug = ""
	DoubleGrant    Bug = "double-grant"    // grants although somebody holds it
	EarlyExpiry    Bug = "early-expiry"    // ends a lease long before its time
	ForeignRelease Bug = "foreign-release" // carries out a release that is not the holder's
	RevivedLease   Bug = "revived-lease"   // takes up a lease again that had run out
	LiesNotHeld    Bug = "lies-not-held"   // denies a grant that is in force
	ReleaseIgnored Bug = "release-ignored" // answers ok to a release and keeps the lock
	NeverFreed     Bug = "never-freed"     // keeps the lock of the dead
	TokenTwice     Bug = "token-twice"     // gives the last token again
	TokenBack      Bug = "token-back"      // gives an older token
	OpenFence      Bug = "open-fence"      // accepts a token that is too old
	EqualToken     Bug = "equal-token"     // gives a token twice, and the fence takes it from both
	NoToken        Bug = "no-token"        // accepts a request without a token
	RefusesValid   Bug = "refuses-valid"   // refuses the newest token
	DropsWrite     Bug = "drops-write"     // logs a write as accepted and forgets it
	LiesAck        Bug = "lies-ack"        // refuses a write, by its log, and tells the client that it was done
	FreesAll       Bug = "frees-all"       // an inner release frees a lock that was entered twice
	ReleaseOfNone  Bug = "release-of-none" // answers ok to a release of what was refused
	QueueJump      Bug = "queue-jump"      // lets the last one in the line go first
	LateSignal     Bug = "late-signal"     // a library tells its user late
	NoCondition    Bug = "no-condition"    // takes a write although what it was based on was replaced
	SlowTry        Bug = "slow-try"        // answers a try late
	Hangs          Bug = "hangs-up"        // ends what a connection holds that is not closed
	TakesOver      Bug = "takes-over"      // finds the holder dead, and takes the lock without looking again
	Forgets        Bug = "forgets"         // a restarted server comes back empty (with a fault)
)

// bug reports whether the planted bug strikes here: at its nth occasion, once.
func (w *world) bug(kind Bug) bool {
	if w.cfg.Bug != kind || w.struck {
		return false
	}
	if w.occasions++; w.occasions <= w.cfg.Nth {
		return false
	}
	w.struck = true
	return true
}

func (w *world) breach(b Breach) {
	b.At = w.now
	w.truth.Breaches = append(w.truth.Breaches, b)
}
