package checker

import "github.com/lockstorm/lockstorm/history"

// IsLock is a [Check.Applies] for checks of locks. It excludes versions that are compared when data is written.
func IsLock(in *Input) (Code, string) {
	return Only(in.Model.Locks(), CodeNoLock, "this backend has no lock: instead, the store refuses conflicting writes")
}

// HasTokens is a [Check.Applies] for checks of fencing tokens.
func HasTokens(in *Input) (Code, string) {
	return Only(in.Run.Tokens, CodeNoTokens, "this lock issues no fencing tokens")
}

// Only is the answer of a [Check.Applies] whose check applies under one condition: where it does not hold, code and why say so.
func Only(applies bool, code Code, why string) (Code, string) {
	if applies {
		return "", ""
	}
	return code, why
}

// WithFence is a [Check.Gates] for checks that only runs with a fence require.
func WithFence(run history.Run) bool { return run.Fencing != history.FencingOff }
