// Package etcd lets you test the locks that people build on etcd (add [Part] to a catalogue): those of its client library and of
// its server, called as users call them, and one whose writes are guarded by the lock's key. It also has the servers: from PATH,
// or embedded in this program.
package etcd
