package history

import (
	"bytes"
	"encoding/json"
)

// parser decodes lines in the layout that [Line.AppendJSON] writes: its keys in its order, no blanks, no escapes. Whatever
// else JSON allows, it leaves to encoding/json, so that both agree on every line: parse reports false, and nothing is said
// about the line.
type parser struct {
	*packer
	line  []byte
	at    int
	again [keptFields]uint32 // of each field, which is mostly the next one, too
	words []string           // of a list
}

func newParser() *parser { return &parser{packer: newPacker()} }

// parse decodes one line without its newline into an empty event.
func (p *parser) parse(line []byte, e *Event) bool {
	p.line, p.at = line, 0
	p.begin()
	e.Index, e.Seq = -1, -1
	if !p.byte('{') || !p.fields(e) || !p.byte('}') || p.at != len(line) || e.f == 0 && p.rare.f == 0 {
		return false
	}
	p.seal(e)
	return true
}

func (p *parser) opt(o *Opt) bool {
	o.Set = true
	return p.number64(&o.V)
}

func (p *parser) function(e *Event) bool {
	s, ok := p.text()
	if e.f = functionNumbers[string(s)]; e.f == 0 {
		p.rare.f = p.intern(s)
	}
	return ok
}

func (p *parser) token(e *Event) bool {
	e.has |= hasToken
	return p.number64(&e.token)
}

func (p *parser) process(e *Event) bool {
	if p.at < len(p.line) && p.line[p.at] != '"' {
		return p.number64(&e.n)
	}
	s, ok := p.text()
	e.process = p.intern(s)
	return ok && len(s) > 0
}

func (p *parser) kindOf(v *kind) bool {
	switch {
	case p.word(`"invoke"`):
		*v = 1
	case p.word(`"ok"`):
		*v = 2
	case p.word(`"fail"`):
		*v = 3
	case p.word(`"info"`):
		*v = 4
	default:
		return false
	}
	return true
}

// said is the text of a number.
func (p *parser) said(n uint32) string {
	if n == 0 {
		return ""
	}
	return *p.texts.at(n)
}

// keep is a text that is often the same as the last one of its field.
func (p *parser) keep(field int, v *uint32) bool {
	*v = p.again[field]
	last, begin := p.said(*v), p.at+1
	end := begin + len(last)
	if end < len(p.line) && p.line[p.at] == '"' && string(p.line[begin:end]) == last && p.line[end] == '"' {
		p.at = end + 1
		return true
	}
	s, ok := p.text()
	if !ok {
		return false
	}
	*v = p.intern(s)
	p.again[field] = *v
	return true
}

// own is a text that is hardly ever there twice.
func (p *parser) own(v *uint32) bool {
	s, ok := p.text()
	*v = p.add(string(s))
	return ok
}

func (p *parser) names(v *uint32) bool {
	if !p.byte('[') {
		return false
	}
	p.words = p.words[:0]
	for {
		s, ok := p.text()
		if !ok {
			return false
		}
		p.words = append(p.words, p.said(p.intern(s)))
		if p.byte(']') {
			*v = p.list(p.words)
			return true
		}
		if !p.byte(',') {
			return false
		}
	}
}

// value is {base, new} of a read or a write, else any JSON, which is kept as it is.
func (p *parser) value(e *Event) bool {
	if e.F() != FRead && e.F() != FWrite {
		raw, ok := p.raw()
		if !ok || !json.Valid(raw) || bytes.Equal(raw, []byte("null")) {
			return false
		}
		p.rare.json = p.add(string(raw))
		return true
	}
	if !p.word(`{"base":`) || !p.number64(&e.base) {
		return false
	}
	e.has |= hasBase
	if p.word(`,"new":`) {
		if !p.number64(&e.new) {
			return false
		}
		e.has |= hasNew
	}
	return p.byte('}')
}
