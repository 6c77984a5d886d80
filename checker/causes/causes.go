// Package causes says why: what class an overlap has, which fault, stall or release a finding comes of, and what
// was lost by it. It is what several checks make of the same facts, so that they never say different things. A
// check of your own takes the causes of its findings from here.
//
//	facts.Facts -> Of -> Causes -> a Class, a Cause
package causes

import "github.com/lockstorm/lockstorm/checker"

// Causes are the facts of a record with what they come of.
type Causes struct{ *checker.Input }

// Of are the causes in a record.
func Of(in *checker.Input) Causes { return Causes{in} }
