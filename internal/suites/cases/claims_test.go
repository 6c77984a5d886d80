package cases

import (
	"regexp"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// Every claim has runs that are possible, a text and a source; no number is there twice.
func TestClaims(t *testing.T) {
	if err := suite.Validate(harness.New(stores.All()...), Set("claims")...); err != nil {
		t.Error(err)
	}
	seen := map[int]bool{}
	for _, c := range Claims() {
		if seen[c.Number] || c.Text == "" || c.Articles == "" || len(c.Runs) == 0 {
			t.Errorf("claim %d: %+v", c.Number, c)
		}
		seen[c.Number] = true
	}
	for _, key := range regexp.MustCompile(`(?m)^ *(x-[a-z]+):`).FindAllStringSubmatch(string(mustRead("presets/claims.yaml")), -1) {
		if !slices.Contains([]string{"x-claims", "x-claimed", "x-figures"}, key[1]) {
			t.Errorf("nobody reads the key %s", key[1])
		}
	}
	for n := 1; n <= 42; n++ {
		if !seen[n] {
			t.Errorf("claim %d is missing", n)
		}
	}
}

// The verdict is that of the runs, and open until all of them were made.
func TestClaimVerdicts(t *testing.T) {
	c := Claim{Number: 7, Runs: []ClaimRun{{}, {}}}
	yes, no := ClaimResult{Claim: 7, Supports: true}, ClaimResult{Claim: 7}
	for _, tc := range []struct {
		answers []ClaimResult
		want    ClaimVerdict
	}{
		{nil, Open},
		{[]ClaimResult{yes}, Open},
		{[]ClaimResult{yes, {Claim: 8}}, Open},
		{[]ClaimResult{yes, yes}, Stands},
		{[]ClaimResult{no, no}, Falls},
		{[]ClaimResult{yes, no}, InPart},
	} {
		if got := c.Judged(tc.answers); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.answers, got, tc.want)
		}
	}
}
