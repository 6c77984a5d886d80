package history

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// A line that is no event leaves nothing behind in the place of the next one, wherever it breaks off, and neither does what
// only encoding/json can read: both ways of reading give what each line says alone.
func TestNoLineLeavesAnythingToTheNext(t *testing.T) {
	full := Line{
		Index: 3, Time: 99, Process: Process{Name: "register"}, Type: Fail, F: FWrite, Party: "c1", Seq: 8, Client: "c1", Lock: "L",
		Mode: ModeShared, Grant: "g", Owner: "o", Lease: "l", Sent: Some(1), TTL: Some(2), Deadline: Some(3), Token: Some(4),
		Nodes: []string{"a", "b"}, Register: "plain", Node: "n", Error: ErrBusy, Message: "m",
		Value: Value{Base: Some(5), New: Some(6)},
	}
	line := full.AppendJSON(nil, true)
	next := []byte(`{"time":7,"process":1,"type":"ok","f":"work"}`)
	text, want := []byte(nil), []Line(nil)
	add := func(line []byte) {
		text = append(append(text, line...), '\n')
		var l Line
		if l.UnmarshalJSON(line) == nil {
			want = append(want, l)
		}
	}
	for i := range line {
		add(line[:i])
		add(next)
		add(append(bytes.Clone(line[:len(line)-1]), `,"more":1}`...))
		add(next)
	}
	path := filepath.Join(t.TempDir(), File)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := Read(bytes.NewReader(text), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*History{whole, streamed} {
		if len(h.Damage) != len(line) || !reflect.DeepEqual(Lines(h.Events), want) {
			t.Errorf("%d events and %d damaged lines, want %d and %d, or an event has what is another's", len(h.Events), len(h.Damage),
				len(want), len(line))
		}
	}
}
