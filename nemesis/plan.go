package nemesis

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/files"
)

// Plan is what a run will inject: one list of steps for each requested fault. It is a pure function of its input, is
// saved with the run and can be replayed.
type Plan struct {
	Seed     uint64    `json:"seed"`
	TTL      int64     `json:"ttl_ns"`
	Duration int64     `json:"duration_ns"`
	Requests []Request `json:"requests"`
}

// Request is one --nemesis with its steps, carried out one after the other.
type Request struct {
	Spec    string `json:"spec"`  // as given
	Fault   string `json:"fault"` // name in the catalogue
	Family  string `json:"family"`
	Skipped string `json:"skipped,omitempty"` // why it cannot work in this run
	// Without has the faults that a request which draws from all leaves out, and why.
	Without map[string]string `json:"without,omitempty"`
	Steps   []Step            `json:"steps,omitempty"`
}

// Step is one planned injection. Times are ns from the start of the workload.
type Step struct {
	Fault   string `json:"fault,omitempty"`       // where the request draws from several
	At      int64  `json:"at_ns"`                 // not before
	Until   int64  `json:"until_ns"`              // a tied step gives up then
	Tied    bool   `json:"tied"`                  // to a point
	Point   string `json:"point,omitempty"`       // empty with tied: the next point of any name
	Nth     int    `json:"nth,omitempty"`         //
	Message string `json:"message,omitempty"`     // tied to a message: part of the request; empty: any request
	Clients string `json:"clients,omitempty"`     // a count, a role, or names joined by +
	Nodes   string `json:"nodes,omitempty"`       // a count, a role, or names joined by +
	For     int64  `json:"for_ns"`                // length of the fault
	Grant   int    `json:"grant,omitempty"`       // tied: only under a grant by so many nodes; -1: by all
	Stay    int64  `json:"stay_ns,omitempty"`     // how long the client of a tied server fault stays, at most
	SetBack int64  `json:"set_back_ns,omitempty"` // by how much stores may keep their data longer
	Ends    string `json:"ends,omitempty"`        // granted: with the next grant to another client, or after For; empty: after For
	// only while a fault of the request with this number, from 1, is active; 0: at any time
	While int    `json:"while,omitempty"`
	Draw  uint64 `json:"draw"` // seed of the choice among targets
	// Params are the fault's own parameters.
	Params Values `json:"params,omitempty"`
}

// Input is all that a plan depends on.
type Input struct {
	Seed     uint64
	Specs    []string // as given on the command line
	TTL      time.Duration
	Duration time.Duration
	Setting  Setting
	Points   []string // that every section has
	Own      []string // of the backend's own protocol
	Clients  []string // names of the clients at the start
	Nodes    []string // names of the servers
}

// NewPlan makes the plan of a run. It skips a fault that cannot work and gives the reason, but returns an error if no
// other fault was asked for.
func NewPlan(c *Catalogue, in Input) (*Plan, error) {
	p := &Plan{Seed: in.Seed, TTL: in.TTL.Nanoseconds(), Duration: in.Duration.Nanoseconds()}
	for i, spec := range in.Specs {
		req, err := newRequest(c, in, i, spec)
		if err != nil {
			return nil, err
		}
		if req.Skipped != "" && len(in.Specs) == 1 {
			return nil, fmt.Errorf("the fault %s cannot work in this run: %s", req.Fault, req.Skipped)
		}
		p.Requests = append(p.Requests, req)
	}
	return p, nil
}

// Drawn is the result of a request that draws from all faults: its steps, each with the name of its fault, and the
// faults that cannot work, with the reasons.
type Drawn struct {
	Steps   []Step
	Without map[string]string
}

func newRequest(c *Catalogue, in Input, index int, spec string) (Request, error) {
	name, rest := catalog.Split(spec)
	s, err := c.Get(name)
	if err != nil {
		return Request{}, err
	}
	v, err := catalog.Parse("nemesis "+name, rest, s.Params)
	if err != nil {
		return Request{}, err
	}
	req := Request{Spec: spec, Fault: name, Family: s.Family}
	rnd := rand.New(rand.NewPCG(in.Seed, hash(spec)+uint64(index)))
	if s.Draw != nil {
		d, err := s.Draw(c, v, in, rnd)
		req.Steps, req.Without = d.Steps, d.Without
		return req, errors.Join(err, req.checkFaults(c))
	}
	if s.Fault == nil {
		return req, nil
	}
	if req.Skipped = s.WhyNot(in.Setting); req.Skipped != "" {
		return req, nil
	}
	req.Steps, err = planSteps(s, v, in, rnd)
	if err == nil && len(req.Steps) > 0 {
		err = checkWhile(c, in, req.Steps[0].While, index)
	}
	if err != nil {
		return req, fmt.Errorf("nemesis %s: %w", name, err)
	}
	return req, nil
}

// checkWhile wants a step that waits for another fault to wait for an earlier one, which lasts for a time.
func checkWhile(c *Catalogue, in Input, number, index int) error {
	if number == 0 {
		return nil
	}
	if number < 0 || number > index {
		return fmt.Errorf("while=%d: give the number of an earlier fault in the same command (the first fault is number 1)", number)
	}
	name, rest := catalog.Split(in.Specs[number-1])
	other, err := c.Get(name)
	if err != nil {
		return err
	}
	if other.Draw != nil {
		return nil
	}
	v, err := catalog.Parse("nemesis "+name, rest, other.Params)
	if err != nil {
		return err
	}
	if !other.lasts(v) {
		return fmt.Errorf("while=%d: the fault %s has no duration, so no other fault can act during this fault", number,
			in.Specs[number-1])
	}
	if why := other.WhyNot(in.Setting); why != "" {
		return fmt.Errorf("while=%d: the fault %s cannot work in this run: %s", number, other.Name, why)
	}
	return nil
}

// checkFaults refuses steps of which nobody knows how they hurt.
func (q Request) checkFaults(c *Catalogue) error {
	for i, st := range q.Steps {
		if _, err := st.injects(c, q); err != nil {
			return fmt.Errorf("step %d of the fault %s: %w", i+1, q.Spec, err)
		}
	}
	return nil
}

// injects is the spec of the fault of a step.
func (st Step) injects(c *Catalogue, q Request) (Spec, error) {
	spec, err := c.Get(cmp.Or(st.Fault, q.Fault))
	if err == nil && spec.Fault == nil {
		err = fmt.Errorf("a step must inject exactly one fault, but %s is not a single fault", spec.Name)
	}
	return spec, err
}

// WhyNot returns the reason why a fault cannot work in a setting; empty: it can.
func (s Spec) WhyNot(in Setting) string {
	if in.Theirs != "" && s.Family != history.FamilyClient && (s.Family != history.FamilyLink || s.Whom&Clients == 0) {
		return in.Theirs
	}
	if err := s.Fault.Available(in); err != nil {
		return err.Error()
	}
	return ""
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s)) // never fails
	return h.Sum64()
}

// Of returns whether a fault is of a family.
func Of(family string) func(Spec) bool { return func(s Spec) bool { return s.Family == family } }

// Draws reports whether the request may inject a fault of a kind.
func (q Request) Draws(kind func(Spec) bool, c *Catalogue) bool {
	if q.Skipped != "" {
		return false
	}
	for _, st := range q.Steps {
		if s, err := c.Get(cmp.Or(st.Fault, q.Fault)); err == nil && kind(s) {
			return true
		}
	}
	return false
}

// SetBack returns by how much stores may keep their data longer, for all steps together.
func (p *Plan) SetBack() (sum time.Duration) {
	for _, q := range p.Requests {
		for _, st := range q.Steps {
			sum += time.Duration(st.SetBack)
		}
	}
	return sum
}

// WriteFile saves the plan as JSON.
func (p *Plan) WriteFile(path string) error {
	return files.WriteJSON(path, p)
}
