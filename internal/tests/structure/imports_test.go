// Package structure holds the house together: who may import whom, how large a room may be, and what names a store.
package structure

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	module = "github.com/lockstorm/lockstorm/"
	root   = "../../.."
)

// imports lists the packages of this module that others need, themselves left out.
func imports(t *testing.T, pattern string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", root+"/"+pattern).Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pattern, err)
	}
	own := strings.TrimSuffix(pattern, "/...")
	var paths []string
	for dep := range strings.FieldsSeq(string(out)) {
		if path, ours := strings.CutPrefix(dep, module); ours && !below(path, own) {
			paths = append(paths, path)
		}
	}
	return paths
}

// below reports whether a package is another one or in its folder; an empty folder holds all.
func below(path, folder string) bool {
	return folder == "" || path == folder || strings.HasPrefix(path, folder+"/")
}

// Who may import whom: the direction in which data flows.
func TestImportDirections(t *testing.T) {
	for pkg, banned := range map[string][]string{
		"history": {
			"harness", "suite", "lockstormtest", "checker", "reports", "backends", "nemesis", "workloads", "cluster",
			"cmd", "docs", "internal/suites", "internal/cli",
		},
		"internal/proof": {
			"harness", "suite", "lockstormtest", "checker", "reports", "backends", "nemesis", "workloads", "cluster",
			"cmd", "docs",
		},
		"internal/catalog": {""},
		"cluster/...":      {"harness", "suite", "lockstormtest", "checker", "reports", "backends", "nemesis", "workloads", "cmd"},
		"checker": {
			"harness", "suite", "lockstormtest", "reports", "backends", "nemesis", "workloads", "cmd",
			"internal/suites", "internal/cli",
		},
		"reports":       {"harness", "suite", "lockstormtest", "backends", "nemesis", "workloads", "cmd"},
		"backends/...":  {"harness", "suite", "lockstormtest", "checker", "reports", "nemesis", "workloads", "cmd"},
		"nemesis/...":   {"harness", "suite", "lockstormtest", "checker", "reports", "backends", "workloads", "cmd"},
		"workloads/...": {"harness", "suite", "lockstormtest", "checker", "reports", "nemesis", "cmd"},
		"docs/...":      {"lockstormtest", "cmd"},
		"harness": {
			"suite", "lockstormtest", "cmd", "docs", "internal/suites", "internal/cli", "internal/explore",
			"internal/campaign",
		},
		"suite":         {"lockstormtest", "cmd", "docs", "internal/suites", "internal/cli"},
		"lockstormtest": {"cmd", "docs", "internal/suites", "internal/cli"},

		// Floors within a house: the contract of a suite at the bottom, then what expands, counts and ranks, then what runs.
		"internal/suites/tally": {
			"internal/suites/cases", "internal/suites/plan", "internal/suites/answer", "internal/suites/gate",
			"harness",
		},
		"internal/suites/plan":     {"internal/suites/cases", "internal/suites/answer", "internal/suites/gate"},
		"internal/suites/answer":   {"internal/suites/cases", "internal/suites/gate"},
		"internal/suites/gate":     {"internal/suites/cases", "internal/cli", "internal/pages"},
		"internal/suites/cases":    {"internal/suites/answer", "internal/suites/gate"},
		"internal/explore/...":     {"suite", "internal/suites", "internal/cli", "lockstormtest"},
		"internal/campaign/...":    {"internal/cli", "lockstormtest"},
		"harness/internal/control": {"harness", "suite"},
		"harness/internal/watch":   {"harness", "suite"},
		"harness/internal/worker":  {"suite"},
		"internal/link":            {"nemesis"},
		"nemesis":                  {"nemesis/faults"},
		"internal/pages/chart":     {"reports"},
		"internal/adapter":         {"harness", "suite", "checker", "reports", "nemesis", "workloads", "cmd"},
		"internal/register":        {"harness", "suite", "checker", "reports", "nemesis", "cmd"},
		"internal/proc":            {"history", "harness", "cluster"},
	} {
		for _, path := range imports(t, pkg) {
			for _, b := range banned {
				if below(path, b) {
					t.Errorf("%s imports %s", pkg, path)
				}
			}
		}
	}
}

// engines are the packages that work with any store and know none.
var engines = []string{"internal/adapter", "cluster", "nemesis", "workloads", "checker", "reports", "harness", "history"}

// stores are the words by which an engine would give away that it knows one.
var stores = regexp.MustCompile(`(?i)redis|sentinel|zookeeper|etcd|\bzk`)

// No engine knows a store, by import or by name, tests aside.
func TestEnginesKnowNoStore(t *testing.T) {
	looked := 0
	for _, engine := range engines {
		err := filepath.WalkDir(filepath.Join(root, engine), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case d.IsDir() || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			looked++
			return knowsNoStore(t, path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 100 {
		t.Errorf("looked at %d sources only", looked)
	}
	for _, engine := range engines {
		for _, path := range imports(t, engine+"/...") {
			if strings.HasPrefix(path, "backends/") {
				t.Errorf("%s imports %s", engine, path)
			}
		}
	}
}

var importsStore = regexp.MustCompile(`"` + regexp.QuoteMeta(module) + `backends/[^"]+"`)

// knowsNoStore looks through one source.
func knowsNoStore(t *testing.T, path string) error {
	t.Helper()
	name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Clean(root)+string(filepath.Separator)))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if word := stores.Find(line); word != nil {
			t.Errorf("%s:%d names a store: %s", name, n, word)
		}
		if imp := importsStore.Find(line); imp != nil {
			t.Errorf("%s:%d imports a store: %s", name, n, imp)
		}
	}
	return nil
}

// The rule sees what breaks it.
func TestTheWordsOfStores(t *testing.T) {
	for text, want := range map[string]bool{
		"miniredis": true, "a Redis server": true, "sentinel-1": true, "an etcd member": true, "zk-1": true, "store-1": false,
		"supervisor": false,
	} {
		if stores.MatchString(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if !importsStore.MatchString(`	"github.com/lockstorm/lockstorm/backends/file"`) ||
		importsStore.MatchString(`	"github.com/lockstorm/lockstorm/backends"`) {
		t.Error("imports of stores are not told from that of their contracts")
	}
}
