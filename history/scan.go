package history

import "math"

func (p *parser) byte(c byte) bool {
	if p.at < len(p.line) && p.line[p.at] == c {
		p.at++
		return true
	}
	return false
}

// text is a quoted string of plain ASCII, without escapes.
func (p *parser) text() ([]byte, bool) {
	if !p.byte('"') {
		return nil, false
	}
	for i := p.at; i < len(p.line); i++ {
		switch c := p.line[i]; {
		case c == '"':
			s := p.line[p.at:i]
			p.at = i + 1
			return s, true
		case c == '\\' || c < 0x20 || c >= 0x7f:
			return nil, false
		}
	}
	return nil, false
}

// number64 is an integer without a fraction, an exponent or a zero in front.
func (p *parser) number64(v *int64) bool {
	negative := p.byte('-')
	begin := p.at
	var n uint64
	for ; p.at < len(p.line); p.at++ {
		d := p.line[p.at] - '0'
		if d > 9 {
			break
		}
		if p.at-begin >= 18 { // near the end of what fits: encoding/json knows exactly
			return false
		}
		n = n*10 + uint64(d)
	}
	digits := p.at - begin
	if digits == 0 || (digits > 1 && p.line[begin] == '0') || n > math.MaxInt64 {
		return false
	}
	if *v = int64(n); negative {
		*v = -*v
	}
	return true
}

// word takes a text of three bytes or more. The keys of an event differ from each other in the third.
func (p *parser) word(w string) bool {
	if len(p.line)-p.at >= len(w) && p.line[p.at+2] == w[2] && string(p.line[p.at:p.at+len(w)]) == w {
		p.at += len(w)
		return true
	}
	return false
}

// raw finds the end of a value by its brackets and quotes; whether it is JSON is not looked
// at.
func (p *parser) raw() ([]byte, bool) {
	begin, depth, quoted := p.at, 0, false
	for ; p.at < len(p.line); p.at++ {
		c := p.line[p.at]
		switch {
		case quoted && c == '\\':
			p.at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']' || c == ',') && depth == 0:
			return p.line[begin:p.at], true
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil, false
}
