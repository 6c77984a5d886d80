//go:build fast

package e2e

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

const ttl1 = "--ttl 1s --clients 3 --time 10s --seed 1"

var cells = []cell{
	{
		name: "lua-pause", args: "--backend redis-lua --nemesis client-pause --workload counter " + ttl1, exit: 1,
		checks: map[string]checker.Verdict{
			"mutual-exclusion": checker.Fail, "lock-linearizability": checker.Pass, "data-plain": checker.Fail,
			"data-fenced": checker.Skipped, "fencing-tokens": checker.Skipped, "ownership": checker.Pass, "liveness": checker.Pass,
		},
		class:  map[string]checker.Class{"mutual-exclusion": checker.Inherent, "data-plain": checker.Inherent},
		atMost: map[string]int64{"first_violation_ns": 3e9, "ready_ns": 1e9},
	},
	{
		name: "fenced-on", args: "--backend redis-fenced --nemesis client-pause --fencing on " + ttl1, exit: 0,
		checks: map[string]checker.Verdict{
			"mutual-exclusion": checker.Fail, "data-plain": checker.Skipped, "data-fenced": checker.Pass, "fencing-tokens": checker.Pass,
		},
		class:   map[string]checker.Class{"mutual-exclusion": checker.Inherent},
		atLeast: map[string]int64{"fence_refused": 1, "violations": 1}, atMost: map[string]int64{"updates_lost_fenced": 0, "fence_refused_valid": 0},
	},
	{
		name: "fenced-off", args: "--backend redis-fenced --nemesis client-pause --fencing off " + ttl1, exit: 1,
		checks: map[string]checker.Verdict{"data-plain": checker.Fail, "data-fenced": checker.Skipped},
	},
	{
		name: "fenced-both", args: "--backend redis-fenced --nemesis client-pause " + ttl1, exit: 1,
		checks:  map[string]checker.Verdict{"data-plain": checker.Fail, "data-fenced": checker.Pass},
		atLeast: map[string]int64{"fence_refused": 1, "updates_lost_plain": 1}, atMost: map[string]int64{"updates_lost_fenced": 0},
	},
	{name: "setnx-kill", args: "--backend redis-setnx --nemesis client-kill --time 4s --seed 2", exit: 1, checks: map[string]checker.Verdict{"liveness": checker.Fail, "mutual-exclusion": checker.Pass}},
	{name: "setnx-expire-kill", args: "--backend redis-setnx-expire --nemesis client-kill --time 4s --seed 2", exit: 1, checks: map[string]checker.Verdict{"liveness": checker.Fail, "mutual-exclusion": checker.Pass}},
	{name: "lua-kill", args: "--backend redis-lua --nemesis client-kill --seed 2", exit: 0, atMost: map[string]int64{"recovery_max_ns": 2e9}},
	{
		name: "del-pause", args: "--backend redis-del --nemesis client-pause --seed 2", exit: 1,
		checks: map[string]checker.Verdict{"ownership": checker.Fail}, class: map[string]checker.Class{"ownership": checker.Defect},
	},
	{
		name: "get-del-pause", args: "--backend redis-get-del --nemesis client-pause:at=between-get-and-del --seed 2", exit: 1,
		checks: map[string]checker.Verdict{"ownership": checker.Fail}, class: map[string]checker.Class{"ownership": checker.Defect},
	},
	{name: "watchdog-stall", args: "--backend redis-watchdog --nemesis client-stall --seed 2", exit: 0},
	{
		name: "watchdog-pause", args: "--backend redis-watchdog --nemesis client-pause --seed 2", exit: 1,
		class: map[string]checker.Class{"mutual-exclusion": checker.Inherent}, checks: map[string]checker.Verdict{"lock-linearizability": checker.Pass, "ownership": checker.Pass},
	},
	{
		name: "restart", args: "--backend redis-lua --nemesis server-restart --ttl 3s --topology redis-single --seed 2", exit: 1,
		checks: map[string]checker.Verdict{"mutual-exclusion": checker.Fail, "lock-linearizability": checker.Fail},
		class:  map[string]checker.Class{"mutual-exclusion": checker.Defect},
	},
	{name: "restart-aof", args: "--backend redis-lua --nemesis server-restart --ttl 3s --topology redis-single-aof --seed 2", exit: 0},
	{name: "hit-nobody", args: "--backend redis-lua --clients 1 --nemesis client-kill:at=waiting --time 3s --seed 2", exit: 2, checks: map[string]checker.Verdict{"coverage": checker.Unknown}},
	{name: "server-pause", args: "--backend redis-lua --nemesis server-pause --time 6s --seed 2", exit: 0},
	{name: "flock-pause", args: "--backend file-flock --nemesis client-pause --time 5s --seed 2", exit: 0},
	{name: "flock-kill", args: "--backend file-flock --nemesis client-kill --time 4s --seed 2", exit: 0},
	{name: "excl-kill", args: "--backend file-excl --nemesis client-kill --time 4s --seed 2", exit: 1, checks: map[string]checker.Verdict{"liveness": checker.Fail}},
	{name: "mutex-workload", args: "--backend redis-lua --workload mutex --nemesis client-pause --time 5s --seed 2", exit: 1, checks: map[string]checker.Verdict{"mutual-exclusion": checker.Fail, "data-plain": checker.Skipped}},
	{name: "two-faults", args: "--backend redis-lua --nemesis client-kill --nemesis server-pause --time 6s --seed 2", exit: 0},
	{name: "two-server-faults", args: "--backend redis-lua --topology redis-single-aof --nemesis server-restart:at=random,every=200ms --nemesis server-restart:at=random,every=230ms --time 4s --seed 1", exit: 0},
	{name: "server-pause-restart", args: "--backend redis-lua --topology redis-single-aof --nemesis server-pause:at=random,every=300ms,for=100ms --nemesis server-restart:at=random,every=170ms --time 4s --seed 1", exit: 0},
	{name: "client-pause-kill", args: "--backend file-flock --nemesis client-pause:at=random,every=500ms,for=450ms --nemesis client-kill:at=random,every=150ms --time 3s --seed 1", exit: 0},
	{name: "kill-while-server-paused", args: "--backend redis-lua --nemesis server-pause:at=random,every=1.6ttl --nemesis client-kill:at=random,every=0.7ttl --time 6s --seed 1", exit: 0},
	{name: "trusting", args: "--backend redis-lua --nemesis client-pause:at=acquired --discipline trusting --time 5s --seed 2", exit: 1, checks: map[string]checker.Verdict{"mutual-exclusion": checker.Fail}},
	{name: "embedded-pause", args: "--backend redis-lua --nemesis client-pause --provider embedded --time 5s --seed 2", exit: 1, class: map[string]checker.Class{"mutual-exclusion": checker.Inherent}},
	{name: "embedded-restart", args: "--backend redis-lua --nemesis server-restart --ttl 3s --provider embedded --time 6s --seed 2", exit: 1, class: map[string]checker.Class{"mutual-exclusion": checker.Defect}},
	{name: "many", args: "--backend redis-lua --nemesis none --clients 20 --locks 4 --time 2s --seed 2", exit: 0},
}

func TestCells(t *testing.T) {
	for _, c := range cells {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
	for seed := 1; seed <= 20; seed++ { // the controls, which every suite contains
		for _, c := range []cell{
			{name: "control-none", args: "--backend none --nemesis none --time 1s", exit: 1},
			{name: "control-flock", args: "--backend file-flock --nemesis none --time 1s", exit: 0},
			{name: "control-lua", args: "--backend redis-lua --nemesis none --time 1s", exit: 0},
		} {
			c.args += fmt.Sprintf(" --seed %d", seed)
			t.Run(fmt.Sprintf("%s-%d", c.name, seed), func(t *testing.T) {
				t.Parallel()
				c.run(t)
			})
		}
	}
}
