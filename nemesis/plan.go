package nemesis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
)

// Random is the value of `at` for faults at a random time.
const Random = "random"

// Plan is what will be tried: one list of steps for each requested fault. It is a pure
// function of its input, is saved with the run and can be replayed.
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
	// Without are the faults that a request which draws from all leaves out, and why.
	Without map[string]string `json:"without,omitempty"`
	Steps   []Step            `json:"steps,omitempty"`
}

// Step is one planned injection. Times are ns from the start of the workload.
type Step struct {
	Fault   string `json:"fault,omitempty"`   // where the request draws from several
	At      int64  `json:"at_ns"`             // not before
	Until   int64  `json:"until_ns"`          // a tied step gives up then
	Tied    bool   `json:"tied"`              // to a point
	Point   string `json:"point,omitempty"`   // empty with tied: the next point of any name
	Nth     int    `json:"nth,omitempty"`     //
	Clients string `json:"clients,omitempty"` // a count, a role, or names joined by +
	Nodes   string `json:"nodes,omitempty"`   // a count, a role, or names joined by +
	For     int64  `json:"for_ns"`            // length of the fault
	Grant   int    `json:"grant,omitempty"`   // tied: only under a grant by so many nodes; -1: by all
	Stay    int64  `json:"stay_ns,omitempty"` // how long the client of a tied server fault stays, at most
	Draw    uint64 `json:"draw"`              // seed of the choice among targets
	// Params are the fault's own parameters.
	Params catalog.Values `json:"params,omitempty"`
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

// NewPlan makes the plan of a run. A fault that cannot work is skipped with its reason;
// when it is the only one asked for, that is an error.
func NewPlan(c *Catalogue, in Input) (*Plan, error) {
	p := &Plan{Seed: in.Seed, TTL: in.TTL.Nanoseconds(), Duration: in.Duration.Nanoseconds()}
	for i, spec := range in.Specs {
		req, err := newRequest(c, in, i, spec)
		if err != nil {
			return nil, err
		}
		if req.Skipped != "" && len(in.Specs) == 1 {
			return nil, fmt.Errorf("nemesis %s cannot work here: %s", req.Fault, req.Skipped)
		}
		p.Requests = append(p.Requests, req)
	}
	return p, nil
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
	if s.Name == Chaos {
		req.Steps, req.Without, err = planChaos(c, v, in, rnd)
		return req, err
	}
	if s.Fault == nil {
		return req, nil
	}
	if req.Skipped = whyNot(s.Fault, in.Setting); req.Skipped != "" {
		return req, nil
	}
	req.Steps, err = planSteps(s, v, in, rnd)
	if err != nil {
		return req, fmt.Errorf("nemesis %s: %w", name, err)
	}
	return req, nil
}

// whyNot is the reason for which a fault cannot work here; empty when it can.
func whyNot(f Fault, s Setting) string {
	if err := f.Available(s); err != nil {
		return err.Error()
	}
	return ""
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s)) // never fails
	return h.Sum64()
}

// Draws reports whether the request may inject a fault of the family.
func (q Request) Draws(family string, c *Catalogue) bool {
	if q.Skipped != "" {
		return false
	}
	for _, st := range q.Steps {
		if s, err := c.Get(cmp.Or(st.Fault, q.Fault)); err == nil && s.Family == family {
			return true
		}
	}
	return false
}

// Jump is by how much the clocks of servers are set back at most, all steps together: keys
// that exist then live so much longer.
func (p *Plan) Jump() time.Duration {
	var sum time.Duration
	for _, q := range p.Requests {
		for _, st := range q.Steps {
			if st.Params[paramBy] == "" {
				continue
			}
			if by, err := JumpBy(st.Params, time.Duration(p.TTL)); err == nil {
				if st.Params[paramUndo] == yes {
					by = -by.Abs()
				}
				sum += max(-by, 0)
			}
		}
	}
	return sum
}

// WriteFile saves the plan as JSON.
func (p *Plan) WriteFile(path string) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
