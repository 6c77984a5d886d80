package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
)

// templated is a store with a folder that is made once, and says how often it was.
func templated(log string) cluster.Topology {
	t := clustertest.Single()
	r := &t.Nodes[0]
	r.Version = []string{"-test.list", "^$"}
	r.Template = &cluster.Template{Dir: "data", Make: [][]string{
		{"sh", "-c", "mkdir data && echo made >>" + log + " && echo kept >data/file"},
	}}
	return t
}

// A template is made once, copied for every node, and made by nobody again; a server that joins
// again has its own copy anew.
func TestTemplate(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	log := filepath.Join(t.TempDir(), "made")
	for range 2 {
		b := newBench(t)
		s := b.start(templated(log)).Servers()[0]
		own := b.path("store-1", "data", "file")
		text, err := os.ReadFile(own)
		if err != nil || string(text) != "kept\n" {
			t.Fatalf("the copy: %q, %v", text, err)
		}
		if err := os.WriteFile(own, []byte("changed"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Rejoin(b.ctx); err == nil || !strings.Contains(err.Error(), "only after the server has died") {
			t.Errorf("a server that runs was made a follower: %v", err)
		}
		if err := s.Kill(b.ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Rejoin(b.ctx); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(own); err != nil || string(text) != "kept\n" {
			t.Errorf("after it joined again: %q, %v", text, err)
		}
	}
	if text, err := os.ReadFile(log); err != nil || string(text) != "made\n" {
		t.Errorf("the template was made: %q, %v", text, err)
	}
}

// Commands that do not make the folder that they should are an error that names it.
func TestTemplateThatIsNotMade(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	top := templated(filepath.Join(t.TempDir(), "made"))
	top.Nodes[0].Template.Make = [][]string{{"true"}}
	mustSay(t, newBench(t).fails(top), "did not create data")
}

// A binary that is not on PATH is found in the folders of its package.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"14", "15"} {
		path := filepath.Join(dir, version, "bin", "own-server")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := cluster.Recipe{Binary: "own-server", Package: "own", Dirs: []string{filepath.Join(dir, "*", "bin")}}
	if path, err := r.Find(); err != nil || path != filepath.Join(dir, "15", "bin", "own-server") {
		t.Errorf("found %q, %v", path, err)
	}
	r.Dirs = nil
	if _, err := r.Find(); err == nil || !strings.Contains(err.Error(), "own-server is not on PATH (Debian: apt-get install own)") {
		t.Errorf("error %v", err)
	}
}
