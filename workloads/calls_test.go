package workloads

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// settings are those of a counter with parameters.
func settings(text string) (Settings, error) {
	v, err := catalog.Parse("workload counter", text, slices.Concat(Params(), CallParams()))
	if err != nil {
		return Settings{}, err
	}
	return NewSettings(v, []string{"L"}, time.Second)
}

// What a section's calls need of a backend, and values that are none.
func TestCalls(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                    nil,
		"extend=half":                         {backends.CallExtend},
		"extend=background,ask=yes":           {backends.CallExtend, backends.CallAsk},
		"release=extending":                   {backends.CallExtend},
		"release=late,cancel=0.5":             nil,
		"token=equal":                         {backends.CallToken},
		"token=prefix,reuse=yes":              {backends.CallToken, backends.CallReuse},
		"token=unique,reuse=no,release=end":   nil,
		"extend=half,release=extending,try=0": {backends.CallExtend},
	} {
		s, err := settings(text)
		if err != nil || !slices.Equal(s.Calls.Needs(), want) {
			t.Errorf("%q needs %v (%v), want %v", text, s.Calls.Needs(), err, want)
		}
	}
	for text, want := range map[string]string{
		"extend=never": "choose none, half or background", "token=mine": "choose unique, equal or prefix",
		"release=soon": "choose end, late or extending", "ask=maybe": "choose yes or no", "reuse=1": "choose yes or no",
		"pair=yes": "needs a second lock", "pair=2": "choose yes or no",
		"cancel=2": "not a number from 0 to 1",
	} {
		if _, err := settings(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Each client's token is the beginning of the next one's, or the same.
func TestTokens(t *testing.T) {
	prefix, equal := Calls{Token: TokenPrefix}, Calls{Token: TokenEqual}
	for i := int64(1); i < 5; i++ {
		if a, b := prefix.token(i), prefix.token(i+1); a == b || !strings.HasPrefix(b, a) {
			t.Errorf("%q, then %q", a, b)
		}
		if equal.token(i) != equal.token(i+1) {
			t.Error("equal tokens differ")
		}
	}
	if (Calls{}).token(1) != "" || (Calls{Token: TokenUnique}).token(1) != "" {
		t.Error("a unique token is a nonce, which is not ours to make")
	}
}
