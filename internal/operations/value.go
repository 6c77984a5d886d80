package operations

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"olympos.io/encoding/edn"
)

// Number is a number that neither an int64 nor a float64 holds exactly: its digits.
type Number string

// plain returns a value without the specials of its format: nil, bool, int64, float64, string, Number, []any or
// map[string]any. A set becomes the list of its elements, a tagged value a list of tag and value.
func plain(v any) any {
	switch x := v.(type) {
	case json.Number:
		return numeral(x)
	case *any: // a key of a map that could not be one in Go
		return plain(*x)
	case edn.Tag:
		return []any{"#" + x.Tagname, plain(x.Value)}
	case *big.Int:
		return Number(x.String())
	case *big.Float:
		return Number(x.Text('g', -1))
	case edn.Keyword, edn.Symbol:
		return strings.TrimPrefix(fmt.Sprint(x), ":")
	case rune:
		return string(x)
	case int:
		return int64(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = plain(x[i])
		}
		return out
	case map[string]any:
		return plainMap(x)
	case map[any]bool:
		return plainSet(x)
	case map[any]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[nameOf(plain(k))] = plain(e)
		}
		return out
	case nil, bool, int64, float64, string:
		return x
	}
	return fmt.Sprint(v)
}

func plainMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = plain(v)
	}
	return out
}

func plainSet(set map[any]bool) []any {
	out := []any{"#{}"}
	for k := range set {
		out = append(out, plain(k))
	}
	slices.SortFunc(out[1:], func(a, b any) int { return strings.Compare(Canonical(a), Canonical(b)) })
	return out
}

// nameOf is the name of a field.
func nameOf(key any) string {
	if s, ok := key.(string); ok {
		return s
	}
	return Canonical(key)
}

func numeral(x json.Number) any {
	if n, err := x.Int64(); err == nil {
		return n
	}
	if !strings.ContainsAny(x.String(), ".eE") {
		return Number(x.String())
	}
	if f, err := x.Float64(); err == nil {
		return f
	}
	return Number(x.String())
}

// Canonical is a text that is the same for two values if, and only if, they are equal. A number is equal to the same number in
// digits at the top, so that a program that writes "3" and reads 3 is not wrong.
func Canonical(v any) string {
	if s, ok := v.(string); ok && s != "nil" && s != "true" && s != "false" {
		return s
	}
	return canonical(v)
}

func canonical(v any) string {
	switch x := v.(type) {
	case nil:
		return "nil"
	case string:
		return strconv.Quote(x)
	case float64:
		const exact = 1 << 53
		if x == float64(int64(x)) && x < exact && x > -exact {
			return strconv.FormatInt(int64(x), 10)
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	case []any:
		parts := make([]string, len(x))
		for i := range x {
			parts[i] = canonical(x[i])
		}
		return "[" + strings.Join(parts, " ") + "]"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(x)) {
			parts = append(parts, strconv.Quote(k)+" "+canonical(x[k]))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprint(v)
}

const longest = 80 // of a name or a value in a message

// Shown is a text from a file as messages quote it: on one line, and not too long.
func Shown(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` {
		s = q
	}
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}

// Text is a value in a message.
func Text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return Shown(fmt.Sprint(v))
	}
	if r := []rune(string(b)); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return string(b)
}

// tooLarge reports whether EDN has a number with an exponent that would take for ever to write out.
func tooLarge(text []byte) bool {
	const most = 4 // digits of an exponent
	quoted := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted || (b != 'e' && b != 'E') || i == 0 || text[i-1] < '.' || text[i-1] > '9':
		default:
			k := i + 1
			for k < len(text) && (text[k] == '+' || text[k] == '-') {
				k++
			}
			from := k
			for k < len(text) && text[k] >= '0' && text[k] <= '9' {
				k++
			}
			if k-from > most {
				return true
			}
		}
	}
	return false
}
