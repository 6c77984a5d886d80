package checker

import "github.com/lockstorm/lockstorm/history"

// IsLock is [Check.Applies] of what is asked of locks, not of versions that are compared when data is written.
func IsLock(in *Input) (Code, string) {
	if !in.Model.Locks() {
		return CodeNoLock, "this backend has no lock: instead, the store refuses conflicting writes"
	}
	return "", ""
}

// HasTokens is [Check.Applies] of what is asked of fencing tokens.
func HasTokens(in *Input) (Code, string) {
	if !in.Run.Tokens {
		return CodeNoTokens, "this lock issues no fencing tokens"
	}
	return "", ""
}

// WithFence is [Check.Gates] of what only runs with a fence require.
func WithFence(run history.Run) bool { return run.Fencing != history.FencingOff }
