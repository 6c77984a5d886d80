package history

import (
	"os"
	"path/filepath"
	"testing"
)

// A follower hands over complete lines, once each, and passes over what is no event.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c1.jsonl")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Follow(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	poll := func() {
		t.Helper()
		if err := f.Poll(nil, func(e *Line) { got = append(got, e.F) }); err != nil {
			t.Fatal(err)
		}
	}
	write := func(text string) {
		t.Helper()
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	poll()
	write(`{"time":1,"process":1,"type":"invoke","f":"acquire"}` + "\n" + `{"time":2,"process":1,"ty`)
	poll()
	write(`pe":"ok","f":"release"}` + "\n" + "rubbish\n")
	poll()
	poll()
	if len(got) != 2 || got[0] != FAcquire || got[1] != FRelease {
		t.Errorf("followed %v", got)
	}
	write(`{"time":3,"process":1,"type":"ok","f":"read"}` + "\n")
	if err := f.Poll(func([]byte) bool { return false }, func(*Line) { t.Error("it was not wanted") }); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Follow(path + ".not"); err == nil {
		t.Error("a log that is not there was followed")
	}
}
