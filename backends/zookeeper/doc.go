// Package zookeeper lets you test the locks that people build on ZooKeeper (add [Part] to a catalogue): one fixed ephemeral node,
// a queue of sequential ones, readers and writers, the flawed ones of articles, and the lock of the Go client. It also has the
// servers: one, or an ensemble of three.
package zookeeper
