package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ruledOut are phrases that messages, help and docs do not use, each with what to write in its place. The text of report pages is
// not looked at.
var ruledOut = map[string]string{
	"without being asked to":         "unplanned host stall",
	"held us up":                     "unplanned host stall",
	"hit a client at work":           "hit an active client",
	"acted as its holder":            "was still using it",
	"of what it had not read":        "unseen",
	"threads in state T":             "threads stopped",
	"cause: none found":              "no fault in the record explains this",
	"in effect from":                 "active from",
	"tied to before-":                "triggered just before",
	"when all was healed":            "after the faults ended",
	"could know only":                "had no way to detect the loss",
	"is one of a lock":               "no correct lock could produce these results",
	"knew in time":                   "could know in time",
	"in which later requests went":   "overtaken",
	"not as it was expected":         "unexpected",
	"nothing was found but":          "only findings",
	"on which the run does not fail": "which --fail-on defect ignores",
	"this is about no cell":          "no cell matches",
	"servers of somebody else":       "existing servers",
	"somebody else's servers":        "existing servers",
	"differs beyond chance":          "statistically significant",
	"the host has spoilt":            "disturbed by the host",
	"merge what?":                    "no suite directories given",
	"of some of which it may be":     "a noun",
}

var backend = regexp.MustCompile(`backend %s has not\b`)

// Messages are in plain English: see CONTRIBUTING.md.
func TestPhrasesThatAreRuledOut(t *testing.T) {
	said := 0
	refuse := func(where, text string) {
		said++
		for phrase, better := range ruledOut {
			if strings.Contains(text, phrase) {
				t.Errorf("%s says %q: write %q, or the like", where, phrase, better)
			}
		}
		if backend.MatchString(text) {
			t.Errorf("%s: write: backend %%s does not support", where)
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "bin" || d.Name() == ".git" || d.Name() == "tests" ||
			d.Name() == "lockstorm-runs" || d.Name() == "adr"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md") && d.Name() != "CHANGELOG.md":
			text, err := os.ReadFile(path)
			refuse(path, string(text))
			return err
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				refuse(set.Position(l.Pos()).String(), l.Value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if said < 1000 {
		t.Errorf("looked at %d texts only", said)
	}
}
