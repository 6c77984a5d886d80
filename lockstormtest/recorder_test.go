package lockstormtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// recorder takes the place of a test that is to fail: it notes what is said.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	said   []string
	failed bool
}

func (r *recorder) Helper() {}

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *recorder) Errorf(format string, args ...any) {
	r.Logf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// observed runs f with a recorder in the place of the test, and returns what became of it.
func observed(t *testing.T, f func(tb testing.TB)) (failed bool, said string) {
	t.Helper()
	r := &recorder{TB: t}
	var wg sync.WaitGroup
	wg.Go(func() { f(r) })
	wg.Wait()
	return r.failed, strings.Join(r.said, "\n")
}

// fails wants f to fail its test and to say all of this; it returns what was said.
func fails(t *testing.T, f func(tb testing.TB), want ...string) string {
	t.Helper()
	failed, said := observed(t, f)
	if !failed {
		t.Fatalf("it passed; said %q", said)
	}
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("nothing of %q in:\n%s", w, said)
		}
	}
	return said
}
