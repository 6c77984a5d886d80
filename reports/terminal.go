package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Summary writes a run for a terminal: the outcome, the story in a few steps, its cause and cure, the checks, the
// figures.
func Summary(w io.Writer, r *checker.Results, rec *history.Record, style Style) error {
	s, r := &printer{w: w, style: style}, once(r)
	s.raw("\n" + style.Status(r.ExitCode, style.wrap(Headline(r), 2)))
	s.line(2, "%s\n", heading(r))
	s.story(r, rec, tell(r, rec))
	s.line(0, "")
	s.checks(r)
	s.line(0, "")
	s.line(2, "  %s", figures(r))
	for _, n := range r.Notes {
		s.line(8, "  note: %s", n)
	}
	return s.err
}

// heading says what was run, as far as the record does: one of another tool may say little.
func heading(r *checker.Results) string {
	text := cmp.Or(subject(r), "a recorded history")
	if r.Topology != "" {
		text += " on " + r.Topology
	}
	if r.Provider != "" {
		text += " (" + r.Provider + ")"
	}
	for _, part := range []struct{ name, value string }{
		{"nemesis", strings.Join(r.Nemesis, " + ")},
		{"workload", r.Workload},
		{"fencing", r.Fencing},
	} {
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
	w     io.Writer
	style Style
	err   error
}

// line writes a line of ours, wrapped to the terminal; what it is given comes from a history, and is shown as [visible] text.
func (p *printer) line(indent int, format string, args ...any) {
	p.painted("", indent, format, args...)
}

// painted is line, in a colour.
func (p *printer) painted(c colour, indent int, format string, args ...any) {
	if p.err != nil {
		return
	}
	lines := strings.Split(fmt.Sprintf(format, visibleArgs(args)...), "\n")
	for i, l := range lines {
		if l = p.style.wrap(l, indent); c != "" {
			l = p.style.paint(c, l)
		}
		lines[i] = l
	}
	_, p.err = io.WriteString(p.w, strings.Join(lines, "\n")+"\n")
}

// checks lists the answers, in columns, and names those that do not apply. Where there is little room the reason has a line of
// its own.
func (p *printer) checks(r *checker.Results) {
	marks, names := 0, 0
	var listed, skipped []string
	for _, name := range listedChecks(r) {
		if r.Checks[name].Verdict == checker.Skipped {
			skipped = append(skipped, name)
			continue
		}
		listed = append(listed, name)
		marks, names = max(marks, len(mark(r.Checks[name]))), max(names, utf8.RuneCountInString(visible(name)))
	}
	beside := 2 + marks + 2 + names + 2
	for _, name := range listed {
		c := r.Checks[name]
		word, reason := mark(c), visible(oneLine(c))
		if c.Verdict == checker.Pass && name != checker.Coverage {
			reason = "" // the page has it
		}
		shown := visible(name)
		if !c.Required {
			shown = p.style.paint(faint, shown) // it cannot fail the run
		}
		head := "  " + p.style.paint(markColour(word), word) + strings.Repeat(" ", marks-len(word)+2) + shown
		pad := strings.Repeat(" ", beside-(2+marks+2+utf8.RuneCountInString(visible(name))))
		switch {
		case reason == "":
			p.raw(head)
		case p.style.Width > 0 && p.style.Width-beside < minText:
			p.raw(head)
			p.line(6, "      %s", oneLine(c))
		default:
			wrapped := p.style.wrap(strings.Repeat(" ", beside)+reason, beside)
			p.raw(head + pad + strings.TrimLeft(wrapped, " "))
		}
	}
	if len(skipped) > 0 {
		p.painted(faint, 4, "  do not apply: %s", strings.Join(skipped, ", "))
	}
}

// raw writes a line as it is.
func (p *printer) raw(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text+"\n")
	}
}

func markColour(word string) colour {
	switch word {
	case "FAIL":
		return bad
	case "pass":
		return good
	case "unknown":
		return vague
	}
	return faint
}

// story tells the worst incident step by step, with a drawing, and the others by kind, in a line each.
func (p *printer) story(r *checker.Results, rec *history.Record, s *Story) {
	worst, others := s.failures(r)
	if worst != nil {
		p.incident(r, rec, worst)
	}
	for _, in := range others {
		p.line(4, "  %s", also(in))
	}
	if w := s.Survived; w != nil {
		p.line(4, "  %s", w.Headline)
		p.steps(w.Steps)
		if w.More > 0 {
			p.line(6, "    %s", moreText(w.More))
		}
	}
	for _, in := range s.Noted {
		p.line(4, "  %s", noted(in))
	}
	for _, t := range s.Totals {
		p.line(4, "  %s", t)
	}
}

// incident tells one in full.
func (p *printer) incident(r *checker.Results, rec *history.Record, h *happening) {
	f := h.first()
	p.painted(bold, 4, "  %s", verdictSentence(r, rec, h))
	p.line(4, "  %s", kindOfFinding(f))
	if h.kinds != "" {
		p.line(4, "  %s.", h.kinds)
	}
	if lines := sketch(rec, f, p.style.Width-4); lines != nil {
		for _, l := range lines {
			p.raw("    " + visible(l))
		}
		p.raw("")
	}
	p.steps(beats(h.steps))
	if text := causeText(f); text != "" {
		p.line(6, "    %s", text)
	}
	p.line(6, "    %s", cure(r, rec, h, Context{}))
}

// beats are the six steps that tell a story to who has no time for all of it, in their order. A write that was lost is one of
// them; the one that lost it is told as the loss.
func beats(steps []Step) []Step {
	most := []StepKind{
		StepLost, StepOverwritten, StepGranted, StepWaits, StepFault, StepLeaseOver, StepTold, StepRefused, StepWrite, StepRole,
		StepDeath, StepRelease, StepRenewed, StepProof, StepRead, StepHeal,
	}
	told := slices.Clone(steps)
	var lost []int64
	if i := slices.IndexFunc(steps, func(s Step) bool { return s.Kind == StepLost || s.Kind == StepOverwritten }); i >= 0 {
		told = slices.DeleteFunc(told, func(s Step) bool { return s.Kind == StepWrite && s.Party == steps[i].Party })
		lost = steps[i].Events
	}
	rank := func(s Step) int {
		gone := s.Kind == StepWrite && slices.ContainsFunc(s.Events, func(e int64) bool { return slices.Contains(lost, e) })
		if s.Bad || gone {
			return -1
		}
		return slices.Index(most, s.Kind)
	}
	slices.Reverse(told) // of one kind the later ones: they are nearer to the damage
	slices.SortStableFunc(told, func(a, b Step) int { return cmp.Compare(rank(a), rank(b)) })
	told = told[:min(len(told), 6)]
	slices.Reverse(told)
	slices.SortStableFunc(told, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return told
}

// steps are told one a line, in columns of time and text.
func (p *printer) steps(steps []Step) {
	const text = 16 // where it begins
	for _, s := range steps {
		c := colour("")
		if s.Bad {
			c = bad
		}
		p.painted(c, text, "    %s  %s", at(s.At), s.Text)
	}
}
