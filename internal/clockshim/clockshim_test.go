package clockshim

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A program that asks the C library for the time sees the jump; the host does not.
func TestAProgramSeesTheJump(t *testing.T) {
	shim, err := Build(context.Background())
	if _, none := Compiler(); none != nil && os.Getenv("CI") == "" {
		// Without a compiler there is nothing but a refusal that says what to install.
		if err == nil || err.Error() != none.Error() {
			t.Errorf("Build without a compiler: %v, want %v", err, none)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	clock, err := New(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	for _, jump := range []time.Duration{0, time.Hour, -3 * time.Hour} {
		offset, err := clock.Jump(jump)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("date", "+%s")
		cmd.Env = append(os.Environ(), clock.Env(shim)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		seen, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		want := time.Now().Add(offset)
		if d := want.Sub(time.Unix(seen, 0)); d < -time.Minute || d > time.Minute {
			t.Errorf("after a jump of %v the program is at %v, want %v", jump, time.Unix(seen, 0), want)
		}
	}
}
