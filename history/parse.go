package history

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
)

// parser decodes lines in the layout that [Event.AppendJSON] writes: its keys in its order, no blanks, no escapes. Whatever
// else JSON allows, it leaves to encoding/json, so that both agree on every line: parse reports false, and nothing is said
// about the line.
type parser struct {
	line []byte
	at   int
	seed maphash.Seed
	kept [keptStrings]string // strings that occurred, by their hashes: most of those in use are there once
	last [keptFields]string  // of each field, which is mostly the next one, too
}

// keptStrings is a power of two: names of grants, leases, locks and parties that are in use at a time.
const keptStrings = 1 << 12

func newParser() *parser { return &parser{seed: maphash.MakeSeed()} }

// parse decodes one line without its newline into an empty event.
func (p *parser) parse(line []byte, e *Event) bool {
	p.line, p.at = line, 0
	e.Index, e.Seq = -1, -1
	return p.byte('{') && p.fields(e) && p.byte('}') && p.at == len(line) && e.F != ""
}

func (p *parser) opt(o *Opt) bool {
	o.Set = true
	return p.number(&o.V)
}

func (p *parser) process(v *Process) bool {
	if p.at < len(p.line) && p.line[p.at] != '"' {
		return p.number(&v.N)
	}
	s, ok := p.text()
	v.Name = p.intern(s)
	return ok && v.Name != ""
}

func (p *parser) kind(v *Type) bool {
	switch {
	case p.word(`"invoke"`):
		*v = Invoke
	case p.word(`"ok"`):
		*v = OK
	case p.word(`"info"`):
		*v = Info
	case p.word(`"fail"`):
		*v = Fail
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

// intern returns a string that occurred lately again in place of a copy.
func (p *parser) intern(s []byte) string {
	kept := &p.kept[maphash.Bytes(p.seed, s)%keptStrings]
	if *kept != string(s) {
		*kept = string(s)
	}
	return *kept
}

// keep is a string that is often the same as the last one of its field.
func (p *parser) keep(field int, v *string) bool {
	*v = p.last[field]
	begin := p.at + 1
	if end := begin + len(*v); end < len(p.line) && p.line[p.at] == '"' && string(p.line[begin:end]) == *v && p.line[end] == '"' {
		p.at = end + 1
		return true
	}
	s, ok := p.text()
	if !ok {
		return false
	}
	*v = p.intern(s)
	p.last[field] = *v
	return true
}

// own is a string that is hardly ever there twice.
func (p *parser) own(v *string) bool {
	s, ok := p.text()
	*v = string(s)
	return ok
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
