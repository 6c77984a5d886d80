package checker

import "github.com/lockstorm/lockstorm/history"

func isLock(in *Input) (Code, string) {
	if !in.Model.Locks() {
		return CodeNoLock, "nothing is locked: conflicts are found when the data is written"
	}
	return "", ""
}

func hasTokens(in *Input) (Code, string) {
	if !in.Run.Tokens {
		return CodeNoTokens, "issues no tokens"
	}
	return "", ""
}

func withFence(run history.Run) bool { return run.Fencing != history.FencingOff }
