// Package adapters is the folder of the adapters that lockstorm keeps, by language: programs that put locks not
// written in Go under test. Its tests check each of them against the protocol and run it. To test such a lock of your
// own, copy an adapter of its language from this folder (docs/adapters.md).
package adapters
