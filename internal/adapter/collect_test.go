package adapter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
)

// A collector's pause is proven by two moments within the request and by what the collector says; what is too short, or has no
// proof, is none.
func TestCollect(t *testing.T) {
	for way, c := range map[string]struct {
		length time.Duration
		says   string
		broken bool
	}{
		"collects":          {length: 50 * time.Millisecond, says: "(full collection)"},
		"honest":            {length: 50 * time.Millisecond, says: `answered "collect" with "unsupported"`},
		"collects-before":   {length: 50 * time.Millisecond, says: "before the request", broken: true},
		"collects-silently": {length: 50 * time.Millisecond, says: `needs "from", "to" and "message"`, broken: true},
	} {
		t.Run(way, func(t *testing.T) {
			l, s := opened(t, way)
			proof, err := l.(backends.Collector).Collect(t.Context(), c.length) //nolint:forcetypeassert // it is one
			if (err == nil) != (way == "collects") {
				t.Fatalf("%q, %v", proof, err)
			}
			if err != nil {
				proof = err.Error()
			}
			if !strings.Contains(proof, c.says) || (s.breach() != "") != c.broken {
				t.Errorf("%s; breach: %q", proof, s.breach())
			}
			l.Close() //nolint:errcheck // what is broken says so again
		})
	}
	l, _ := opened(t, "collects")
	if _, err := l.(backends.Collector).Collect(t.Context(), time.Hour); err == nil || //nolint:forcetypeassert // see above
		!strings.Contains(err.Error(), ", not 1h0m0s") {
		t.Errorf("a pause that was too short: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
