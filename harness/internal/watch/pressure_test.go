package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// The kernel's totals are read as they are; what is not there, or is written otherwise, is not known.
func TestWaited(t *testing.T) {
	write := func(dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if _, ok := waited(dir); ok {
		t.Error("read from nothing")
	}
	write(dir, "cpu", "some avg10=0.01 avg60=8.34 avg300=43.01 total=4104682135\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")
	write(dir, "io", "some avg10=0.00 avg60=0.49 avg300=2.63 total=3\nfull avg10=0.00 avg60=0.03 avg300=0.32 total=2\n")
	if p, ok := waited(dir); !ok || p != (history.Pressure{
		CPU: 4104682135 * int64(time.Microsecond),
		IO:  3 * int64(time.Microsecond),
	}) {
		t.Errorf("%+v %v", p, ok)
	}
	write(dir, "io", "none\n")
	if p, ok := waited(dir); ok {
		t.Errorf("%+v", p)
	}
}

// The thread that waited longest counts, also one that is new.
func TestLongest(t *testing.T) {
	got := longest(map[int]time.Duration{1: 5, 2: 7, 9: 90}, map[int]time.Duration{1: 6, 2: 10, 3: 2})
	if got != 3 {
		t.Errorf("%v", got)
	}
}
