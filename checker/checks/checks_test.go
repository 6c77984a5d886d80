package checks_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
)

// A check that cannot answer is refused when it is added.
func TestACheckWithoutRun(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "check \"mute\": the field `Run` is missing") {
			t.Errorf("said %q", text)
		}
	}()
	checks.Default().Add(checker.Check{Name: "mute", Doc: "says nothing"})
	t.Error("nobody refused it")
}
