package reports

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

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
