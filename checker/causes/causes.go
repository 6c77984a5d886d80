// Package causes lets you explain the findings of a check of your own as the others are: the class of an overlap, the
// fault, stall or release behind a finding, and what was lost by it. Several checks draw these conclusions from the same facts,
// so they are made once, here.
//
//	facts.Facts -> Of -> Causes -> a Class, a Cause
package causes

import "github.com/lockstorm/lockstorm/checker"

// Causes explains the facts of a record.
type Causes struct{ *checker.Input }

// Of returns the causes in a record.
func Of(in *checker.Input) Causes { return Causes{in} }
