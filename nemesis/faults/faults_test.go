package faults

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Every fault has a file and a test of its own.
func TestEveryFaultHasATest(t *testing.T) {
	for _, s := range Specs() {
		if s.Fault == nil {
			continue
		}
		file := strings.ReplaceAll(s.Name, "-", "_")
		text, err := os.ReadFile(file + "_test.go")
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if !strings.Contains(string(text), s.Name) {
			t.Errorf("%s_test.go never asks for %s", file, s.Name)
		}
	}
}

// A plan with a fault of each family is carried out against real parts by the runner: each is
// injected, proven, healed, and on record.
func TestThePlanIsCarriedOut(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 3)
	l.work()
	in := input("client-pause:clients=c1,at=random,every=20s,for=50ms", "server-kill:nodes=store-1,every=20s,for=50ms,at=acquired",
		"partition-client:clients=c3,at=random,every=20s,for=50ms", "delete-key:at=acquired,nodes=store-2,every=20s",
		"client-kill:clients=c2,at=random,every=20s", "flap:clients=c3,at=random,every=20s,for=50ms")
	in.TTL, in.Nodes, in.Setting = labTTL, []string{"store-1", "store-2"}, wide().Setting
	in.Setting.Data = 2
	p, err := nemesis.NewPlan(all(), in)
	l.check(err)
	path := filepath.Join(t.TempDir(), "nemesis.jsonl")
	rec, err := history.Open(path, history.PartyNemesis, l.clock, history.Run{})
	l.check(err)
	setting, stop := context.WithCancel(l.ctx)
	l.workers.Go(func() { // a key to delete: workers prefer the other store
		for nemesis.Wait(setting, time.Millisecond) {
			l.store(2).Set(setting, labLock, "x") //nolint:errcheck // it may be there
		}
	})
	defer stop()
	l.check((&nemesis.Runner{Plan: p, Faults: all(), World: l, Rec: rec, Start: l.Now()}).Run(l.ctx))
	l.check(rec.Close())
	h, err := history.ReadFile(path)
	l.check(err)
	seen := map[string][]string{}
	for _, e := range h.Events {
		var f history.Fault
		if e.F() != history.FFault && e.F() != history.FHeal {
			continue
		}
		l.check(e.Value().Into(&f))
		seen[f.Fault] = append(seen[f.Fault], string(e.Type())+" "+e.F())
		if e.Type() == history.Fail {
			t.Errorf("%s: %s", f.Fault, e.Message())
		}
		if e.Type() == history.OK && e.F() == history.FFault && f.Proof == "" {
			t.Errorf("%s has no proof", f.Fault)
		}
	}
	for _, q := range p.Requests {
		want := []string{"invoke fault", "ok fault", "invoke heal", "ok heal"}
		if q.Fault == "delete-key" || q.Fault == "client-kill" {
			want = want[:2]
		}
		if !slices.Equal(seen[q.Fault], want) {
			t.Errorf("%s: on record is %v, want %v", q.Fault, seen[q.Fault], want)
		}
	}
}
