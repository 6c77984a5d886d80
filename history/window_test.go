package history

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const envRecord = "HISTORY_TEST_RECORD" // the folder in which this test binary records until it is killed

// What was recorded is there after SIGKILL, in every length of the window, and what is behind it is no damage.
func TestKilledRecorder(t *testing.T) {
	if dir := os.Getenv(envRecord); dir != "" {
		r := openTest(t, dir, "c1", NewClock())
		for {
			if _, err := r.Record(Event{Type: Info, F: FWork, Process: Process{Name: "c1"}}); err != nil {
				t.Fatal(err)
			}
			os.Stdout.WriteString("recorded\n") //nolint:errcheck // its reader kills us
		}
	}
	for _, enough := range []int{1, 10, firstWindow / 50, lastWindow / 20} {
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
		if err := Trim(path); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || bytes.IndexByte(text, 0) >= 0 {
			t.Errorf("zero bytes are left: %v", err)
		}
		// f:run comes first, and one event may be there that it had no time to tell of.
		if got := len(h.Events) - 1; got != n && got != n+1 || len(h.Damage) > 0 {
			t.Errorf("%d events were recorded, %d are there; %v, %s", n, got, h.Damage, h.Torn)
		}
	}
}

// Both ways to write leave the same file.
func TestWindow(t *testing.T) {
	var all []byte
	for i := range 3000 {
		all = append(append(all, bytes.Repeat([]byte{byte('a' + i%26)}, i)...), '\n')
	}
	for _, flat := range []bool{false, true} {
		f, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		w := &window{file: f, flat: flat}
		for line := range bytes.Lines(all) {
			if err := w.write(line); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, all) {
			t.Errorf("write(2) %t: %d bytes of %d, %v", flat, len(got), len(all), err)
		}
	}
}

// The end of a file is found behind any number of zero bytes.
func TestWritten(t *testing.T) {
	for _, n := range []int{0, 1, firstWindow - 1, firstWindow, firstWindow + 1, 3 * firstWindow} {
		for _, text := range []string{"", "a", strings.Repeat("a\x00b", firstWindow)} {
			all := text + strings.Repeat("\x00", n)
			if got, err := written(strings.NewReader(all), int64(len(all))); err != nil || got != int64(len(text)) {
				t.Errorf("%d bytes and %d zeros: %d, %v", len(text), n, got, err)
			}
		}
	}
	if _, err := written(io.NewSectionReader(failing{}, 0, 10), 10); err == nil {
		t.Error("a file that cannot be read has an end")
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, os.ErrInvalid }
