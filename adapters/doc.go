// Package adapters is the folder of the adapters that lockstorm keeps, by language: programs by which locks that
// are not written in Go are put under test. Its tests hold each of them against the protocol, and run each of
// them. To test a lock that is not written in Go, copy an adapter of its language from this folder
// (docs/adapters.md).
package adapters
