package history

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func openTest(t testing.TB, dir, party string, clock Clock) *Recorder {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, LogDir), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := Open(filepath.Join(dir, LogDir, party+".jsonl"), party, clock, Run{Schema: Schema})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Concurrent writers of one party get times and numbers that grow together.
func TestRecorderOrdersItsEvents(t *testing.T) {
	dir := t.TempDir()
	r := openTest(t, dir, "c1", NewClock())
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for range 200 {
				if _, err := r.Record(Line{Process: Process{N: int64(g)}, Type: Invoke, F: FWork}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := r.Finish(End{}); err != nil {
		t.Fatal(err)
	}
	h, err := ReadFile(filepath.Join(dir, LogDir, "c1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Events) != 802 || h.Events[0].F() != FRun || h.Events[801].F() != FEnd {
		t.Fatalf("%d events, first %s, last %s", len(h.Events), h.Events[0].F(), h.Events[len(h.Events)-1].F())
	}
	for i, e := range h.Events {
		if e.Seq != int64(i) || (i > 0 && e.Time < h.Events[i-1].Time) {
			t.Fatalf("event %d has seq %d, time %d", i, e.Seq, e.Time)
		}
	}
}

// A party that cannot write is told, and told again: it must stop acting. What was recorded before is there.
func TestRecorderFailsForGood(t *testing.T) {
	dir := t.TempDir()
	r := openTest(t, dir, "c1", NewClock())
	if err := r.log.file.Close(); err != nil {
		t.Fatal(err)
	}
	var first error
	n := 0
	for ; n < tailLength; n++ { // an event has more than a byte
		if _, first = r.Record(Line{Type: Invoke, F: FWork, Process: Process{N: 1}}); first != nil {
			break
		}
	}
	_, second := r.Record(Line{Type: Invoke, F: FWork})
	if first == nil || !errors.Is(second, first) {
		t.Fatalf("first %v, then %v", first, second)
	}
	if err := r.Close(); err == nil {
		t.Error("it was closed as if the disk had taken all")
	}
	h, err := ReadFile(filepath.Join(dir, LogDir, "c1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(h.Events) - 1; got != n || h.Torn != "" || len(h.Damage) > 0 {
		t.Errorf("%d events were recorded, %d are there; %v, %s", n, got, h.Damage, h.Torn)
	}
}

func TestOpenNeverContinuesALog(t *testing.T) {
	dir := t.TempDir()
	r := openTest(t, dir, "c1", NewClock())
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, LogDir, "c1.jsonl"), "c1", NewClock(), Run{}); !errors.Is(err, os.ErrExist) {
		t.Fatalf("opened a log that exists: %v", err)
	}
}

// Merging keeps each party's order and puts invokes first on equal times.
func TestMerge(t *testing.T) {
	log := func(party string, events ...Line) *History {
		for i := range events {
			events[i].Party, events[i].Seq = party, int64(i)
		}
		return &History{Events: Events(events...)}
	}
	a := log("a", Line{Time: 1, Type: Info}, Line{Time: 5, Type: OK}, Line{Time: 4, Type: OK})
	b := log("b", Line{Time: 2, Type: Info}, Line{Time: 5, Type: Invoke})
	h, err := Merge([]*History{a, b})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for i, e := range h.Events {
		if e.Index != int64(i) {
			t.Errorf("event %d has index %d", i, e.Index)
		}
		order = append(order, e.Party())
	}
	if got := strings.Join(order, ""); got != "abbaa" {
		t.Errorf("order %s, want abbaa: b's invoke before a's ok at 5, a's 4 after its 5", got)
	}
}

func TestMergeDirTolerates(t *testing.T) {
	dir := t.TempDir()
	clock := NewClock()
	for _, party := range []string{"controller", "c1"} {
		if err := openTest(t, dir, party, clock).Close(); err != nil {
			t.Fatal(err)
		}
	}
	logs := filepath.Join(dir, LogDir)
	if err := os.WriteFile(filepath.Join(logs, "c2.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(logs, "c1.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"time":1,"proc`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := MergeDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Events) != 2 || h.Torn == "" || len(h.Damage) != 0 {
		t.Fatalf("%d events, torn %q, damage %v", len(h.Events), h.Torn, h.Damage)
	}
	if _, err := MergeDir(t.TempDir()); err == nil || !strings.Contains(err.Error(), "it is not a run directory") {
		t.Fatalf("an empty directory: %v", err)
	}
}

func TestReadSaysWhereItIsDamaged(t *testing.T) {
	good := `{"index":0,"time":0,"process":"controller","type":"info","f":"run","party":"controller","seq":0,"value":{"schema":1}}` +
		"\n"
	tests := []struct {
		name, text, want string
	}{
		{"garbage", good + "garbage\n", "x:2: the line is not valid JSON"},
		{"no time", good + `{"process":1,"type":"ok","f":"read"}` + "\n", "x:2: a field is missing: an event needs"},
		{"bad type", good + `{"time":1,"process":1,"type":"maybe","f":"read"}` + "\n", "x:2: type \"maybe\""},
		{
			"float token", good + `{"time":1,"process":1,"type":"ok","f":"acquire","token":1.5}` + "\n",
			"x:2: the line is not valid JSON",
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			h, err := Read(strings.NewReader(tc.text), "x")
			if err != nil {
				t.Fatal(err)
			}
			if len(h.Damage) != 1 || !strings.Contains(h.Damage[0].String(), tc.want) {
				t.Errorf("damage %v, want %q", h.Damage, tc.want)
			}
		})
	}
	if _, err := Read(strings.NewReader(""), "x"); !errors.Is(err, ErrNoHistory) {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := Read(strings.NewReader("\x00\x01\n"), "x"); !errors.Is(err, ErrNoHistory) {
		t.Errorf("binary junk: %v", err)
	}
}

// Nothing follows the end of a log, however slow its disk is; a slow write of any other
// event is a stall on record.
func TestSlowWritesAreStalls(t *testing.T) {
	dir := t.TempDir()
	r := openTest(t, dir, "c1", NewClock())
	r.limit = 1 // every write takes longer than a nanosecond
	if _, err := r.Record(Line{Process: Process{N: 1}, Type: Invoke, F: FWork}); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(End{}); err != nil {
		t.Fatal(err)
	}
	h, err := ReadFile(filepath.Join(dir, LogDir, "c1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var fs []string
	for _, e := range h.Events {
		fs = append(fs, e.F())
	}
	if got, want := strings.Join(fs, " "), "run work stall end"; got != want {
		t.Errorf("the log has %s, want %s", got, want)
	}
}

// Who follows the file of a log, without its tail, sees it grow.
func TestTailIsMovedInTime(t *testing.T) {
	dir := t.TempDir()
	r := openTest(t, dir, "c1", NewClock())
	r.moved = -2 * moveEvery
	if err := r.Notice(Line{F: FPoint}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, LogDir, "c1.jsonl"))
	if err != nil || !strings.Contains(string(text), FPoint) {
		t.Errorf("the file of the log has %q, %v", text, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// Nothing comes after the end, however many record at that moment.
func TestNothingAfterTheEnd(t *testing.T) {
	for range 200 {
		path := filepath.Join(t.TempDir(), "c1.jsonl")
		rec, err := Open(path, "c1", NewClock(), Run{Schema: Schema})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for rec.Notice(Line{F: FPoint}) == nil {
				}
			})
		}
		if err := rec.Finish(End{}); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		var last Line
		if err := last.UnmarshalJSON(lines[len(lines)-1]); err != nil || last.F != FEnd {
			t.Fatalf("the last event is %s (%v)", lines[len(lines)-1], err)
		}
	}
}
