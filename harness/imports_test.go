package harness

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/lockstorm/lockstorm/"

// Who may import whom: the direction in which data flows.
func TestImportDirections(t *testing.T) {
	forbidden := map[string][]string{
		"history":       {""}, // nothing of ours
		"checker":       {"harness", "suite", "reports", "backends", "nemesis", "workloads", "cmd"},
		"reports":       {"harness", "suite", "backends", "nemesis", "workloads", "cmd"},
		"backends/...":  {"harness", "suite", "checker", "reports", "nemesis", "workloads", "cmd"},
		"nemesis/...":   {"harness", "suite", "checker", "reports", "backends", "workloads", "cmd"},
		"workloads/...": {"harness", "suite", "checker", "reports", "nemesis", "cmd"},
		"docs/...":      {"cmd"},
		"internal/...":  {"harness", "suite", "checker", "reports", "backends", "nemesis", "workloads", "cmd", "history"},
		"harness":       {"suite", "cmd", "docs"},
		"suite":         {"cmd", "docs"},
	}
	for pkg, banned := range forbidden {
		out, err := exec.Command("go", "list", "-deps", "../"+pkg).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", pkg, err)
		}
		own := strings.TrimSuffix(pkg, "/...")
		for dep := range strings.FieldsSeq(string(out)) {
			path, ours := strings.CutPrefix(dep, module)
			if !ours || path == own || strings.HasPrefix(path, own+"/") {
				continue
			}
			for _, b := range banned {
				if b == "" || path == b || strings.HasPrefix(path, b+"/") {
					t.Errorf("%s imports %s", pkg, path)
				}
			}
		}
	}
}
