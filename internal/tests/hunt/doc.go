// Package hunt looks for errors of the judge. It simulates lock services, correct ones and
// ones with a planted bug, has their records judged, and compares the findings with what an
// oracle says that knows the truth:
//
//	seed -> sim.Run -> Trace -> oracle.Wants -+
//	                     |                    +-> Compare -> []Disagreement -> Table, shrink
//	                     +-> checker.Judge ---+
package hunt
