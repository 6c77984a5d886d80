package reports

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
)

// What was tested names the server as the server names itself.
func TestTestedNamesTheServer(t *testing.T) {
	for text, want := range map[string]string{
		"Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0": "redis-lua on Redis server 7.0.15",
		"Apache ZooKeeper, version 3.8.0 2024-12-29 17:54 UTC":       "redis-lua on Apache ZooKeeper 3.8.0",
		"etcd Version: 3.4.23":                                                    "redis-lua on etcd 3.4.23",
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)":                    "redis-lua on postgres (PostgreSQL) 15.18",
		"/usr/sbin/mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu": "redis-lua on mariadbd 10.11.19",
		"nats-server: v2.9.10":                                                    "redis-lua on nats-server 2.9.10",
		"nats-server 2.15.2, embedded":                                            "redis-lua on nats-server 2.15.2",
		"unknown":                                                                 "redis-lua",
	} {
		r := &checker.Results{Backend: "redis-lua", Versions: map[string]string{"lockstorm": "1.2.3", "java": text}}
		if got := tested(r)[0]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// All servers are named, an adapter by its library; what runs the adapter is no server.
func TestTestedNamesAllServers(t *testing.T) {
	for want, versions := range map[string]map[string]string{
		"kazoo_lock.py 1 (kazoo 2.10.0) on Apache ZooKeeper 3.8.0": {
			"adapter": "kazoo_lock.py 1", "library": "kazoo 2.10.0", "kazoo": "2.10.0", "python": "3.11.2",
			"java": "Apache ZooKeeper, version 3.8.0 2024-12-29 17:54 UTC",
		},
		"redis-lua on Redis server 7.0.15 and etcd 3.4.23": {
			"a": "Redis server v=7.0.15 sha=0", "b": "Redis server v=7.0.15 sha=0", "etcd": "etcd Version: 3.4.23", "go": "go1.26.8",
		},
		"redis-lua on redis 7.0.15": {"redis": "7.0.15", "image redis": "redis:7.0.15"},
	} {
		if got := tested(&checker.Results{Backend: "redis-lua", Versions: versions})[0]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Only a lease that ran out was slept through, and only who wrote is said to have wiped something out.
func TestHeadlinesClaimNoMore(t *testing.T) {
	r, rec := judged(t, "paused")
	all, _ := happened(r, rec)
	f := all[0].first()
	if end := damageOf(r, rec, f, "c10 got the lock while c1 held it", "c1", ""); !strings.HasPrefix(end, ": ") {
		t.Errorf("c10 is blamed for what c1 wrote:%s", end)
	}
	f.Class = checker.Defect
	if head := headlineOfPage(r, rec, all[0]); strings.Contains(head, "lease") {
		t.Errorf("of a lock whose lease was not over: %q", head)
	}
}

// A finding that cannot fail a run does not head one that is inconclusive for another reason; one that could have failed it does.
func TestInconclusiveIsHeadedByItsReason(t *testing.T) {
	for gating, want := range map[bool]string{false: "No verdict: nobody was hit.", true: "clients could not get lock L1 again"} {
		r, rec := judged(t, "paused")
		r.Verdict, r.Stats["violations"] = checker.Unknown, 0
		r.Checks = map[string]checker.Result{
			checker.Coverage: {Verdict: checker.Unknown, Required: true, Code: checker.CodeNotHit, Reason: "nobody was hit"},
			checker.Liveness: {Verdict: checker.Pass, Findings: []checker.Finding{{
				Rule: "orphan", Message: "lock L1 was unavailable", Gating: gating, Doubtful: true, From: 1, To: 2,
			}}},
		}
		all, _ := happened(r, rec)
		if got := screenOf(r, rec, all[0], Context{}).Verdict; !strings.Contains(got, want) {
			t.Errorf("gating %v: %q, want %q", gating, got, want)
		}
	}
}

// A finding that is shown though it does not count has its own reason beside it, whatever else is unknown of the run.
func TestADoubtfulFindingTellsItsReason(t *testing.T) {
	r, rec := judged(t, "paused")
	exclusion := r.Checks[checker.MutualExclusion]
	exclusion.Verdict, exclusion.Code, exclusion.Reason = checker.Unknown, checker.CodeDoubtful, "the host stood still"
	r.Verdict, r.Checks = checker.Unknown, map[string]checker.Result{
		checker.Coverage:        {Verdict: checker.Unknown, Required: true, Code: checker.CodeNotHit, Reason: "nobody was hit"},
		checker.MutualExclusion: exclusion,
	}
	all, _ := happened(r, rec)
	got := screenOf(r, rec, all[0], Context{})
	if !strings.Contains(got.Kind, "the host stood still") || !strings.Contains(got.Cure, "less load") {
		t.Errorf("%q, %q", got.Kind, got.Cure)
	}
}

// It is the first holder's loss that its library told late, or never, and not that of somebody else.
func TestWhoIsToldLate(t *testing.T) {
	h := &happening{steps: []Step{
		{At: 1, Party: "c3", Kind: StepLeaseOver},
		{At: 3, Party: "c2", Kind: StepLeaseOver},
		{At: 9, Party: "c2", Kind: StepTold},
	}}
	if late, known := toldLate(h); known {
		t.Errorf("c3 was told after %d, but it never was", late)
	}
	h.steps = append(h.steps, Step{At: 12, Party: "c3", Kind: StepTold})
	if late, known := toldLate(h); !known || late != 11 {
		t.Errorf("told after %d (%v), want 11", late, known)
	}
}
