package reports

import "testing"

// A command is shown without the folder of its program, also where that is quoted.
func TestWithoutPath(t *testing.T) {
	for command, want := range map[string]string{
		"/usr/bin/lockstorm run --seed 1":              "lockstorm run --seed 1",
		`'/it'\''s a/lockstorm' run -- 'a b'`:          "lockstorm run -- 'a b'",
		`'/a b/my lab' run`:                            "'my lab' run",
		"bin/lockstorm run":                            "bin/lockstorm run",
		"LOCKSTORM_REPLAY='/a b' go test -run '^X$' .": "LOCKSTORM_REPLAY='/a b' go test -run '^X$' .",
		"": "",
	} {
		if got := withoutPath(command); got != want {
			t.Errorf("%s becomes %s, want %s", command, got, want)
		}
	}
}
