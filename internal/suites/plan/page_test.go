package plan

import (
	"os"
	"regexp"
	"testing"
)

// The suites that docs/suite.md shows have no key that a suite file does not have.
func TestSuitesOfPage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/suite.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllSubmatch(text, -1)
	if len(shown) < 2 {
		t.Fatalf("%d suites", len(shown))
	}
	for _, m := range shown {
		if _, err := Read("docs/suite.md", m[1]); err != nil {
			t.Errorf("%v in\n%s", err, m[1])
		}
	}
}
