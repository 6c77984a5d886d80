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

// maxProgram is how many the program may.
const maxProgram = 590

// heavy is what neither has: lockstorm-servers has it.
var heavy = []string{
	"go.etcd.io/etcd/server/v3/embed", "github.com/moby/", "github.com/docker/docker", "github.com/testcontainers/", "nats-server",
}

// A lock of an own is tested without other stores, containers and embedded servers.
func TestWeightOfAnOwnLock(t *testing.T) {
	pkgs := []string{"testing", "github.com/redis/go-redis/v9"}
	for _, p := range ownLock {
		pkgs = append(pkgs, "./"+p)
	}
	weigh(t, maxCompiled, append(heavy, "go.etcd.io", "gonum.org", "miniredis"), pkgs...)
}

// The program has all stores, without containers and embedded servers other than miniredis.
func TestWeightOfTheProgram(t *testing.T) { weigh(t, maxProgram, heavy, "./cmd/lockstorm") }

// weigh asks what is compiled for packages: no more than limit, and none of banned.
func weigh(t *testing.T, limit int, banned []string, pkgs ...string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-deps"}, pkgs...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	slices.Sort(all)
	all = slices.Compact(all)
	t.Logf("%d packages", len(all))
	if len(all) > limit {
		t.Errorf("%d packages are compiled: at most %d", len(all), limit)
	}
	for _, b := range banned {
		if i := slices.IndexFunc(all, func(p string) bool { return strings.Contains(p, b) }); i >= 0 {
			t.Errorf("%s is compiled", all[i])
		}
	}
}
