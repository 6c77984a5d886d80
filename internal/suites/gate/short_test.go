package gate

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A reason that is cut ends with a whole character, and no longer than it may.
func TestReasonsAreCutBetweenCharacters(t *testing.T) {
	for shift := range 4 {
		text := strings.Repeat("a", shift) + strings.Repeat("€", maxReason)
		got := short(text)
		if !utf8.ValidString(got) || len(got) > maxReason+len("...") || !strings.HasPrefix(text, strings.TrimSuffix(got, "...")) {
			t.Errorf("shift %d: %q", shift, got)
		}
	}
	if whole := strings.Repeat("a", maxReason); short(whole) != whole {
		t.Error("what fits was cut")
	}
}
