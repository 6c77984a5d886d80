package own

import (
	"strings"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/suite"
)

// Variant is a library with options, and the calls that its users make: a row of
// docs/libraries-measured.md.
type Variant struct {
	Name   string   // as its users would say it
	Line   string   // flags of `lockstorm run`
	Plain  bool     // it is run under every discipline; else under that of its library alone
	Faults []string // what it is put under; none: LibraryFaults
}

// The sections of a user whose work takes longer than the lease: fewer clients, and a longer run, so that
// enough of them are there for the faults.
const (
	longSections = " --workload counter:hold=1.5ttl" + fewClients
	extended     = " --workload counter:hold=1.5ttl,extend=background" + fewClients // by the user
	fewClients   = " --clients 3 --time 6s"
)

// Variants are the libraries of the catalogue as their READMEs show them, with the options that
// these name.
func Variants() []Variant {
	return []Variant{
		{"redsync", "--backend redsync", true, nil},
		{"redsync, one node", "--backend redsync --topology redis-single", false, nil},
		{"redsync on redigo", "--backend redsync:client=redigo", false, nil},
		{"redsync WithFailFast", "--backend redsync:fail-fast=yes", false, nil},
		{"redsync, Extend in the background", "--backend redsync" + extended, true, nil},
		{"redsync WithSetNXOnExtend, Extend in the background", "--backend redsync:setnx-extend=yes" + extended, false, nil},
		{"redsync WithShufflePools, ValidContext called before each write", "--backend redsync:shuffle=yes --workload counter:ask=yes", false, nil},
		{"redsync, Unlock while Extend is under way", "--backend redsync --workload counter:extend=half,release=extending", false, nil},
		{"redsync, Unlock after the lease has expired", "--backend redsync --workload counter:release=late", false, nil},
		{"redsync, each client reuses one Mutex", "--backend redsync --workload counter:reuse=yes", false, nil},
		{"redislock", "--backend redislock", true, nil},
		{"redislock, Refresh in the background", "--backend redislock" + extended, true, nil},
		{"redislock, TTL called before each write", "--backend redislock --workload counter:ask=yes", false, nil},
		{"redislock, tokens that are prefixes of other tokens", "--backend redislock --workload counter:token=prefix", false, nil},
		{"redislock, one token for all clients", "--backend redislock --workload counter:token=equal", false, nil},
		{"redislock, Release while Refresh is under way, some waits cancelled", "--backend redislock --workload counter:extend=half,release=extending,cancel=0.3", false, nil},
		{"rueidislock", "--backend rueidislock", true, nil},
		{"rueidislock FallbackSETPX", "--backend rueidislock:setpx=yes" + longSections, false, nil},
		{"rueidislock, KeyMajority 1, two locks, some waits cancelled", "--backend rueidislock:majority=1 --workload counter:hold=1.5ttl,pair=yes,cancel=0.3 --locks 2" + fewClients, false, nil},
		{"rueidislock, critical sections longer than the lease", "--backend rueidislock" + longSections, true, nil},
		{"rueidislock NoLoopTracking", "--backend rueidislock:no-loop-tracking=yes" + longSections, false, nil},
		{"rueidislock DisableCache", "--backend rueidislock:disable-cache=yes", false, nil},
		{"rueidislock DisableRetry", "--backend rueidislock:retry=no" + longSections, false, nil},
		{"nats.go KV", "--backend nats-kv", true, nil},
		{"nats.go KV, Delete while Update is under way", "--backend nats-kv --workload counter:extend=half,release=extending", false, nil},
		{"nats.go KV, Update in the background", "--backend nats-kv" + extended, true, nil},
		{"redislock, a master and its replica", "--backend redislock --topology redis-replica", false, replicaFaults},
		{"rueidislock, a master and its replica", "--backend rueidislock --topology redis-replica", false, replicaFaults},
		{"redsync, one node, appendfsync always", "--backend redsync --topology redis-single-aof", false, restartFaults},
		{"redislock, appendfsync always", "--backend redislock --topology redis-single-aof", false, restartFaults},
		{"rueidislock, appendfsync always", "--backend rueidislock --topology redis-single-aof", false, restartFaults},
		{"redislock, Sentinel", "--backend redislock --topology redis-sentinel --time 10s", false, sentinelFaults},
		{"rueidislock, Sentinel", "--backend rueidislock --topology redis-sentinel --time 10s", false, sentinelFaults},
		{"zk.NewLock", "--backend zk-library --time 8s", false, sessionFaults},
		{"zk.NewLock, ensemble of three", "--backend zk-library --topology zk-three --time 14s", false, ensembleFaults},
		{"concurrency.NewMutex", "--backend etcd-mutex --time 8s", false, sessionFaults},
		{"concurrency.NewMutex, cluster of three", "--backend etcd-mutex --topology etcd-three --time 14s", false, ensembleFaults},
		{"concurrency.NewElection", "--backend etcd-election --time 8s", false, sessionFaults},
		{"concurrency.NewElection, cluster of three", "--backend etcd-election --topology etcd-three --time 14s", false, ensembleFaults},
	}
}

// What libraries are put under besides, or instead, by where they run.
var (
	replicaFaults  = []string{"partition-replication"}
	restartFaults  = []string{"server-restart", "server-kill"}
	sentinelFaults = []string{"none", "failover-kill", "leader-isolate", "partition-client:mode=cut"}
	sessionFaults  = append(LibraryFaults(), "client-kill", "session-expire")
	ensembleFaults = []string{"leader-kill", "leader-isolate", "quorum-loss", "partition-client"}
)

// LibraryFaults are the faults that every variant is put under, where they can work on its
// servers.
func LibraryFaults() []string {
	return []string{
		"none", "client-pause", "client-stall", "partition-client:mode=cut", "partition-client:mode=blackhole",
		"partition-client:mode=blackhole,at=acquired,for=3ttl", "lost-reply", "slow-server", "server-restart",
	}
}

// Libraries are the cases of a variant under a discipline, one for each fault that can work. They
// expect nothing: what they show is written down.
func (v Variant) Libraries(cat *harness.Catalogue, discipline string) (cases []suite.Case) {
	faults := v.Faults
	if faults == nil {
		faults = LibraryFaults()
	}
	for _, fault := range faults {
		cfg := suite.MustLine(v.Flags() + " --nemesis " + fault)
		cfg.Discipline = discipline
		if _, err := harness.Resolve(cat, cfg); err != nil {
			continue
		}
		cases = append(cases, suite.Case{Name: v.Name + "/" + discipline + "/" + fault, Text: v.Name + " under " + fault, Run: cfg, Expect: suite.Expectation{Outcome: suite.Any}})
	}
	return cases
}

// Flags are those of all its runs: 4 s where it does not say how long.
func (v Variant) Flags() string {
	if strings.Contains(v.Line, "--time ") {
		return v.Line
	}
	return v.Line + " --time 4s"
}

// Disciplines are those that the variant is run under.
func (v Variant) Disciplines() []string {
	if v.Plain {
		return []string{history.Told, history.Obey, history.Trusting}
	}
	return []string{history.Told}
}
