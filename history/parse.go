package history

import (
	"bytes"
	"encoding/json"
)

// parser decodes lines in the layout that [Event.AppendJSON] writes: keys that are known, each
// once, no blanks, no escapes. Whatever else JSON allows, it leaves to encoding/json, so that
// both agree on every line: parse reports false, and nothing is said about the line.
type parser struct {
	line []byte
	at   int
	seen uint32              // keys, by their bits
	kept map[string]string   // strings that occurred, so that each is kept once
	last [againFields]string // the last party, client, lock and grant: mostly the next one, too
}

func newParser() *parser { return &parser{kept: map[string]string{}} }

// The bits of keys that an event must have.
const (
	bitTime = 1 << iota
	bitProcess
	bitType
	bitF
	bitOther // from here on
)

const needed = bitTime | bitProcess | bitType | bitF

// parse decodes one line without its newline into an empty event.
func (p *parser) parse(line []byte, e *Event) bool {
	p.line, p.at, p.seen = line, 0, 0
	e.Index, e.Seq = -1, -1
	if !p.byte('{') {
		return false
	}
	for {
		key, ok := p.text()
		if !ok || !p.byte(':') || !p.field(key, e) {
			return false
		}
		switch {
		case p.byte(','):
		case p.byte('}'):
			return p.at == len(p.line) && p.seen&needed == needed && e.F != ""
		default:
			return false
		}
	}
}

// once notes a key; false where it was there before.
func (p *parser) once(bit uint) bool {
	was := p.seen & (1 << bit)
	p.seen |= 1 << bit
	return was == 0
}

func (p *parser) opt(o *Opt) bool {
	o.Set = true
	return p.number(&o.V)
}

func (p *parser) process(v *Process) bool {
	if p.at < len(p.line) && p.line[p.at] != '"' {
		return p.number(&v.N)
	}
	return p.keep(&v.Name) && v.Name != ""
}

func (p *parser) kind(v *Type) bool {
	s, ok := p.text()
	if !ok {
		return false
	}
	switch string(s) {
	case string(Invoke):
		*v = Invoke
	case string(OK):
		*v = OK
	case string(Fail):
		*v = Fail
	case string(Info):
		*v = Info
	default:
		return false
	}
	return true
}

// function is one of the F constants, mostly; all of them are known by their text alone.
func (p *parser) function(v *string) bool {
	s, ok := p.text()
	if !ok {
		return false
	}
	switch string(s) {
	case FAcquire:
		*v = FAcquire
	case FRelease:
		*v = FRelease
	case FRead:
		*v = FRead
	case FWrite:
		*v = FWrite
	case FRenew:
		*v = FRenew
	default:
		*v = p.intern(s)
	}
	return true
}

// intern keeps one copy of each string.
func (p *parser) intern(s []byte) string {
	if old, ok := p.kept[string(s)]; ok {
		return old
	}
	kept := string(s)
	p.kept[kept] = kept
	return kept
}

func (p *parser) keep(v *string) bool {
	s, ok := p.text()
	if ok {
		*v = p.intern(s)
	}
	return ok
}

// own is a string that is hardly ever there twice.
func (p *parser) own(v *string) bool {
	s, ok := p.text()
	*v = string(s)
	return ok
}

// again is a string that is mostly the same as in the line before.
func (p *parser) again(which int, v *string) bool {
	s, ok := p.text()
	if !ok {
		return false
	}
	if p.last[which] != string(s) {
		p.last[which] = p.intern(s)
	}
	*v = p.last[which]
	return true
}

func (p *parser) list(v *[]string) bool {
	if !p.byte('[') {
		return false
	}
	for {
		s, ok := p.text()
		if !ok {
			return false
		}
		*v = append(*v, p.intern(s))
		if p.byte(']') {
			return true
		}
		if !p.byte(',') {
			return false
		}
	}
}

// value is {base, new} of a read or a write, else any JSON, which is kept as it is.
func (p *parser) value(e *Event) bool {
	if e.F != FRead && e.F != FWrite {
		raw, ok := p.raw()
		if !ok || !json.Valid(raw) || bytes.Equal(raw, []byte("null")) {
			return false
		}
		e.Value.JSON = bytes.Clone(raw)
		return true
	}
	if !p.word(`{"base":`) || !p.opt(&e.Value.Base) {
		return false
	}
	if p.word(`,"new":`) && !p.opt(&e.Value.New) {
		return false
	}
	return p.byte('}')
}
