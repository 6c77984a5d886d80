package harness

import "time"

// Progress is told how a run goes. A nil Progress, and nil fields, are silent. The
// functions may be called at the same time.
type Progress struct {
	Phase func(name, text string)                          // a phase begins
	Note  func(text string)                                // a fault struck or was healed
	Tick  func(elapsed, total time.Duration, grants int64) // several times a second, while the workload runs
}

func (p *Progress) phase(name, text string) {
	if p != nil && p.Phase != nil {
		p.Phase(name, text)
	}
}

func (p *Progress) note(text string) {
	if p != nil && p.Note != nil {
		p.Note(text)
	}
}

func (p *Progress) tick(elapsed, total time.Duration, grants int64) {
	if p != nil && p.Tick != nil {
		p.Tick(elapsed, total, grants)
	}
}
