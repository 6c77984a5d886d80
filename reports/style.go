package reports

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Style is how text is written to a terminal. The zero value is for files and pipes: unwrapped lines without colour.
type Style struct {
	Width int // of the terminal, in columns; 0: lines are not wrapped
	Color bool
}

// colour is a way to set text off.
type colour string

// The colours of sixteen that every terminal has, in whatever shade its user has chosen.
const (
	bad   colour = "31" // red
	good  colour = "32" // green
	vague colour = "33" // yellow
	faint colour = "2"
	bold  colour = "1"
)

// paint sets text off where the terminal can.
func (s Style) paint(c colour, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// minText is the least room for text beside an indentation.
const minText = 24

// Status colours a word by the exit code that it stands for.
func (s Style) Status(code int, word string) string {
	switch code {
	case 0:
		return s.paint(good, word)
	case 2, 130:
		return s.paint(vague, word)
	}
	return s.paint(bad, word)
}

// Wrap breaks a line at spaces so that it fits the width.
func (s Style) Wrap(line string, indent int) string { return s.wrap(line, indent) }

// wrap breaks a line at spaces so that it fits the width; what follows the first line is indented. A word that is longer than
// a line stands on one of its own, whole: it may be a path or a command that is copied.
func (s Style) wrap(line string, indent int) string {
	if s.Width <= 0 || utf8.RuneCountInString(line) <= s.Width {
		return line
	}
	if s.Width-indent < minText {
		indent = max(s.Width-minText, 0) / 4
	}
	var b strings.Builder
	room := s.Width
	for rest, first := line, true; rest != ""; first = false {
		word := strings.TrimLeft(rest, " ")
		gap := len(rest) - len(word)
		if end := strings.IndexByte(word, ' '); end >= 0 {
			word = word[:end]
		}
		rest = rest[gap+len(word):]
		n := utf8.RuneCountInString(word)
		if !first && n > 0 && room < gap+n {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			room, gap = s.Width-indent, 0
		}
		b.WriteString(strings.Repeat(" ", gap) + word)
		room -= gap + n
	}
	return b.String()
}

// visible makes text that comes from a history harmless: whatever is not printable (control
// characters, bytes that are no UTF-8, marks that turn the direction of the text, line ends)
// becomes an escape that can be seen. A terminal must not obey a record, and XML knows no
// such characters.
func visible(s string) string { return Visible(s, "") }

// Visible makes text from a history harmless: see visible. It leaves the characters in keep as they are.
func Visible(s, keep string) string {
	clean := func(r rune) bool { return strconv.IsPrint(r) || strings.ContainsRune(keep, r) }
	plain := func(c byte) bool { return c >= ' ' && c < 0x7f || c < utf8.RuneSelf && strings.IndexByte(keep, c) >= 0 }
	var b strings.Builder
	b.Grow(len(s))
	for i, size := 0, 0; i < len(s); i += size {
		from := i
		for i < len(s) && plain(s[i]) {
			i++
		}
		b.WriteString(s[from:i])
		if i == len(s) {
			break
		}
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + hex(s[i]>>4) + hex(s[i]&15))
		case clean(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

func hex(nibble byte) string { return strconv.FormatInt(int64(nibble), 16) }

// visibleArgs makes the strings among the arguments of a format harmless.
func visibleArgs(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a
		if s, ok := a.(string); ok {
			out[i] = visible(s)
		}
	}
	return out
}
