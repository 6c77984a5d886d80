package catalog

import (
	"fmt"

	"github.com/agnivade/levenshtein"
)

// maxTypos is how far a word may be from a valid one to be taken for it.
const maxTypos = 3

// DidYouMean is a question in front of a list of valid names, or nothing.
func DidYouMean(word string, valid []string) string {
	if best := Nearest(word, valid); best != "" {
		return fmt.Sprintf("did you mean %q? ", best)
	}
	return ""
}

// Nearest is the valid name that was meant, or nothing.
func Nearest(word string, valid []string) string {
	best, distance := "", maxTypos+1
	for _, name := range valid {
		if d := levenshtein.ComputeDistance(word, name); d < distance && d <= max(1, len(word)/2) && d < len(word) {
			best, distance = name, d
		}
	}
	return best
}
