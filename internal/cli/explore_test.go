package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// A search that cannot be made is refused before its first run, and its directory is not made; internal/tests/e2e searches.
func TestExploreUsage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ args, want string }{
		{"", "--backend is missing"},
		{"--backend redis-lua --ttl 0s", "a lease needs a time to live"},
		{"--backend redis-lua --provider host", `--provider "host": choose one of`},
		{"--backend redis-lua --provider external", "--servers"},
		{"--backend redis-lua --provider process --servers redis-1=127.0.0.1:6379", "--servers needs --provider external, not process"},
		{"--backend redis-sentinel --provider embedded", "no embedded server for redis-1"},
		{"--backend redis-lua --provider embedded --only clock-jump", "no fault that can be injected into runs of redis-lua"},
		{"--backend redis-lua --register nowhere", `nowhere`},
	} {
		dir := filepath.Join(t.TempDir(), "search")
		code, out, errs := lockstorm(t, append([]string{"explore", "--for", "1s", "--out", dir}, strings.Fields(tc.args)...)...)
		if code != 3 && code != 4 || !strings.Contains(out+errs, tc.want) {
			t.Errorf("explore %s: exit %d, want %q in\n%s%s", tc.args, code, tc.want, out, errs)
		}
		if left, err := filepath.Glob(dir); err != nil || len(left) > 0 {
			t.Errorf("explore %s: left %v, %v", tc.args, left, err)
		}
	}
}
