package reports

import (
	"bytes"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// hostile is what a record may say: an escape sequence, a bell, NUL, a non-character, bytes
// that are no UTF-8, a turned direction, a line that looks like ours, the end of CDATA.
const hostile = "x\x1b[2J\a\x00\ufffe\xff\xfe\u202e\u009b\r\n  pass  mutual-exclusion\t]]>"

var raw = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202e\ufffe]")

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ähm 漢":    "plain ähm 漢",
		"a\x1b[31mb":     `a\x1b[31mb`,
		"\x00\n\t\r\x7f": `\x00\n\t\r\x7f`,
		"\ufffe\u202e":   `\ufffe\u202e`,
		"\xff\xc3":       `\xff\xc3`,
		"\ufffd is one":  "\ufffd is one",
		`c:\dir`:         `c:\dir`,
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

// poisoned is a violation in which everything that a record can say is hostile.
func poisoned(t *testing.T) (*checker.Results, *history.Record) {
	t.Helper()
	r, rec := judged(t, "paused")
	r.Backend, r.Topology, r.Command, r.Nemesis = hostile, hostile, hostile, []string{hostile}
	r.Notes = []string{hostile}
	for name, c := range r.Checks {
		c.Reason += hostile
		for i := range c.Findings {
			c.Findings[i].Message, c.Findings[i].Cause, c.Findings[i].Rule = hostile, hostile, hostile
		}
		r.Checks[name] = c
	}
	for _, in := range rec.Faults {
		in.Proof, in.Fault.Fault = hostile, hostile
	}
	for _, g := range rec.Grants {
		g.Client, g.Lock, g.ID = g.Client+hostile, hostile, g.ID+hostile
	}
	return r, rec
}

// Nothing that a record says reaches the terminal as a control character, and none of it
// looks like a line of ours.
func TestHostileTerminal(t *testing.T) {
	r, rec := poisoned(t)
	var b bytes.Buffer
	if err := Summary(&b, r, rec, Style{}); err != nil {
		t.Fatal(err)
	}
	text := b.String() + Headline(r)
	if m := raw.FindString(text); m != "" || !utf8.ValidString(text) {
		t.Errorf("%q reaches the terminal", m)
	}
	if !strings.Contains(text, `x\x1b[2J\a\x00\ufffe\xff\xfe\u202e\u009b\r\n  pass`) {
		t.Errorf("the characters are not to be seen in %s", text)
	}
	if regexp.MustCompile(`(?m)^  pass  mutual-exclusion`).MatchString(text) {
		t.Error("a record can write lines of ours")
	}
	r.Verdict = checker.Unknown
	for name, c := range r.Checks {
		c.Required, c.Verdict = true, checker.Unknown
		r.Checks[name] = c
	}
	if m := raw.FindString(Headline(r)); m != "" {
		t.Errorf("%q is in the headline", m)
	}
}

func TestHostileJUnit(t *testing.T) {
	r, _ := poisoned(t)
	var b bytes.Buffer
	if err := JUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	if m := raw.FindString(b.String()); m != "" || !utf8.ValidString(b.String()) {
		t.Errorf("%q is in the file", m)
	}
	d := xml.NewDecoder(&b)
	for {
		if _, err := d.Token(); err == io.EOF { //nolint:errorlint // the end itself
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestHostilePage(t *testing.T) {
	r, rec := poisoned(t)
	var b bytes.Buffer
	if err := HTML(&b, r, rec, Context{}); err != nil {
		t.Fatal(err)
	}
	if m := raw.FindString(b.String()); m != "" || !utf8.ValidString(b.String()) {
		t.Errorf("%q is in the page", m)
	}
}
