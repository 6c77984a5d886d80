package proc

import "sync"

// Pauses counts who keeps something stopped: it stops with the first and goes on with the last, so that what
// one fault heals stays stopped by another.
type Pauses struct {
	mu sync.Mutex
	n  int
}

// Begin stops it, and says whether it was running before. Only a stop that succeeded counts.
func (p *Pauses) Begin(stop func(running bool) (proof string, err error)) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	proof, err := stop(p.n == 0)
	if err == nil {
		p.n++
	}
	return proof, err
}

// End lets it go on where no other pause is left; what is stopped by another one says so by its name.
func (p *Pauses) End(name string, resume func() (proof string, err error)) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n = max(p.n-1, 0); p.n > 0 {
		return "stays stopped, because another pause is still active (" + name + ")", nil
	}
	return resume()
}

// Over lets it go on whoever stopped it; of what is not stopped nothing is asked.
func (p *Pauses) Over(resume func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n == 0 {
		return nil
	}
	p.n = 0
	return resume()
}
