package structure

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// maxCompiled is how many packages a test of a lock on Redis may compile, those of the standard library included.
const maxCompiled = 350

// ownLock are the packages that a test of a lock on Redis imports, beside its own.
var ownLock = []string{"lockstormtest", "backends/file", "backends/redis"}

// A lock of an own is tested without other stores, containers and embedded servers.
func TestWeightOfAnOwnLock(t *testing.T) {
	args := []string{"list", "-deps", "testing", "github.com/redis/go-redis/v9"}
	for _, p := range ownLock {
		args = append(args, "./"+p)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	slices.Sort(all)
	all = slices.Compact(all)
	t.Logf("%d packages", len(all))
	if len(all) > maxCompiled {
		t.Errorf("%d packages are compiled: at most %d", len(all), maxCompiled)
	}
	for _, heavy := range []string{
		"go.etcd.io", "github.com/moby/", "github.com/docker/", "github.com/testcontainers/", "gonum.org",
		"miniredis", "nats-server",
	} {
		if i := slices.IndexFunc(all, func(p string) bool { return strings.Contains(p, heavy) }); i >= 0 {
			t.Errorf("%s is compiled", all[i])
		}
	}
}
