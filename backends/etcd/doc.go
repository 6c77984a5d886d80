// Package etcd holds the locks that people build on etcd: those of its own client library and of
// its server, as their users call them, and one whose writes are guarded by the lock's key. It
// also has the servers: from PATH, or inside our own binary.
package etcd
