package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

const envRecord = "HISTORY_TEST_RECORD" // the folder in which this test binary records until it is killed

// What was recorded is there after SIGKILL, before a tail was moved into the log and after it.
func TestKilledRecorder(t *testing.T) {
	if dir := os.Getenv(envRecord); dir != "" {
		r := openTest(t, dir, "c1", NewClock())
		for {
			if _, err := r.Record(Line{Type: Info, F: FWork, Process: Process{Name: "c1"}}); err != nil {
				t.Fatal(err)
			}
			os.Stdout.WriteString("recorded\n") //nolint:errcheck // its reader kills us
		}
	}
	for _, enough := range []int{1, 10, tailLength / 100, tailLength / 20} {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRecorder$")
		cmd.Env = append(os.Environ(), envRecord+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		n := 0
		for n < enough && lines.Scan() {
			n++
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			n++
		}
		cmd.Wait() //nolint:errcheck // it was killed
		path := filepath.Join(dir, LogDir, "c1.jsonl")
		h, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// f:run comes first, and one event may be there that it had no time to tell of.
		if got := len(h.Events) - 1; got != n && got != n+1 || len(h.Damage) > 0 {
			t.Errorf("%d events were recorded, %d are there; %v, %s", n, got, h.Damage, h.Torn)
		}
	}
}

// However long its lines are, and with a tail or without, the log has them all, and its followers see each at once.
func TestLog(t *testing.T) {
	for _, flat := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "log")
		l, err := createLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if flat {
			if err := l.removeTail(); err != nil {
				t.Fatal(err)
			}
		}
		follower, err := Follow(path)
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		seen := 0
		for i := range 400 {
			line := append(bytes.Repeat([]byte{byte('a' + i%26)}, i*i), '\n')
			all = append(all, line...)
			if err := l.write(line); err != nil {
				t.Fatal(err)
			}
			if i%7 != 0 { // several come at once
				continue
			}
			if err := follower.Poll(func(got []byte) bool { seen += len(got); return false }, nil); err != nil {
				t.Fatal(err)
			}
			if seen != len(all) {
				t.Fatalf("write(2) %t: after line %d its follower has seen %d bytes of %d", flat, i, seen, len(all))
			}
			if got, err := ReadLog(path); err != nil || !bytes.Equal(got, all) {
				t.Fatalf("write(2) %t: after line %d: %d bytes of %d, %v", flat, i, len(got), len(all), err)
			}
		}
		if err := errors.Join(l.close(), follower.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, all) {
			t.Errorf("write(2) %t: %d bytes of %d, %v", flat, len(got), len(all), err)
		}
		if _, err := os.Stat(path + tailSuffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("write(2) %t: the tail is there after the end: %v", flat, err)
		}
	}
}

// A follower that reads while the tail is moved into the log again and again sees every line once, and whole.
func TestFollowerRacesTheTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := createLog(path)
	if err != nil {
		t.Fatal(err)
	}
	follower, err := Follow(path)
	if err != nil {
		t.Fatal(err)
	}
	const lines = 20000
	var wrote atomic.Bool
	go func() {
		defer wrote.Store(true)
		for i := range lines {
			if err := l.write(fmt.Appendf(nil, "%d %s\n", i, strings.Repeat("x", i%300))); err != nil {
				t.Error(err)
			}
		}
	}()
	next := 0
	for last := false; !last; {
		last = wrote.Load()
		err := follower.Poll(func(line []byte) bool {
			if want := fmt.Sprintf("%d %s\n", next, strings.Repeat("x", next%300)); string(line) != want {
				t.Fatalf("line %d is %q", next, line)
			}
			next++
			return false
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	if next != lines {
		t.Errorf("%d lines were seen of %d", next, lines)
	}
	if err := errors.Join(l.close(), follower.Close()); err != nil {
		t.Fatal(err)
	}
}

// A party that is killed at any moment of a move leaves every line that it recorded: before the log has the tail, when the log
// has a part of it, and when it has all of it but the tail does not say so yet.
func TestKilledWhileItMoves(t *testing.T) {
	before, rest := []byte("a\nbb\n"), []byte("ccc\ndddd\n")
	for moved := range len(rest) + 1 {
		path := filepath.Join(t.TempDir(), "log")
		l, err := createLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.write(before), l.drain(), l.write(rest)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.file.WriteAt(rest[:moved], l.base); err != nil {
			t.Fatal(err)
		}
		want := string(before) + string(rest)
		if got, err := ReadLog(path); err != nil || string(got) != want {
			t.Errorf("%d bytes moved: %q, %v", moved, got, err)
		}
		for range 2 { // a second time nothing is left to do
			if err := Settle(path); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%d bytes moved: settled %q, %v", moved, got, err)
			}
		}
		l.file.Close() //nolint:errcheck // it was killed
	}
}

// A tail that cannot be one is an error, and one that was not finished has nothing.
func TestTailOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for text, bad := range map[string]bool{"": false, "1234567": false, strings.Repeat("\x01", 30): true} {
		if err := os.WriteFile(path+tailSuffix, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, rest, err := tailOf(path); len(rest) > 0 || (err != nil) != bad {
			t.Errorf("%q: %q, %v", text, rest, err)
		}
	}
}
