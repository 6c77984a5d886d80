package hunt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/shrink"
)

// Known is an error of the judge that is listed: its kind, a small history that shows it,
// and what it has to do with (a number of the contract of verdicts, a point of an audit).
type Known struct{ Kind, Fixture, About string }

// ReadKnown reads the list: a line each, three fields with a bar between them.
func ReadKnown(path string) ([]Known, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []Known
	sc := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; sc.Scan(); n++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		f := strings.Split(text, "|")
		if len(f) != 3 {
			return nil, fmt.Errorf("%s:%d: write the line as KIND | FIXTURE | TEXT: the kind of disagreement, the file that shows it, "+
				"and an explanation", path, n)
		}
		out = append(out, Known{strings.TrimSpace(f[0]), strings.TrimSpace(f[1]), strings.TrimSpace(f[2])})
	}
	return out, sc.Err()
}

// Fixture is a history with the sign of the disagreement that it shows.
type Fixture struct {
	Sign    Sign
	History *history.History
}

// ReadFixture reads a fixture: the sign on its first line, then the history as text or, in a
// file that ends with .jsonl, as it is.
func ReadFixture(path string) (*Fixture, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	first, rest, _ := bytes.Cut(b, []byte("\n"))
	var f Fixture
	if err := json.Unmarshal(bytes.TrimPrefix(first, []byte("# ")), &f.Sign); err != nil {
		return nil, fmt.Errorf("%s: the sign: %w", path, err)
	}
	if strings.HasSuffix(path, ".jsonl") {
		f.History, err = history.Read(bytes.NewReader(rest), path)
	} else {
		f.History, err = history.ParseText(bytes.NewReader(rest))
	}
	return &f, err
}

// Write writes a fixture into a folder, as text where that shows the same, and answers with
// its name.
func (f *Fixture) Write(dir, name string) (string, error) {
	sign, err := json.Marshal(f.Sign)
	if err != nil {
		return "", err
	}
	body, ext := shrink.Text(f.History), ".txt"
	if h, err := history.ParseText(strings.NewReader(body)); err != nil || f.Sign.Sort == Unnoticed || !f.shows(h) {
		ext = ".jsonl"
		var b []byte
		for i := range f.History.Events {
			b = append(f.History.Events[i].AppendJSON(b, true), '\n')
		}
		body = string(b)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return name + ext, os.WriteFile(filepath.Join(dir, name+ext), []byte("# "+string(sign)+"\n"+body), 0o644)
}

func (f *Fixture) shows(h *history.History) bool {
	r, err := Judge(h)
	return err == nil && f.Sign.Shows(r)
}

// Shrunk makes a small fixture of a disagreement of a case.
func Shrunk(c Case, kind string) (*Fixture, error) {
	o, err := c.Play()
	if err != nil {
		return nil, err
	}
	for _, d := range o.Disagreements {
		if d.Kind() == kind {
			return shrunk(o, d)
		}
	}
	return nil, fmt.Errorf("the history of seed %d does not show the disagreement %q", c.Seed, kind)
}

func shrunk(o *Outcome, d Disagreement) (*Fixture, error) {
	f := &Fixture{Sign: d.Sign, History: o.Trace.History}
	switch d.Sort {
	case Unnoticed:
		return f.damaged(o.Case)
	case Figure, Answer:
		return f, nil // what is right of a smaller history, only an oracle knows
	}
	before, err := Judge(f.History)
	if err != nil {
		return nil, err
	}
	had := rulesOf(before)
	stays := shrink.Stays{Grants: append(append([]string{}, d.Grants...), d.Keep...), Faults: append([]int{d.Fault}, d.Right...)}
	if d.Check == checker.Liveness && !strings.HasSuffix(d.Rule, "note") {
		stays.From = o.Trace.Truth.Final // who asked then is what it is about
	}
	if d.Sort != Miss {
		stays.Grants = append(stays.Grants, unknowns(f.History)...)
	}
	f.History = shrink.Shrink(f.History, stays, func(h *history.History) bool {
		r, err := Judge(h)
		if err != nil || !d.Shows(r) {
			return false
		}
		for rule := range rulesOf(r) {
			if !had[rule] {
				return false // it shows something else, too
			}
		}
		return true
	})
	return f, nil
}

// unknowns are the grants whose releases may take effect at any later time: without them what
// they do would be somebody else's doing.
func unknowns(h *history.History) []string {
	var out []string
	for i := range h.Events {
		if e := &h.Events[i]; e.F() == history.FRelease && e.Type() == history.Info {
			out = append(out, e.Grant())
		}
	}
	return out
}
