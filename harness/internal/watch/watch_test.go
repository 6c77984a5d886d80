package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proc"
)

const envLog = "LOCKSTORM_TEST_STALLS"

const stallsAt = 20 * time.Millisecond

// TestMain lets this binary start itself as a client that watches for stalls until its standard input ends.
func TestMain(m *testing.M) {
	path := os.Getenv(envLog)
	if path == "" {
		os.Exit(m.Run())
	}
	rec, err := history.Open(path, "c7", history.NewClock(),
		history.Run{Schema: history.Schema, StallLimit: time.Hour.Nanoseconds()})
	if err != nil {
		panic(err)
	}
	stop := Stalls(rec, stallsAt)
	fmt.Println("watching")
	io.Copy(io.Discard, os.Stdin) //nolint:errcheck // it ends, however
	if err := errors.Join(stop(), rec.Close()); err != nil {
		panic(err)
	}
}

// recorder is a log in a file, and what reads its events so far, without the first.
func recorder(t *testing.T) (*history.Recorder, func() []history.Line) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c1.jsonl")
	rec, err := history.Open(path, "c1", history.NewClock(),
		history.Run{Schema: history.Schema, StallLimit: time.Hour.Nanoseconds()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() }) //nolint:errcheck // some tests have closed it
	return rec, func() []history.Line { return events(t, path) }
}

func events(t *testing.T, path string) (out []history.Line) {
	t.Helper()
	f, err := history.Follow(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	if err := f.Poll(nil, func(e *history.Line) { out = append(out, *e) }); err != nil {
		t.Fatal(err)
	}
	return out[1:]
}

// The last look is when the watch ends; an error ends it earlier, and is told.
func TestEvery(t *testing.T) {
	looks := 0
	if err := every(time.Hour, func() error { looks++; return nil })(); err != nil || looks != 1 {
		t.Errorf("%d looks, %v", looks, err)
	}
	broken, looked := errors.New("broken"), make(chan struct{}, 100)
	stop := every(time.Microsecond, func() error { looked <- struct{}{}; return broken })
	<-looked
	if err := stop(); !errors.Is(err, broken) {
		t.Errorf("it ends with %v", err)
	}
	if len(looked) > 0 {
		t.Errorf("%d looks after an error", len(looked))
	}
}

// A client that stood still has its stall on record, as long as it was, under its name; one that was not held up has none of that
// length.
func TestAStalledClient(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c7.jsonl")
	s := proc.NewStarter()
	defer s.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envLog+"="+path)
	in, inErr := cmd.StdinPipe()
	said, saidErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, saidErr); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	p, err := s.Start("c7", cmd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := said.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := p.Pause(ctx); err != nil {
		t.Fatal(err)
	}
	stands := time.Now()
	<-time.After(15 * stallsAt) // what is measured
	least := time.Since(stands) - 2*stallsAt
	if _, err := p.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(in.Close(), p.Wait(ctx)); err != nil {
		t.Fatal(err)
	}
	most := time.Since(begun)
	var longest, all time.Duration
	for _, e := range events(t, path) {
		var stall history.Stall
		if e.F != history.FStall || e.Client != "c7" || e.Value.Into(&stall) != nil {
			t.Fatalf("on record: %+v", e)
		}
		longest, all = max(longest, time.Duration(stall.Late)), all+time.Duration(stall.Late)
	}
	if longest < least || all > most {
		t.Errorf("the longest stall is %v, want %v; all are %v in %v", longest, least, all, most)
	}
}

// A step of the wall clock is on record once, forward or back; what is too small for one adds up.
func TestSteps(t *testing.T) {
	rec, read := recorder(t)
	offset := int64(1_000_000)
	look := steps(rec, func() int64 { return offset })
	for _, by := range []int64{0, clockStep - 1, 0, 1, 0, -3 * clockStep, 0, -clockStep + 1, clockStep - 1} {
		if offset += by; look() != nil {
			t.Fatal("not recorded")
		}
	}
	var got []int64
	for _, e := range read() {
		var step history.ClockStep
		if e.F != history.FClock || e.Value.Into(&step) != nil {
			t.Fatalf("on record: %+v", e)
		}
		got = append(got, step.Step)
	}
	if want := []int64{clockStep, -3 * clockStep}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("steps %v, want %v", got, want)
	}
}

// Pressure is what was added since the last look; half of the time is much, less is not, and what cannot be read is none. What
// servers waited for is known from the second look in a row on that sees much.
func TestPressed(t *testing.T) {
	dir := t.TempDir()
	set := func(cpu, io int64) {
		for name, us := range map[string]int64{"cpu": cpu, "io": io} {
			if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "some avg10=0.00 total=%d\n", us), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	rec, read := recorder(t)
	own := func() []int { return []int{os.Getpid()} }
	if _, ok := pressed(rec, dir, own); ok {
		t.Fatal("the kernel counts nothing, and is asked")
	}
	const hour = int64(time.Hour / time.Microsecond)
	set(hour, hour)
	look, ok := pressed(rec, dir, own)
	for _, now := range [][2]int64{{hour, hour}, {3 * hour, hour}, {3 * hour, hour}, {3 * hour, 2 * hour}, {3 * hour, 4 * hour}} {
		if set(now[0], now[1]); !ok || look() != nil {
			t.Fatal("not recorded")
		}
	}
	if err := os.Remove(filepath.Join(dir, "io")); err != nil || look() != nil {
		t.Fatal("what cannot be read is told")
	}
	var got []string
	for _, e := range read() {
		var p history.Pressure
		if e.F != history.FPressure || e.Value.Into(&p) != nil || p.Span <= 0 {
			t.Fatalf("on record: %+v", e)
		}
		got = append(got, fmt.Sprintf("cpu %v io %v servers %v", time.Duration(p.CPU), time.Duration(p.IO), p.Servers != nil))
	}
	if want := "[cpu 2h0m0s io 0s servers false cpu 0s io 1h0m0s servers false cpu 0s io 2h0m0s servers true]"; fmt.Sprint(
		got) != want {
		t.Errorf("on record: %v, want %s", got, want)
	}
}

// A log that cannot be written ends what watches for it.
func TestAWatchWithoutALog(t *testing.T) {
	rec, _ := recorder(t)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	offset := int64(0)
	look := steps(rec, func() int64 { offset += clockStep; return offset })
	if err := look(); !errors.Is(err, history.ErrRecorderClosed) {
		t.Errorf("it goes on: %v", err)
	}
}
