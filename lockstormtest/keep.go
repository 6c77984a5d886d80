package lockstormtest

import (
	"flag"
	"os"
	"regexp"
	"testing"
)

// folder is where a run is made.
type folder struct {
	t    testing.TB
	dir  string
	kept bool // whatever comes out: it was asked for
}

// folder makes the folder of a run: below that of `go test -artifacts`, where it is given, else one
// that is only kept if the run fails.
func (j *judge) folder() *folder {
	j.t.Helper()
	parent, kept := "", wanted()
	if kept {
		parent = j.t.ArtifactDir()
	}
	dir, err := os.MkdirTemp(parent, "lockstorm-"+notInName.ReplaceAllString(j.t.Name(), "_")+"-")
	if err != nil {
		j.t.Fatalf("lockstormtest: cannot create the directory of the run: %v", err)
	}
	return &folder{t: j.t, dir: dir, kept: kept}
}

// settle takes the folder away where nobody needs it.
func (f *folder) settle(passed bool) {
	f.t.Helper()
	if !passed || f.kept {
		return
	}
	if err := os.RemoveAll(f.dir); err != nil {
		f.t.Errorf("lockstormtest: %v", err)
	}
}

// wanted reports whether `go test -artifacts` asks for every run.
func wanted() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// notInName is what the name of a file has not.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9-]`)
