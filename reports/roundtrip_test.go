package reports

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// Results that were stored and read again are told in the same words.
func TestSummaryOfStoredResults(t *testing.T) {
	for _, name := range []string{"paused", "safe", "failover", "nothing"} {
		r, rec := judged(t, name)
		raw, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var stored checker.Results
		if err := json.Unmarshal(raw, &stored); err != nil {
			t.Fatal(err)
		}
		var want, got bytes.Buffer
		if err := Summary(&want, r, rec, Style{}); err != nil {
			t.Fatal(err)
		}
		if err := Summary(&got, &stored, rec, Style{}); err != nil {
			t.Fatal(err)
		}
		if want.String() != got.String() {
			t.Errorf("%s: from the stored results:\n%s\nwant\n%s", name, got.String(), want.String())
		}
		if a, b := faultRows(r, rec), faultRows(&stored, rec); len(a) != len(b) || (len(a) > 0 && a[0] != b[0]) {
			t.Errorf("%s: faults %+v, want %+v", name, b, a)
		}
	}
}
