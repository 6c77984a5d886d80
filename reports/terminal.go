package reports

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Summary writes what happened for a terminal: the checks, the story, the figures.
func Summary(w io.Writer, r *checker.Results, rec *history.Record) error {
	s := &printer{w: w}
	s.printf("\n%s\n\n", heading(r))
	tw := tabwriter.NewWriter(s, 0, 4, 2, ' ', 0)
	t := &printer{w: tw}
	for _, name := range listedChecks(r) {
		c := r.Checks[name]
		t.printf("  %s\t%s\t%s\n", mark(c), name, oneLine(c))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	s.printf("\n")
	s.story(Tell(r, rec))
	s.printf("\n  %s\n", strings.Join(figures(r), ", "))
	for _, n := range r.Notes {
		s.printf("  note: %s\n", n)
	}
	return s.err
}

// heading says what was run, as far as the record does: one of another tool may say little.
func heading(r *checker.Results) string {
	text := cmp.Or(r.Backend, "a record")
	if r.Topology != "" {
		text += " on " + r.Topology
	}
	if r.Provider != "" {
		text += " (" + r.Provider + ")"
	}
	for _, part := range []struct{ name, value string }{{"nemesis", strings.Join(r.Nemesis, " + ")}, {"workload", r.Workload}, {"fencing", r.Fencing}} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	if r.TTL > 0 {
		text += ", ttl " + dur(r.TTL).String()
	}
	if r.Seed > 0 {
		text += fmt.Sprintf(", seed %d", r.Seed)
	}
	return text
}

type printer struct {
	w   io.Writer
	err error
}

// printf writes a line of ours; what it is given comes from a history, and is shown as
// [visible] text.
func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, visibleArgs(args)...)
	}
}

// Write lets a tabwriter write through the printer.
func (p *printer) Write(b []byte) (int, error) { return p.w.Write(b) }

// story tells the worst incident step by step, and every other one in a line.
func (p *printer) story(s *Story) {
	for i, in := range s.Incidents {
		if i > 0 {
			p.printf("  %s\n", also(in))
			continue
		}
		p.printf("  %s\n", in.Headline)
		p.steps(in.Steps)
		p.printf("    %s\n", causeText(in))
	}
	if w := s.Withstood; w != nil {
		p.printf("  %s\n", w.Headline)
		p.steps(w.Steps)
		if w.More > 0 {
			p.printf("    %s\n", moreText(w.More))
		}
	}
	for _, in := range s.Noted {
		p.printf("  %s\n", noted(in))
	}
	for _, t := range s.Totals {
		p.printf("  %s\n", t.Text)
	}
}

func (p *printer) steps(steps []Step) {
	for _, s := range steps {
		p.printf("    %s  %s\n", at(s.At), s.Text)
	}
}
