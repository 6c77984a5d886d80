// Package sim simulates lock services, their clients, the network and a nemesis in virtual
// time, and writes the record that the harness would have written of them. One seed makes
// one history:
//
//	Draw(seed) -> Config -> Run -> Trace{History, Truth}
//
// The service keeps to its model: whatever comes out is the record of a correct lock, save
// for one [Bug] that a config may plant. [Truth] is what really happened, moment by moment:
// what the service held, what every client believed, what the registers took. An oracle
// reads it in place of the record.
package sim

// Units of virtual time, in ns. Everything happens at whole microseconds, so that equal
// times occur now and then.
const (
	us = int64(1000)
	ms = 1000 * us
	// Forever is the end of what never ended.
	Forever = int64(1) << 62
	// Never is a moment that did not come.
	Never = int64(-1)
)
