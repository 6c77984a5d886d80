// Package campaign spreads a suite over the machines that one has: workers take its runs from a work queue of NATS JetStream, and
// what came of them is stored there, too. Nothing is lost when a worker or the queue dies, and nothing counts twice.
//
//	cells -> Make -> Manifest -> Start -> queue: the manifest, and a message for each run
//	message -> Worker -> run -> its directory in the object store -> its outcome under cell, seed and attempt
//	        -> only then the acknowledgement
//	manifest + outcomes -> Gather -> gate.Suite -> results.json, page, JUnit, exit code
//
// The manifest less the outcomes is what is left to do; what the queue says of it is never believed. A message that comes again
// makes another attempt. All attempts are kept, and of several that the host did not disturb the worst one counts.
package campaign
