// Package adapter drives locks of other languages. An adapter is a program that a client starts
// beside itself, in its process group, so that what strikes the client strikes both. They speak JSON, a
// line a message, over two pipes: the adapter reads on the descriptor that LOCKSTORM_IN names (3) and
// writes on that of LOCKSTORM_OUT (4); its standard output and error are logs.
//
//	ours:    hello, open, ping, acquire, try, release, extend, ask, cancel, go
//	answers: ok, granted, busy, not-held, not-sent, error, unsupported; with the id of what they answer
//	notices: lost, renewing, renewed, giving-up, gave-up, point
//
// What an adapter says for certain is on record as that; all else is of unknown outcome: an error, what is
// open when the pipe ends, when its time is over, or when a line cannot be read. Nothing is sent twice.
// An adapter that breaks the protocol is no proof against its lock: the breach is on record, and nothing
// of the run counts. docs/adapters.md is the protocol for those who write one.
package adapter
