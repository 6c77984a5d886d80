// Package reports renders results and the history behind them: a terminal summary, one
// self-contained HTML page, and JUnit XML. It computes nothing that a verdict depends
// on.
package reports

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Summary writes what happened for a terminal: the checks, what was found, the figures.
func Summary(w io.Writer, r *checker.Results, rec *history.Record) error {
	s := &printer{w: w}
	s.printf("\n%s on %s (%s), nemesis %s, workload %s, fencing %s, ttl %v, seed %d\n\n",
		r.Backend, r.Topology, r.Provider, strings.Join(r.Nemesis, " + "), r.Workload, r.Fencing, dur(r.TTL), r.Seed)
	tw := tabwriter.NewWriter(s, 0, 4, 2, ' ', 0)
	t := &printer{w: tw}
	for _, name := range r.Order {
		c := r.Checks[name]
		t.printf("  %s\t%s\t%s\n", mark(c), name, oneLine(c))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	s.printf("\n")
	for _, line := range Story(r, rec) {
		s.printf("  %s\n", line)
	}
	s.printf("\n  %s\n", strings.Join(figures(r), ", "))
	for _, n := range r.Notes {
		s.printf("  note: %s\n", n)
	}
	return s.err
}

func mark(c checker.Result) string {
	text := map[checker.Verdict]string{checker.Pass: "pass", checker.Fail: "FAIL", checker.Unknown: "unknown", checker.Skipped: "skipped"}[c.Verdict]
	if !c.Required && c.Verdict != checker.Skipped {
		text += " (not required)"
	}
	return text
}

// oneLine is a check in one line: how many findings of which class, or the reason.
func oneLine(c checker.Result) string {
	if len(c.Findings) == 0 || c.Verdict == checker.Pass || c.Verdict == checker.Skipped {
		return c.Reason
	}
	var parts []string
	for _, class := range []checker.Class{checker.Defect, checker.Inherent, checker.Undetermined, checker.NoClass} {
		n := 0
		for _, f := range c.Findings {
			if f.Class == class {
				n++
			}
		}
		if n > 0 && class == checker.NoClass {
			parts = append(parts, fmt.Sprint(n))
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	text := strings.Join(parts, ", ") + plural(len(c.Findings), " finding")
	if !gates(c) {
		text += ", not gating"
	}
	if c.Reason != "" {
		text += "; " + c.Reason
	}
	return text
}

func gates(c checker.Result) bool {
	for _, f := range c.Findings {
		if f.Gating {
			return true
		}
	}
	return false
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Headline is the verdict in one sentence.
func Headline(r *checker.Results) string {
	switch r.Verdict {
	case checker.Pass:
		if c := r.Checks["mutual-exclusion"]; c.Verdict == checker.Fail {
			return "pass: clients overlapped (inherent to leases), and the fence kept the data safe"
		}
		return "pass: no violation was found"
	case checker.Fail:
		var failed []string
		for _, name := range r.Order {
			if c := r.Checks[name]; c.Required && c.Verdict == checker.Fail && gates(c) {
				failed = append(failed, name)
			}
		}
		return "VIOLATION: " + strings.Join(failed, ", ")
	default:
		for _, name := range r.Order {
			if c := r.Checks[name]; c.Required && c.Verdict == checker.Unknown {
				return fmt.Sprintf("inconclusive: %s: %s", name, c.Reason)
			}
		}
		return "inconclusive"
	}
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// Write lets a tabwriter write through the printer.
func (p *printer) Write(b []byte) (int, error) { return p.w.Write(b) }
