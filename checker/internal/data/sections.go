package data

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker/internal/lin/chain"
	"github.com/lockstorm/lockstorm/history"
)

// sections appends the sections of what each grant read and wrote, each from its first read to
// its last write. Refused requests had no effect and are left out. An unknown write may have
// its effect at any later time: after one that is known it is a section of its own. A
// section that reads again what somebody else has written is two: that it was split is what
// the register's log shows.
func (in question) sections(out []chain.Section, register, lock string) []chain.Section {
	out = slices.Grow(out, len(in.ByLock[lock]))
	for _, g := range in.ByLock[lock] {
		var s section
		own := len(out)
		for _, u := range g.Uses {
			if u.Invoke.Register() != register || u.Outcome() == history.Fail {
				continue
			}
			switch {
			case u.Invoke.F() == history.FWrite:
				out = s.write(u, out)
			case u.Invoke.F() == history.FRead && u.Outcome() == history.OK:
				out = s.read(u, out)
			}
		}
		out = s.done(out)
		for i := own; in.Run.OwnFence && i < len(out); i++ {
			out[i].Call = min(out[i].Call, g.Sent()) // its transaction has begun: what it reads may be as of then
		}
	}
	return out
}

// section is what a grant did to one register, so far.
type section struct {
	chain.Section
	begun bool // it has read, or written
}

func (s *section) done(out []chain.Section) []chain.Section {
	if s.begun {
		out = append(out, s.Section)
	}
	*s = section{}
	return out
}

// read begins a section, or continues one that has not written yet.
func (s *section) read(u *history.Call, out []chain.Section) []chain.Section {
	v := u.Return.Base().V
	left := s.Base
	if s.Writes {
		left = s.Value
	}
	if s.begun && (s.Unknown || v != left) {
		out = s.done(out)
	}
	if !s.begun {
		*s = section{chain.Section{Base: v, Reads: true, Call: u.Start()}, true}
	}
	s.Ret = max(s.Ret, u.End())
	return out
}

// write adds a write to a section. What follows one of unknown outcome, or is one after a known
// one, stands by itself.
func (s *section) write(u *history.Call, out []chain.Section) []chain.Section {
	unknown := u.Outcome() == history.Info
	if before := s.Section; s.begun && before.Writes && (unknown || before.Unknown) {
		out = s.done(out)
		*s = section{chain.Section{Base: before.Value, Reads: !before.Unknown, Call: u.Start()}, true}
	}
	if !s.begun {
		*s = section{chain.Section{Call: u.Start()}, true}
	}
	s.Writes, s.Value, s.Unknown = true, u.Invoke.New().V, unknown
	s.Ret = max(s.Ret, u.End())
	return out
}
