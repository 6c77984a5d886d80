package harness

import "time"

// Progress is told how a run goes. A nil Progress, and nil fields, are silent. Its functions must be safe for
// concurrent use.
type Progress struct {
	Phase func(name, text string)                       // a phase begins
	Note  func(text string)                             // a fault struck or was healed
	Tick  func(elapsed, total time.Duration, seen Seen) // several times a second, while the workload runs
}

// Seen is what the clients' logs show so far. Nothing is judged by it.
type Seen struct {
	Grants int64
	// Overlaps counts grants that came while another client held the lock and went on to hold it, of exclusive locks.
	Overlaps int64
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

func (p *Progress) tick(elapsed, total time.Duration, seen Seen) {
	if p != nil && p.Tick != nil {
		p.Tick(elapsed, total, seen)
	}
}
