package checker

import (
	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/history"
)

// section is what a grant did to one register, so far.
type section struct {
	sectionOp
	from, to int64
	begun    bool // it has read, or written
}

// sections makes operations of what each grant read and wrote: one of each section. Refused
// requests had no effect and are left out. An unknown write may have its effect at any later
// time: after one that is known it is an operation of its own. A section that reads again what
// somebody else has written is two: that it was split is what the register's log shows.
func (in *Input) sections(register, lock string) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, g := range in.ByLock[lock] {
		ops = append(ops, sectionsOf(g, register)...)
	}
	return ops
}

func sectionsOf(g *history.Grant, register string) (ops []porcupine.Operation) {
	var s section
	done := func() {
		if s.begun {
			ops = append(ops, porcupine.Operation{Input: s.sectionOp, Call: s.from, Return: s.to})
		}
		s = section{}
	}
	for _, u := range g.Uses {
		if u.Invoke.Register != register || u.Outcome() == history.Fail {
			continue
		}
		switch u.Invoke.F {
		case history.FRead:
			if u.Outcome() != history.OK {
				continue
			}
			v := u.Return.Value.Base.V
			if again := s.begun && ((s.writes && (s.unknown || v != s.value)) || (!s.writes && v != s.base)); again {
				done()
			}
			if !s.begun {
				s = section{sectionOp: sectionOp{base: v}, from: u.Start(), begun: true}
			}
			s.to = max(s.to, u.End())
		case history.FWrite:
			s.write(u, done)
		}
	}
	done()
	return ops
}

// write adds a write to a section. What follows one of unknown outcome, or is one after a known
// one, stands by itself.
func (s *section) write(u *history.Call, done func()) {
	unknown := u.Outcome() == history.Info
	before := s.value
	if apart := s.begun && s.writes && (unknown || s.unknown); apart {
		blind := s.unknown
		done()
		*s = section{sectionOp: sectionOp{base: before, blind: blind}, from: u.Start(), begun: true}
	}
	if !s.begun {
		*s = section{sectionOp: sectionOp{blind: true}, from: u.Start(), begun: true}
	}
	s.writes, s.value, s.unknown = true, u.Invoke.Value.New.V, unknown
	s.to = max(s.to, u.End())
}
