// Package sql holds the locks that people build on MariaDB and PostgreSQL, and the topologies that
// they run on. Each client has one connection of its own, as a lock of a session must have; which of
// the two engines it speaks to is said by the topology.
//
//	session (one connection) <- rows (data in the lock's transaction)
//	                         <- locks of a session: advisory, GET_LOCK
//	                         <- rows that stand for locks: insert, lease
//
// A lock of a session ends with its connection, whoever ends that (history.EndsConnection). Where the
// data is written in the lock's own transaction, the locker is the resource as well
// (backends.Spec.Settles): what counts is what is committed.
package sql
