package conform_test

import (
	"cmp"
	"io"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/adapter/adaptertest"
	"github.com/lockstorm/lockstorm/internal/adapter/conform"
)

// TestMain lets this binary start itself as an adapter.
func TestMain(m *testing.M) {
	adaptertest.Main()
	os.Exit(m.Run())
}

func check(t *testing.T, way string, seed uint64) []conform.Result {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return conform.Check(t.Context(), conform.Target{
		Argv: []string{self, adaptertest.AsAdapter + way}, Dir: t.TempDir(),
		TTL: 10 * time.Second, Seed: seed, Log: io.Discard,
	})
}

func TestHonestAdapter(t *testing.T) {
	t.Parallel()
	for _, way := range []string{adaptertest.Honest, adaptertest.Hesitant} {
		for _, r := range check(t, way, 1) {
			if r.Broken != "" || r.NotTried != "" {
				t.Errorf("%s: %+v", way, r)
			}
		}
	}
}

// Lies that are told in the words of the protocol: who hears them takes them for mistakes of the lock.
var ofLock = []string{"early", "releases-twice", "releases-all"}

// After a broken rule those are checked that do not need it.
func TestChecksGoOn(t *testing.T) {
	t.Parallel()
	for way, want := range map[string]int{"early": 3, "dies": 0, "releases-twice": 0, "clock": 14} {
		all := check(t, way, 1)
		left := 0
		for _, r := range all {
			if r.NotTried != "" {
				left++
			}
		}
		if left != want {
			t.Errorf("%s: %d not tried, want %d: %+v", way, left, want, all)
		}
	}
}

// Every lie is found, each time (CONFORM_SEEDS=10).
func TestLies(t *testing.T) {
	t.Parallel()
	seeds, err := strconv.ParseUint(cmp.Or(os.Getenv("CONFORM_SEEDS"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range adaptertest.Lies() {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				all := check(t, way, seed)
				if adapter, lock, _, _ := conform.Count(all); adapter+lock == 0 || lock > 0 != slices.Contains(ofLock, way) {
					t.Fatalf("seed %d: %+v", seed, all)
				}
			}
		})
	}
}
