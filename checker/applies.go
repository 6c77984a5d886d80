package checker

import "github.com/lockstorm/lockstorm/history"

// IsLock is a [Check.Applies] for checks of locks. It excludes versions that are compared when data is written.
func IsLock(in *Input) (Code, string) {
	if !in.Model.Locks() {
		return CodeNoLock, "this backend has no lock: instead, the store refuses conflicting writes"
	}
	return "", ""
}

// HasTokens is a [Check.Applies] for checks of fencing tokens.
func HasTokens(in *Input) (Code, string) {
	if !in.Run.Tokens {
		return CodeNoTokens, "this lock issues no fencing tokens"
	}
	return "", ""
}

// WithFence is a [Check.Gates] for checks that only runs with a fence require.
func WithFence(run history.Run) bool { return run.Fencing != history.FencingOff }
