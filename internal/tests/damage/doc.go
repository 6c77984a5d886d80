// Package damage spoils records on purpose, in every way in which a file can be spoilt, so
// that tests can hold the judge to its word: a record that shows a violation never passes
// when it is damaged, and one that shows none never fails.
//
//	a run's logs -> Kind.Spoil (a seed) -> logs that are not what was written -> merge -> judge
package damage
