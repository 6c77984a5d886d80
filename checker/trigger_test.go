package checker

import (
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// A trigger is said as people would; one without a client is none.
func TestTrigger(t *testing.T) {
	for point, want := range map[string]string{
		"before-write": "just before c2's write", "acquired": "just after c2 was granted the lock",
		"waiting":   "when c2 began to wait for the lock",
		"releasing": "when c2 was about to send its release", "between-get-and-del": "when c2 reached the point between-get-and-del",
		"":        "",
		"request": "when a message from c2 to a server of the lock was on its way", "reply": "when a message from a server of the " +
			"lock to c2 was on its way",
	} {
		if got := Trigger(history.Fault{Point: point, By: "c2"}); got != want {
			t.Errorf("%q: %q, want %q", point, got, want)
		}
		if got := Trigger(history.Fault{Point: point}); got != "" {
			t.Errorf("%q of nobody: %q", point, got)
		}
	}
}
