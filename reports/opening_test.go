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
