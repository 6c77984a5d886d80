package mutants

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Scope is a folder whose code is mutated; Only names the files, where not all of them judge.
type Scope struct {
	Dir  string
	Only []string
}

// Scopes are what judges: the checker with its engine, of the history what is said about holds and leases, and what checks
// proofs.
func Scopes() []Scope {
	return []Scope{
		{Dir: "checker"},
		{Dir: "history", Only: []string{"believed.go", "deadlines.go", "freed.go", "lease.go"}},
		{Dir: proofs},
	}
}

// proofs is the folder of what checks proofs, which is tried by tests of its own.
const proofs = "internal/proof"

// List asks gremlins for every place of the scopes, all of its kinds enabled, in the order of the files.
func List(ctx context.Context, root string, scopes []Scope) ([]Place, error) {
	var out []Place
	for _, s := range scopes {
		places, err := list(ctx, root, s)
		if err != nil {
			return nil, err
		}
		out = append(out, places...)
	}
	slices.SortFunc(out, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(out), nil
}

func list(ctx context.Context, root string, s Scope) ([]Place, error) {
	dir, err := os.MkdirTemp("", "judge-mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	file := filepath.Join(dir, "list.json")
	args := []string{"tool", "-modfile=tools/gremlins.mod", "gremlins", "unleash", "--dry-run", "-o", file}
	for kind := range swaps {
		args = append(args, "--"+strings.ToLower(strings.ReplaceAll(kind, "_", "-")))
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+s.Dir)...)
	cmd.Dir = root
	// gremlins measures coverage first, which takes a minute and decides nothing here: a mutant that no test
	// covers counts as well.
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -run=^$"))
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gremlins: %w\n%s", err, text)
	}
	return readList(file, s)
}

func readList(file string, s Scope) ([]Place, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var report struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type   string `json:"type"`
				Line   int    `json:"line"`
				Column int    `json:"column"`
			} `json:"mutations"`
		} `json:"files"`
	}
	if err := json.Unmarshal(b, &report); err != nil {
		return nil, err
	}
	var out []Place
	for _, f := range report.Files {
		if s.Only != nil && !slices.Contains(s.Only, f.Name) {
			continue
		}
		for _, m := range f.Mutations {
			out = append(out, Place{path.Join(s.Dir, filepath.ToSlash(f.Name)), m.Line, m.Column, m.Type})
		}
	}
	return out, nil
}

// Since is what of all stands on lines that are newer than a commit. Blame follows a line that was moved, so it stays old.
func Since(ctx context.Context, root, commit string, all []Mutant) (out []Mutant, err error) {
	lines := map[string][]string{}
	for _, m := range all {
		if lines[m.File] == nil {
			cmd := exec.CommandContext(ctx, "git", "blame", "-s", "-w", "-M", "-C", "^"+commit, "--", m.File)
			cmd.Dir = root
			text, err := cmd.CombinedOutput()
			if err != nil {
				return nil, fmt.Errorf("%w: %s", err, text)
			}
			lines[m.File] = strings.Split(string(text), "\n")
		}
		if !strings.HasPrefix(lines[m.File][m.Line-1], "^") {
			out = append(out, m)
		}
	}
	return out, nil
}
