package clockshim

import (
	"context"
	"debug/elf"
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

// It wants no C library of its own, in no version: it is loaded in images that have others than this host.
func TestTheShimTakesAnyCLibrary(t *testing.T) {
	shim, err := Build(context.Background())
	if _, none := Compiler(); none != nil && os.Getenv("CI") == "" {
		return // the other test says what Build says then
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(shim)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("it needs %v (%v)", libraries, err)
	}
	symbols, err := f.ImportedSymbols()
	if err != nil || len(symbols) == 0 {
		t.Errorf("it calls %v (%v)", symbols, err)
	}
	for _, s := range symbols {
		if s.Version != "" {
			t.Errorf("it needs %s of %s", s.Name, s.Version)
		}
	}
}
