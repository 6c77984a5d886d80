package adapter

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The transcript of docs/adapters.md: what it says that we send is what we send, and the reference answers as it says.
func TestTranscript(t *testing.T) {
	page, err := os.ReadFile("../../docs/adapters.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```transcript\n")
	text, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("docs/adapters.md has no transcript")
	}
	ref, err := os.ReadFile("../../adapters/python/flock.py")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("flock.py", ref, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := start([]string{"./flock.py"}, os.Stderr, func() int64 { return 0 }, func(line, int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		sent, answer := strings.TrimPrefix(lines[i], "> "), strings.TrimPrefix(lines[i+1], "< ")
		var r request
		d := json.NewDecoder(strings.NewReader(sent))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%s: %v", sent, err)
		}
		again, err := json.Marshal(r)
		if err != nil || !sameJSON(t, []byte(sent), again) {
			t.Errorf("the page says %s, we send %s (%v)", sent, again, err)
		}
		a := p.call(r, describeLimit)
		if a.err != nil {
			t.Fatal(a.err)
		}
		var want line
		if err := json.Unmarshal([]byte(strings.ReplaceAll(answer, `"*"`, `"1"`)), &want); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		if got := masked(a.line); !reflect.DeepEqual(got, masked(want)) {
			t.Errorf("%s\nis answered %+v, the page says %s", sent, got, answer)
		}
	}
}

// masked is a line without what differs each time.
func masked(l line) line {
	one := nanos(1)
	for _, n := range []**nanos{&l.Sent, &l.Now} {
		if *n != nil {
			*n = &one
		}
	}
	l.About.Doc = ""
	if l.About.Versions != nil {
		l.About.Versions = map[string]string{"python": "1"}
	}
	return l
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	for _, one := range []struct {
		b []byte
		v *any
	}{{a, &x}, {b, &y}} {
		d := json.NewDecoder(bytes.NewReader(one.b))
		d.UseNumber()
		if err := d.Decode(one.v); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(x, y)
}
