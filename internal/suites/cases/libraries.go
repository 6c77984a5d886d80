package cases

import (
	"strings"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/suite"
)

// Variant is a library with options, and the calls that its users make: a row of
// docs/libraries-measured.md, or of docs/adapters-measured.md.
type Variant struct {
	Name        string   // as its users would say it
	Line        string   // flags of `lockstorm run`; for an adapter with its arguments after " -- "
	Disciplines []string // that it is run under
	Faults      []string // what it is put under; none: LibraryFaults
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
		{"redsync", "--backend redsync", everyDiscipline, nil},
		{"redsync, one node", "--backend redsync --topology redis-single", told, nil},
		{"redsync on redigo", "--backend redsync:client=redigo", told, nil},
		{"redsync WithFailFast", "--backend redsync:fail-fast=yes", told, nil},
		{"redsync, Extend in the background", "--backend redsync" + extended, everyDiscipline, nil},
		{"redsync WithSetNXOnExtend, Extend in the background", "--backend redsync:setnx-extend=yes" + extended, told, nil},
		{"redsync WithShufflePools, ValidContext called before each write", "--backend redsync:shuffle=yes --workload counter:ask=yes", told, nil},
		{"redsync, Unlock while Extend is under way", "--backend redsync --workload counter:extend=half,release=extending", told, nil},
		{"redsync, Unlock after the lease has expired", "--backend redsync --workload counter:release=late", told, nil},
		{"redsync, each client reuses one Mutex", "--backend redsync --workload counter:reuse=yes", told, nil},
		{"redislock", "--backend redislock", everyDiscipline, nil},
		{"redislock, Refresh in the background", "--backend redislock" + extended, everyDiscipline, nil},
		{"redislock, TTL called before each write", "--backend redislock --workload counter:ask=yes", told, nil},
		{"redislock, owner values that are prefixes of other owner values", "--backend redislock --workload counter:token=prefix", told, nil},
		{"redislock, one token for all clients", "--backend redislock --workload counter:token=equal", told, nil},
		{"redislock, Release while Refresh is under way, clients cancel some acquires", "--backend redislock --workload counter:extend=half,release=extending,cancel=0.3", told, nil},
		{"nats.go KV", "--backend nats-kv --provider embedded", everyDiscipline, nil},
		{"nats.go KV, Delete while Update is under way", "--backend nats-kv --provider embedded --workload counter:extend=half,release=extending", told, nil},
		{"nats.go KV, Update in the background", "--backend nats-kv --provider embedded" + extended, everyDiscipline, nil},
		{"nats.go KV, cluster of three servers", "--backend nats-kv --provider embedded --topology nats-three --time 30s", told, append([]string{"leader-pause", "leader-move"}, ensembleFaults...)},
		{"redislock, a master and its replica", "--backend redislock --topology redis-replica", told, replicaFaults},
		{"redsync, one node, appendfsync always", "--backend redsync --topology redis-single-aof", told, restartFaults},
		{"redislock, appendfsync always", "--backend redislock --topology redis-single-aof", told, restartFaults},
		{"redislock, Sentinel", "--backend redislock --topology redis-sentinel --time 10s", told, sentinelFaults},
		{"zk.NewLock", "--backend zk-library --time 8s", told, sessionFaults},
		{"zk.NewLock, ensemble of three", "--backend zk-library --topology zk-three --time 14s", told, ensembleFaults},
		{"concurrency.NewMutex", "--backend etcd-mutex --time 8s", told, sessionFaults},
		{"concurrency.NewMutex, cluster of three servers", "--backend etcd-mutex --topology etcd-three --time 14s", told, ensembleFaults},
		{"concurrency.NewElection", "--backend etcd-election --time 8s", told, sessionFaults},
		{"concurrency.NewElection, cluster of three servers", "--backend etcd-election --topology etcd-three --time 14s", told, ensembleFaults},
	}
}

// Disciplines of variants.
var (
	everyDiscipline = []string{history.Told, history.Obey, history.Trusting}
	told            = []string{history.Told}
)

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

// Libraries are the cases of a variant under a discipline, one for each fault that can work.
func (v Variant) Libraries(cat *harness.Catalogue, discipline string) (cases []suite.Case) {
	faults := v.Faults
	if faults == nil {
		faults = LibraryFaults()
	}
	for _, fault := range faults {
		c := v.Case(discipline, fault)
		if _, err := harness.Resolve(cat, c.Run); err != nil {
			continue
		}
		cases = append(cases, c)
	}
	return cases
}

// Cases are all cases of the variant, whether they can work or not: one for each discipline and fault that it names.
func (v Variant) Cases() (cases []suite.Case) {
	for _, d := range v.Disciplines {
		for _, fault := range v.Faults {
			cases = append(cases, v.Case(d, fault))
		}
	}
	return cases
}

// Case is a case of the variant. It expects nothing: what it shows is written down.
func (v Variant) Case(discipline, fault string) suite.Case {
	cfg := suite.MustLine(Variant{Line: v.Flags()}.with("--nemesis " + fault))
	cfg.Discipline = discipline
	return suite.Case{Name: v.Name + "/" + discipline + "/" + fault, Text: v.Name + " under " + fault, Run: cfg, Expect: suite.Expectation{Outcome: suite.Any}}
}

// Flags are those of all its runs: 4 s where it does not say how long.
func (v Variant) Flags() string {
	if strings.Contains(v.Line, "--time ") {
		return v.Line
	}
	return v.with("--time 4s")
}

// with is the line with more flags, before the arguments of an adapter.
func (v Variant) with(flags string) string {
	line, args, found := strings.Cut(v.Line, argumentsOf)
	if found {
		args = argumentsOf + args
	}
	return line + " " + flags + args
}

// argumentsOf divides the flags of a line from the arguments of its adapter.
const argumentsOf = " -- "
