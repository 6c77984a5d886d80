package cases

import (
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/suite"
)

// Release is one release of a library of an adapter: what the command of the adapter has before it, or in place of its first word.
type Release struct {
	Of   string   // where it is from: a release of Debian, or of the library itself
	With []string // variables of the environment, or a program with its flags
}

// Shelf is an adapter with the releases of its library that are compared: a section of docs/releases.md.
type Shelf struct {
	Library  string
	Command  string // the adapter and its arguments
	Flags    string // of lockstorm run
	Faults   []string
	Releases []Release
}

// Unpacked is where .ci/trixie puts what it unpacks.
const Unpacked = "bin/trixie"

var (
	installed = Release{Of: "bookworm"}
	python    = []Release{installed, {"trixie", []string{"env", "PYTHONPATH=" + Unpacked + "/usr/lib/python3/dist-packages"}}}
	curator   = []Release{installed, {"trixie", []string{"env", "CURATOR=" + Unpacked + "/usr/share/java"}}}
	php       = []Release{installed, {"trixie", []string{"php", "-d", "include_path=" + Unpacked + "/usr/share/php:/usr/share/php"}}}
)

// ofModule are releases of a module of Go: adapters/go/launch builds an adapter with them.
func ofModule(module string, versions ...string) []Release {
	return ofModules([]string{module}, versions...)
}

// ofModules are releases of modules that go together, by one number.
func ofModules(modules []string, versions ...string) (all []Release) {
	for _, v := range versions {
		all = append(all, Release{v, []string{"env", "RELEASE=" + strings.Join(modules, "@"+v+",") + "@" + v}})
	}
	return all
}

// Shelves are the libraries whose releases are compared.
func Shelves() []Shelf {
	ofRedis := []string{"none", "client-pause", lateRelease, "server-restart", "delete-key"}
	ofZooKeeper := []string{"none", "client-pause", cut, "session-expire"}
	return []Shelf{
		{"redis-py Lock", "adapters/python/redis_py.py", three, ofRedis, python},
		{"portalocker RedisLock", "adapters/python/portalocker_redis.py", three, []string{"none", "client-pause", lateRelease, cut}, python},
		{"rq's scheduler with two queues", "adapters/python/rq_scheduler.py two", three, []string{"none", "client-pause"}, python},
		{"python-etcd3 Lock", "adapters/python/etcd3_lock.py", three, []string{"none", "client-pause"}, python},
		{"kazoo Lock", "adapters/python/kazoo_lock.py", three, ofZooKeeper, python},
		{"kazoo ReadLock and WriteLock", "adapters/python/kazoo_lock.py rwlock", "--workload rwlock" + three, []string{"none"}, python},
		{"Curator InterProcessMutex", "adapters/java/curator", three, ofZooKeeper, curator},
		{"Symfony RedisStore", "adapters/php/symfony_lock.php redis", three, ofRedis, php},
		{"Laravel RedisStore", "adapters/php/laravel_lock.php redis", three, ofRedis[:4], php}, // nobody knows its keys
		{"Laravel FileStore", "adapters/php/laravel_lock.php file", longLease, []string{"none", "client-pause:at=before-release,for=1.5ttl"}, php},
		{"malkusch/lock PHPRedisMutex", "adapters/php/malkusch_lock.php", three, ofRedis, php},
		{"rueidislock, KeyMajority 1", "adapters/go/launch rueidislock", three, append([]string{cut}, ofRedis...), ofModule("github.com/redis/rueidis", "v1.0.14", "v1.0.36", "v1.0.60", "v1.0.79")},
		{"client-go leader election", "adapters/go/launch clientgo", leading, []string{"none", "client-pause", lateRelease}, ofModules([]string{"k8s.io/client-go", "k8s.io/apimachinery"}, "v0.30.14", "v0.33.13", "v0.34.0", "v0.37.2")},
		{"certmagic FileStorage", "adapters/go/launch certmagic", three + " --ttl 10s --time 45s", []string{"client-kill", "client-pause"}, ofModule("github.com/caddyserver/certmagic", "v0.22.2", "v0.25.0")},
	}
}

// Case is the case of a release under a fault. It expects nothing.
func (s Shelf) Case(r Release, fault string) suite.Case {
	words := append(slices.Clone(r.With), strings.Fields(s.Command)...)
	v := Variant{Name: s.Library, Line: "--backend exec:cmd=" + words[0] + " " + strings.TrimSpace(s.Flags) + argumentsOf + strings.Join(words[1:], " ")}
	c := v.Case("", fault)
	c.Name = s.Library + "/" + r.Of + "/" + fault
	return c
}
