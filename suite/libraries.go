package suite

import (
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
)

// Variant is a library with options, and the calls that its users make: a row of
// docs/libraries-measured.md.
type Variant struct {
	Name  string // as its users would say it
	Line  string // flags of `lockstorm run`
	Plain bool   // it is run under every discipline; else under that of its library alone
}

// The sections of a user whose work takes longer than the lease, who has it extended.
const longSections = " --workload counter:hold=1.5ttl,extend=background"

// Variants are the libraries of the catalogue as their READMEs show them, with the options that
// these name.
func Variants() []Variant {
	return []Variant{
		{"redsync", "--backend redsync", true},
		{"redsync, one node", "--backend redsync --topology redis-single", false},
		{"redsync on redigo", "--backend redsync:client=redigo", false},
		{"redsync WithFailFast", "--backend redsync:fail-fast=yes", false},
		{"redsync, Extend in the background", "--backend redsync" + longSections, true},
		{"redsync WithSetNXOnExtend, Extend in the background", "--backend redsync:setnx-extend=yes" + longSections, false},
		{"redsync WithShufflePools, ValidContext asked", "--backend redsync:shuffle=yes --workload counter:ask=yes", false},
		{"redsync, Unlock while Extend is under way", "--backend redsync --workload counter:extend=half,release=extending", false},
		{"redsync, Unlock when it is over", "--backend redsync --workload counter:release=late", false},
		{"redsync, one Mutex used again", "--backend redsync --workload counter:reuse=yes", false},
		{"redislock", "--backend redislock", true},
		{"redislock, Refresh in the background", "--backend redislock" + longSections, true},
		{"redislock, TTL asked before each write", "--backend redislock --workload counter:ask=yes", false},
		{"redislock, tokens that begin alike", "--backend redislock --workload counter:token=prefix", false},
		{"redislock, one token for all", "--backend redislock --workload counter:token=equal", false},
		{"redislock, Release while Refresh is under way, waits cancelled", "--backend redislock --workload counter:extend=half,release=extending,cancel=0.3", false},
		{"rueidislock", "--backend rueidislock", true},
		{"rueidislock FallbackSETPX", "--backend rueidislock:setpx=yes --workload counter:hold=1.5ttl", false},
		{"rueidislock, KeyMajority 1, two locks, waits cancelled", "--backend rueidislock:majority=1 --workload counter:hold=1.5ttl,pair=yes,cancel=0.3 --locks 2", false},
		{"rueidislock, sections longer than the lease", "--backend rueidislock --workload counter:hold=1.5ttl", true},
		{"rueidislock NoLoopTracking", "--backend rueidislock:no-loop-tracking=yes --workload counter:hold=1.5ttl", false},
		{"rueidislock DisableCache", "--backend rueidislock:disable-cache=yes", false},
		{"rueidislock DisableRetry", "--backend rueidislock:retry=no --workload counter:hold=1.5ttl", false},
		{"nats.go KV", "--backend nats-kv", true},
		{"nats.go KV, Delete while Update is under way", "--backend nats-kv --workload counter:extend=half,release=extending", false},
		{"nats.go KV, Update in the background", "--backend nats-kv" + longSections, true},
	}
}

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
func (v Variant) Libraries(cat *harness.Catalogue, discipline string) (cases []Case) {
	for _, fault := range LibraryFaults() {
		cfg := MustLine(v.Line + " --time 4s --nemesis " + fault)
		cfg.Discipline = discipline
		if _, err := harness.Resolve(cat, cfg); err != nil {
			continue
		}
		cases = append(cases, Case{Name: v.Name + "/" + discipline + "/" + fault, Text: v.Name + " under " + fault, Run: cfg, Expect: Expectation{Outcome: Any}})
	}
	return cases
}

// Disciplines are those that the variant is run under.
func (v Variant) Disciplines() []string {
	if v.Plain {
		return []string{history.Told, history.Obey, history.Trusting}
	}
	return []string{history.Told}
}
