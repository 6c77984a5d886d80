package faults

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// set sets a key, or says why not.
func (l *lab) set(i int, key string) error { return l.store(i).Set(l.ctx, key, "c1") }

// The key goes by the policy, and nobody can set one until the heal.
func TestEvict(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 0)
	for i := range 2 {
		l.check(l.set(i+1, labLock))
	}
	e := l.must("evict:policy=oldest", on(l.node(1), l.node(2)))
	if e.Proof != "store-1 evicted lock-0 (policy oldest); store-2 evicted lock-0 (policy oldest)" {
		t.Errorf("proof %q", e.Proof)
	}
	for i := range 2 {
		if l.has(i+1, labLock) || l.set(i+1, labLock) == nil {
			t.Error("the key is still there, or there is room")
		}
	}
	if text := l.heal(e); text != "store-1 has free memory again; store-2 has free memory again" {
		t.Errorf("healed: %q", text)
	}
	for i := range 2 {
		l.check(l.set(i+1, labLock))
	}
}

// slippery loses its keys by itself a few times before it evicts one.
type slippery struct {
	clustertest.Store
	tries *int
}

func (s slippery) Evict(ctx context.Context, policy string, keys []string) (string, error) {
	if *s.tries++; *s.tries < 3 {
		return "", cluster.ErrNotEvicted
	}
	return s.Store.Evict(ctx, policy, keys)
}

// Keys that go by themselves prove nothing: it is tried again.
func TestEvictTriesAgain(t *testing.T) {
	l := newLab(t, clustertest.Single(), 0)
	l.check(l.set(1, labLock))
	tries := 0
	e, err := injectEvict(l.ctx, l, on(evictedBy{l.node(1), slippery{l.store(1), &tries}}))
	l.check(err)
	if tries != 3 {
		t.Errorf("%d tries", tries)
	}
	l.heal(e)
	l.check(l.set(1, labLock))
}

// What is in the way is said, and the servers that were filled have room again.
func TestEvictInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(1, 1), 0)
	l.givesUp("evict", on(l.node(1)), "none of the lock's keys (lock-0) existed long enough for an eviction, so the server "+
		"evicted no key of the lock")
	l.check(l.set(1, labLock))
	e, err := l.inject("evict", on(l.node(1), l.node(2)))
	l.fails(e, err, "node supervisor-1 never evicts keys")
	l.check(l.set(1, labLock))
	e, err = l.inject("evict", on(evictedBy{l.node(1), keyless{l.store(1)}}))
	l.fails(e, err, "store-1: the server stores no keys")
}

// A server that cannot make room does not keep the others from it.
func TestEvictHealsWhatItCan(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 0)
	for i := range 2 {
		l.check(l.set(i+1, labLock))
	}
	e := l.must("evict", on(l.node(1), l.node(2)))
	l.check(l.node(1).Kill(l.ctx))
	if _, err := e.Heal(l.ctx); err == nil {
		t.Error("a dead server has room")
	} else {
		l.says(err.Error(), "store-1: ")
	}
	l.check(l.set(2, labLock))
}

func TestEvictPlans(t *testing.T) {
	cannot(t, evict().Fault, map[string]func(*nemesis.Setting){
		withoutServer: noServer, withoutStore: noStore, withoutKeys: noKeys,
		"this fault needs servers that evict keys, but the servers of topology t never evict keys": func(s *nemesis.Setting) {
			s.Policies = nil
		},
		"the embedded server never evicts keys: this fault needs a real server " +
			"(--provider process or container)": func(s *nemesis.Setting) {
			s.RealOnly = false
		},
	})
	planned(t, map[string]string{
		"evict": "", "evict:policy=oldest,nodes=all": "", "evict:policy=newest": "policy=newest: choose one of oldest",
	})
}

// evictedBy is a node whose store is another one.
type evictedBy struct {
	labNode
	admin any
}

func (n evictedBy) Admin() any { return n.admin }

// keyless evicts, and does not say what it has.
type keyless struct{ store clustertest.Store }

func (k keyless) Evict(ctx context.Context, policy string, keys []string) (string, error) {
	return k.store.Evict(ctx, policy, keys)
}

func (k keyless) MakeRoom(ctx context.Context) error { return k.store.MakeRoom(ctx) }
