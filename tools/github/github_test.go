// Package github reads what the repository has for GitHub as GitHub would. It has only tests.
package github

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"sigs.k8s.io/yaml"
)

// The workflows of the repository, and those of the docs, have no error that actionlint knows, and call what there is.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v %v", files, err)
	}
	var all bytes.Buffer
	lintPage(t, "../../docs/ci.md")
	for _, file := range append(files, "../../docs/campaigns/github.yml", "../../docs/campaigns/github-shards.yml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := linter.Lint(file, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			t.Error(e)
		}
		all.Write(text)
	}
	for _, called := range regexp.MustCompile(`run: (?:make ([a-z-]+)|(\.ci/\w+))`).FindAllStringSubmatch(all.String(), -1) {
		if target := called[1]; target != "" {
			if out, err := exec.CommandContext(t.Context(), "make", "-C", "../..", "--dry-run", target,
				"VERSION=v0.1.0").CombinedOutput(); err != nil {
				t.Errorf("make %s: %v: %s", target, err, out)
			}
		} else if info, err := os.Stat(filepath.Join("../..", called[2])); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s cannot be run: %v", called[2], err)
		}
	}
	if !strings.Contains(all.String(), "run: .ci/run\n") {
		t.Error("no workflow calls .ci/run")
	}
}

// lintPage wants no error in the workflows that a page shows.
func lintPage(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllSubmatch(text, -1) {
		if !bytes.Contains(m[1], []byte("runs-on:")) {
			continue
		}
		linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := linter.Lint(page, m[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			t.Error(e)
		}
		shown++
	}
	if shown < 2 {
		t.Errorf("%s shows %d workflows", page, shown)
	}
}

// The linter sees what is wrong.
func TestBroken(t *testing.T) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.Lint("x.yml", []byte("on: push\njobs: {a: {runs-on: ubuntu-24.04, steps: [{uses: actions/checkout@v4, "+
		"needs: b}]}}\n"), nil)
	if err != nil || len(found) == 0 {
		t.Errorf("%v %v", found, err)
	}
}

// form is an issue form, with the keys that GitHub knows.
type form struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Labels      []string `json:"labels"`
	Body        []struct {
		Type       string `json:"type"`
		ID         string `json:"id"`
		Attributes struct {
			Label       string `json:"label"`
			Description string `json:"description"`
			Value       string `json:"value"`
			Render      string `json:"render"`
		} `json:"attributes"`
		Validations struct {
			Required bool `json:"required"`
		} `json:"validations"`
	} `json:"body"`
}

// The forms for issues have what GitHub asks of one, and each asks for the run's directory.
func TestForms(t *testing.T) {
	files, err := filepath.Glob("../../.github/ISSUE_TEMPLATE/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "config.yml" {
			continue
		}
		var f form
		if err := yaml.UnmarshalStrict(text, &f); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		ids := map[string]bool{}
		for i, field := range f.Body {
			known := field.Type == "markdown" || field.Type == "input" || field.Type == "textarea"
			if a := field.Attributes; !known || (field.Type == "markdown") != (a.Value != "") ||
				(field.Type != "markdown" && (a.Label == "" || field.ID == "" || ids[field.ID])) {
				t.Errorf("%s: field %d: %+v", file, i+1, field)
			}
			ids[field.ID] = true
		}
		if f.Name == "" || f.Description == "" || !ids["run"] {
			t.Errorf("%s: name %q, description %q, fields %v", file, f.Name, f.Description, ids)
		}
	}
}
