// Package sql lets you test the locks that people build on MariaDB and PostgreSQL: add [Part] to a catalogue. Each client has one
// connection of its own, as a session lock needs; the topology says which of the two engines it speaks to.
//
//	session (one connection) <- rows (data in the lock's transaction)
//	                         <- locks of a session: advisory, GET_LOCK
//	                         <- rows that stand for locks: insert, lease
//
// A session lock ends with its connection, whoever ends that (history.EndsConnection). Where the data is written in
// the lock's own transaction, the locker is the resource as well (backends.Spec.Settles): only what is committed
// counts.
package sql
