package history

import (
	"strconv"
	"unicode/utf8"
)

// MarshalJSON returns the line in JSON, the inverse of [Line.UnmarshalJSON].
func (l Line) MarshalJSON() ([]byte, error) { return l.AppendJSON(nil, l.Index >= 0), nil }

// AppendJSON appends the line in JSON, without the newline. The layout is written by hand because every operation needs it
// (encoding/json costs three times as much); [Line.UnmarshalJSON] is its inverse.
func (l *Line) AppendJSON(b []byte, withIndex bool) []byte {
	return append(l.appendFields(append(b, '{'), withIndex), '}')
}

func (p Process) appendJSON(b []byte) []byte {
	if p.IsOp() {
		return strconv.AppendInt(b, p.N, 10)
	}
	return appendQuoted(b, p.Name)
}

func (v Value) appendJSON(b []byte) []byte {
	switch {
	case v.Base.Set && v.New.Set:
		b = appendInt(b, `,"value":{"base":`, v.Base.V)
		b = appendInt(b, `,"new":`, v.New.V)
		return append(b, '}')
	case v.Base.Set:
		b = appendInt(b, `,"value":{"base":`, v.Base.V)
		return append(b, '}')
	case len(v.JSON) > 0:
		b = append(b, `,"value":`...)
		return append(b, v.JSON...)
	}
	return b
}

func appendInt(b []byte, key string, v int64) []byte {
	b = append(b, key...)
	return strconv.AppendInt(b, v, 10)
}

func appendOpt(b []byte, key string, o Opt) []byte {
	if !o.Set {
		return b
	}
	return appendInt(b, key, o.V)
}

func appendString(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendQuoted(append(b, key...), s)
}

func appendList(b []byte, key string, nodes []string) []byte {
	if len(nodes) == 0 {
		return b
	}
	b = append(append(b, key...), '[')
	for i, n := range nodes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, n)
	}
	return append(b, ']')
}

const hexDigits = "0123456789abcdef"

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
			i++
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		case c < utf8.RuneSelf:
			b = append(b, c)
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r) // an invalid byte becomes U+FFFD
			i += n
		}
	}
	return append(b, '"')
}
