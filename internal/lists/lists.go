// Package lists has what the standard library lacks for slices.
package lists

import "slices"

// Map returns f of each element, in order; nil for no elements.
func Map[S ~[]E, E, T any](all S, f func(E) T) []T {
	if len(all) == 0 {
		return nil
	}
	out := make([]T, len(all))
	for i, e := range all {
		out[i] = f(e)
	}
	return out
}

// Filter returns the elements for which keep is true, in a slice of its own; nil for none.
func Filter[S ~[]E, E any](all S, keep func(E) bool) (out S) {
	for _, e := range all {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// First orders what has something before what has it not.
func First(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// With returns all with e at its end, unless e is there.
func With[S ~[]E, E comparable](all S, e E) S {
	if slices.Contains(all, e) {
		return all
	}
	return append(all, e)
}

// Find returns the first element for which is is true.
func Find[S ~[]E, E any](all S, is func(E) bool) (e E, ok bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return e, false
}
