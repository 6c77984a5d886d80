package reports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The list of neighbours is written anew, and nothing else; names stay text.
func TestRetrail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	r, rec := judged(t, told[0])
	r.Command = "lockstorm run"
	before := rendered(t, r, rec)
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	about := Context{Rate: "2 of 3", Trail: []Link{{Text: "seed-1"}, {Text: "<b>seed-2</b>", Href: "../seed-2/report.html"}}}
	if err := Retrail(path, about); err != nil {
		t.Fatal(err)
	}
	first := read()
	want := `<div id="trail"><p class="muted">2 of 3</p><p class="trail">seed-1 · <a href="../seed-2/report.html">&lt;b&gt;seed-2&lt;/b&gt;</a></p></div>`
	if strings.Count(first, want) != 1 {
		t.Errorf("there is no %s", want)
	}
	if err := Retrail(path, about); err != nil || read() != first {
		t.Errorf("a second time: not the same page (%v)", err)
	}
	if err := Retrail(path, Context{}); err != nil || read() != before {
		t.Errorf("without neighbours: not the page that it was (%v)", err)
	}
	for text, says := range map[string]string{"<p>no page of ours</p>": "another version", `x<div id="trail">`: "truncated"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Retrail(path, about); err == nil || !strings.Contains(err.Error(), says) || read() != text {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The command that repeats a run names the program that made it, which alone knows its lock.
func TestReplayNamesTheProgram(t *testing.T) {
	r, rec := judged(t, told[0])
	for command, want := range map[string]string{
		"/somewhere/mylocks run --backend mine": "mylocks replay DIR",
		"":                                      "lockstorm replay DIR",
	} {
		r.Command = command
		var b strings.Builder
		if err := HTML(&b, r, rec, Context{Replayable: true}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q: the page does not have %q", command, want)
		}
	}
}
