package adapter_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/adapter"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// BenchmarkPython is a request and its answer, of the null adapter in Python.
func BenchmarkPython(b *testing.B) {
	c := catalog.New[backends.Spec]("backend")
	c.AddUnlisted(adapter.Spec())
	spec, _, err := backends.Choose(c, "exec:cmd=../../adapters/python/null.py")
	if err != nil {
		b.Fatal(err)
	}
	clock := history.NewClock()
	l, err := spec.Open(b.Context(), backends.Env{
		Dir: b.TempDir(), TTL: time.Second, Timeout: time.Second, Now: clock.Now,
		ClockBase: clock.Base(), Rand: rand.New(rand.NewPCG(1, 2)),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // what is measured is over
	req := backends.Request{Lock: "L1", Owner: "o", TTL: time.Second}
	for b.Loop() {
		if _, err := l.TryAcquire(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
