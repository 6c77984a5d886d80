package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// script is the log of a client, written by hand.
type script struct {
	t    *testing.T
	file *os.File
	name string
}

func newScript(t *testing.T, tl *tail, name string) *script {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) //nolint:errcheck // it was written without an error
	if err := tl.follow(name, f.Name()); err != nil {
		t.Fatal(err)
	}
	return &script{t, f, name}
}

func (s *script) write(text string) {
	s.t.Helper()
	if _, err := s.file.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// line is an event at a moment; a deadline of 0 is none.
func (s *script) line(at int64, typ, f string, deadline int64) string {
	e := history.Line{
		Time: at, Process: history.Process{N: 1}, Type: history.Type(typ), F: f, Party: s.name, Client: s.name,
		Lock: "L1",
	}
	if deadline > 0 {
		e.Deadline = history.Some(deadline)
	}
	return string(e.AppendJSON(nil, false)) + "\n"
}

// hold is a grant that was asked for a moment before.
func (s *script) hold(at, deadline int64) {
	s.t.Helper()
	s.write(s.line(at-1, "invoke", "acquire", 0) + s.line(at, "ok", "acquire", deadline))
}

func (s *script) release(at int64) {
	s.t.Helper()
	s.write(s.line(at, "invoke", "release", 0) + s.line(at+1, "ok", "release", 0))
}

// A line counts once it is whole, and once; what is no event is passed over.
func TestATornLineOfALog(t *testing.T) {
	tl := newTail(true)
	defer tl.close()
	s := newScript(t, tl, "c1")
	s.write(s.line(1, "invoke", "acquire", 0))
	granted := s.line(2, "ok", "acquire", 0)
	for i, part := range []string{granted[:1], granted[1 : len(granted)/2], granted[len(granted)/2 : len(granted)-1]} {
		s.write(part)
		if doing := tl.doing("c1"); doing != nemesis.Waits || tl.count().Grants != 0 {
			t.Errorf("after part %d: %s, %d grants", i, doing, tl.count().Grants)
		}
	}
	s.write("\n" + `{"type":"ok","f":"acquire"` + "\n" + strings.Repeat("\x00", 3) + `"f":"release"` + "\n")
	for range 2 {
		tl.poll()
		if doing := tl.doing("c1"); doing != nemesis.Holds || tl.count().Grants != 1 {
			t.Errorf("whole: %s, %d grants", doing, tl.count().Grants)
		}
	}
}

// What a client is doing is what its log said last of its lock.
func TestWhatAClientIsDoing(t *testing.T) {
	tl := newTail(true)
	defer tl.close()
	s := newScript(t, tl, "c1")
	for i, step := range []struct {
		typ, f string
		want   nemesis.Doing
	}{
		{"info", "run", nemesis.Idle},
		{"invoke", "acquire", nemesis.Waits},
		{"fail", "acquire", nemesis.Idle},
		{"invoke", "try-acquire", nemesis.Waits},
		{"ok", "try-acquire", nemesis.Holds},
		{"invoke", "write", nemesis.Holds},
		{"invoke", "release", nemesis.Releasing},
		{"info", "release", nemesis.Idle},
	} {
		s.write(s.line(int64(i), step.typ, step.f, 0))
		if got := tl.doing("c1"); got != step.want {
			t.Errorf("after %s %s: %q, want %q", step.typ, step.f, got, step.want)
		}
	}
	if got := tl.doing("c9"); got != nemesis.Idle {
		t.Errorf("a client without a log is %q", got)
	}
}

// Two meet where one is granted the lock before the other gives it back, or stops to believe in it. In which order the logs are
// read does not matter, nor do locks that several may hold.
func TestWhoMetAnother(t *testing.T) {
	for name, c := range map[string]struct {
		alone    bool
		deadline int64 // of the first hold, from 10; 0: none
		second   int64 // when the other is granted the lock
		released int64
		want     int64
	}{
		"after the release":         {true, 0, 30, 20, 0},
		"before it":                 {true, 0, 15, 20, 1},
		"before it, after the end":  {true, 12, 15, 20, 0},
		"before it, before the end": {true, 18, 15, 20, 1},
		"several may":               {false, 0, 15, 20, 0},
	} {
		for _, firstRead := range []bool{true, false} { // the first log is read whole before the grant to the other
			tl := newTail(c.alone)
			a, b := newScript(t, tl, "c1"), newScript(t, tl, "c2")
			a.hold(10, c.deadline)
			tl.poll()
			if firstRead {
				a.release(c.released)
				tl.poll()
			}
			b.hold(c.second, 0)
			tl.poll()
			if !firstRead {
				a.release(c.released)
				tl.poll()
			}
			want := c.want
			if firstRead {
				want = 0 // it was over before the other is known
			}
			if got := tl.count().Overlaps; got != want {
				t.Errorf("%s, the release is read first: %v: %d overlaps, want %d", name, firstRead, got, want)
			}
			tl.close()
		}
	}
}

// A client that never gives its lock back, as one that is stopped for hours, costs no memory for each grant after its lease.
func TestWhatAHolderMeetsIsBounded(t *testing.T) {
	tl := newTail(true)
	defer tl.close()
	a, b := newScript(t, tl, "c1"), newScript(t, tl, "c2")
	a.hold(10, 100)
	tl.poll()
	for i := range int64(1000) {
		b.hold(50+10*i, 0)
		b.release(55 + 10*i)
		tl.poll()
	}
	if met := tl.holding["L1"]["c1"].met; len(met) > 5 {
		t.Errorf("%d grants after the end of a lease are kept", len(met)-5)
	}
}
