package compose_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
)

var rewrite = flag.Bool("rewrite", false, "write the files anew")

// The compose files say what the recipes say.
func TestStacksAreNotStale(t *testing.T) {
	all, err := Stacks(harness.New(stores.All()...).Topologies.All())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		if *rewrite {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if old, err := os.ReadFile(name); err != nil || string(old) != text {
			t.Errorf("%s is stale: run `make docs` and read the difference (%v)", name, err)
		}
	}
	found, err := filepath.Glob("*.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if all[name] == "" {
			t.Errorf("%s is of no topology", name)
		}
	}
}

// What a shell must not read is quoted; what compose must not read is doubled.
func TestScripts(t *testing.T) {
	all, err := Stacks(harness.New(stores.All()...).Topologies.All())
	if err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"redis-single.yml":   {"exec redis-server redis.conf --bind 127.0.0.1 --port 17000", "network_mode: host"},
		"redis-sentinel.yml": {"depends_on:", "sentinel monitor lockstorm 127.0.0.1"},
		"zk-three.yml":       {"CLASSPATH=", `"$$d/*"`, "server.3=127.0.0.1:"},
		"mariadb.yml":        {"user: 65534:65534", "mariadb-install-db"},
		"etcd-three.yml": {"initial-cluster: etcd-1=http://127.0.0.1:", "lockstorm run --topology etcd-three --servers " +
			"etcd-1=127.0.0.1:"},
	} {
		for _, want := range wants {
			if !strings.Contains(all[name], want) {
				t.Errorf("%s has no %q:\n%s", name, want, all[name])
			}
		}
	}
}
