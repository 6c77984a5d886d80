// Package leaktest is goleak with what a library of ours leaks.
package leaktest

import "go.uber.org/goleak"

// Main runs the tests of a package, and fails when they leave goroutines behind.
//
// One is of toxiproxy (2.12.0) itself: when the side that it writes to is closed while the other one still sends,
// NoopToxic.Pipe hands a chunk to nobody, and waits for ever. It holds that chunk and no connection.
func Main(m goleak.TestingM) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/Shopify/toxiproxy/v2/toxics.(*NoopToxic).Pipe"),
		// nats.go 1.55: where it starts after its publisher was cleaned up, it waits for a channel that is nil.
		goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"),
	)
}
