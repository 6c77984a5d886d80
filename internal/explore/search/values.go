package search

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// around are the parts of a default that are tried.
var around = []float64{0, 0.3, 1, 2, 5}

// valuesOf are values that a parameter may have: those of all faults, the words that its text explains, or some around its
// default.
func (s *Space) valuesOf(p catalog.Param) []string {
	if shared, known := s.values[p.Name]; known {
		return shared
	}
	if words := explained(p.Doc); len(words) > 1 {
		return words
	}
	if p.Default == "yes" || p.Default == "no" {
		return []string{"yes", "no"}
	}
	number, unit := p.Default, ""
	if rest, ok := strings.CutSuffix(p.Default, "ttl"); ok {
		number, unit = rest, "ttl"
	}
	if v, err := strconv.ParseFloat(number, 64); err == nil {
		if p.Default == "0" || v > 0 && v < 1 && unit == "" { // a part of something
			return []string{"0", "0.1", "0.3", "0.7"}
		}
		_, whole := strconv.Atoi(p.Default)
		var out []string
		for _, by := range around {
			value := v * by
			if whole == nil {
				value = math.Round(value)
			}
			out = append(out, strconv.FormatFloat(value, 'g', 4, 64)+unit)
		}
		return slices.Compact(out)
	}
	if d, err := time.ParseDuration(p.Default); err == nil && d > 0 {
		return lists.Map(around, func(by float64) string { return time.Duration(float64(d) * by).String() })
	}
	return nil
}

// explained are the words of a parameter whose text says what each of them means: "none: never; half: once".
func explained(doc string) (words []string) {
	for part := range strings.SplitSeq(doc, "; ") {
		before, _, ok := strings.Cut(part, ": ")
		if !ok {
			continue
		}
		if i := strings.LastIndex(before, ": "); i >= 0 {
			before = before[i+2:]
		}
		fields := strings.Fields(before)
		if len(fields) > 0 {
			words = append(words, strings.Trim(fields[len(fields)-1], "`(,"))
		}
		if _, second, ok := strings.Cut(part, ": "); ok { // "what it is: word: meaning"
			if word, _, ok := strings.Cut(second, ": "); ok && len(strings.Fields(word)) == 1 {
				words[len(words)-1] = word
			}
		}
	}
	return words
}
