package checker

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Trigger says in whose section, and where in it, a fault tied to a point struck, for people. It is empty for a fault
// that struck by time.
func Trigger(f history.Fault) string {
	if f.Point == "" || f.By == "" {
		return ""
	}
	switch f.Point {
	case history.AtWaiting:
		return "when " + f.By + " began to wait for the lock"
	case history.AtAcquired:
		return "just after " + f.By + " was granted the lock"
	case history.AtRequest:
		return "when a message from " + f.By + " to a server of the lock was on its way"
	case history.AtReply:
		return "when a message from a server of the lock to " + f.By + " was on its way"
	case history.AtReleasing:
		return "when " + f.By + " was about to send its release"
	}
	if next, ok := strings.CutPrefix(f.Point, "before-"); ok {
		return fmt.Sprintf("just before %s's %s", f.By, next)
	}
	return fmt.Sprintf("when %s reached the point %s", f.By, f.Point) // of a backend's or a workload's own
}
