package catalog

import (
	"fmt"

	"github.com/agnivade/levenshtein"
)

// maxTypos is how far a word may be from a valid one to be taken for it.
const maxTypos = 3

// DidYouMean is a question in front of a list of valid names, or nothing.
func DidYouMean(word string, valid []string) string {
	best, distance := "", maxTypos+1
	for _, name := range valid {
		if d := levenshtein.ComputeDistance(word, name); d < distance && d < len(word) {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q? ", best)
}
