package history

import (
	"strconv"
	"unicode/utf8"
)

// MarshalJSON is the event as one line of JSON, the inverse of [Event.UnmarshalJSON].
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil, e.Index >= 0), nil }

// AppendJSON appends the event as one line of JSON, without the newline. The layout is
// written by hand because it stands on the path of every operation (encoding/json
// costs three times as much); [Event.UnmarshalJSON] is its inverse.
func (e *Event) AppendJSON(b []byte, withIndex bool) []byte {
	b = append(b, '{')
	if withIndex {
		b = appendInt(b, `"index":`, e.Index)
		b = append(b, ',')
	}
	b = appendInt(b, `"time":`, e.Time)
	b = append(b, `,"process":`...)
	if e.Process.IsOp() {
		b = strconv.AppendInt(b, e.Process.N, 10)
	} else {
		b = appendQuoted(b, e.Process.Name)
	}
	b = appendString(b, `,"type":`, string(e.Type))
	b = appendString(b, `,"f":`, e.F)
	b = e.Value.appendJSON(b)
	b = appendString(b, `,"error":`, e.Error)
	b = appendString(b, `,"message":`, e.Message)
	b = appendString(b, `,"party":`, e.Party)
	b = appendInt(b, `,"seq":`, e.Seq)
	b = appendString(b, `,"client":`, e.Client)
	b = appendString(b, `,"lock":`, e.Lock)
	b = appendString(b, `,"mode":`, e.Mode)
	b = appendString(b, `,"grant":`, e.Grant)
	b = appendString(b, `,"owner":`, e.Owner)
	b = appendString(b, `,"lease":`, e.Lease)
	b = appendOpt(b, `,"sent":`, e.Sent)
	b = appendOpt(b, `,"ttl":`, e.TTL)
	b = appendOpt(b, `,"deadline":`, e.Deadline)
	b = appendOpt(b, `,"token":`, e.Token)
	b = appendNodes(b, e.Nodes)
	b = appendString(b, `,"register":`, e.Register)
	b = appendString(b, `,"node":`, e.Node)
	return append(b, '}')
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

func appendNodes(b []byte, nodes []string) []byte {
	if len(nodes) == 0 {
		return b
	}
	b = append(b, `,"nodes":[`...)
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
