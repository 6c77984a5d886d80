package cachedir

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

const makerOf = "LOCKSTORM_TEST_MAKER" // the cache in which a process of TestBuild makes something for ever

// What a maker that lives is making stays; when it was killed, the next one or Clean removes it, and nothing else.
func TestBuild(t *testing.T) {
	if cache := os.Getenv(makerOf); cache != "" {
		dir, _, err := Build(cache)
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString(dir + "\n") //nolint:errcheck // who reads it is told by its absence
		os.Stdin.Read(make([]byte, 1))    //nolint:errcheck // until it is killed
		return
	}
	base := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", base)
	t.Setenv("TMPDIR", t.TempDir())
	cache := filepath.Join(base, "lockstorm")
	if err := os.MkdirAll(filepath.Join(cache, "postgres-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, again := range []func() error{
		func() error { _, err := Clean(); return err },
		func() error {
			dir, done, err := Build(cache)
			if err == nil && !there(dir) {
				t.Errorf("%s was not made", dir)
			}
			done()
			return err
		},
	} {
		cmd, dir := maker(t, cache)
		if err := again(); err != nil || !there(dir) {
			t.Fatalf("its maker lives, and the folder is gone: %v", err)
		}
		cmd.Process.Kill() //nolint:errcheck // it is there
		cmd.Wait()         //nolint:errcheck // it was killed
		if left, err := Left(); err != nil || !slices.Equal(left, []string{dir}) {
			t.Errorf("left: %v, %v", left, err)
		}
		if err := again(); err != nil {
			t.Fatal(err)
		}
		if all, err := os.ReadDir(cache); err != nil || len(all) != 1 || all[0].Name() != "postgres-1" {
			t.Errorf("the cache has %v, %v", all, err)
		}
	}
}

// maker is a process that has begun to make a folder.
func maker(t *testing.T, cache string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestBuild$")
	cmd.Env = append(os.Environ(), makerOf+"="+cache)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) //nolint:errcheck // it may be gone
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, line[:len(line)-1]
}
