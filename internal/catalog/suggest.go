package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxTypos is how far a word may be from a valid one to be taken for it.
const maxTypos = 3

// maxHints is how many names that were perhaps meant are told.
const maxHints = 3

// DidYouMean is a question in front of a list of valid names, or nothing.
func DidYouMean(word string, valid []string) string {
	near := near(word, valid)
	switch {
	case len(near) == 0:
		return ""
	case len(near) == 1:
		return fmt.Sprintf("did you mean %q? ", near[0])
	}
	return fmt.Sprintf("did you mean %q? (or: %s) ", near[0], strings.Join(near[1:], ", "))
}

// Nearest is the valid name that was meant, or nothing.
func Nearest(word string, valid []string) string {
	if near := near(word, valid); len(near) > 0 {
		return near[0]
	}
	return ""
}

// near are the valid names that were perhaps meant, the nearest first.
func near(word string, valid []string) []string {
	distance := func(name string) int { return levenshtein.ComputeDistance(word, name) }
	out := slices.DeleteFunc(slices.Clone(valid), func(name string) bool {
		d := distance(name)
		return d > maxTypos || d > max(1, len(word)/2) || d >= len(word)
	})
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
	return out[:min(len(out), maxHints)]
}
