package nemesis

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/params"
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
	Steps   []Step `json:"steps,omitempty"`
}

// Step is one planned injection. Times are ns from the start of the workload.
type Step struct {
	At      int64  `json:"at_ns"`             // not before
	Until   int64  `json:"until_ns"`          // a tied step gives up then
	Tied    bool   `json:"tied"`              // to a point
	Point   string `json:"point,omitempty"`   // empty with tied: the next point of any name
	Nth     int    `json:"nth,omitempty"`     //
	Clients string `json:"clients,omitempty"` // a count, a role, or names joined by +
	Nodes   string `json:"nodes,omitempty"`   // a count, a role, or names joined by +
	For     int64  `json:"for_ns"`            // length of the fault
	Stay    int64  `json:"stay_ns,omitempty"` // how long the client of a tied server fault stays, at most
	Draw    uint64 `json:"draw"`              // seed of the choice among targets
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
	name, rest := params.Split(spec)
	s, err := c.Get(name)
	if err != nil {
		return Request{}, err
	}
	v, err := params.Parse("nemesis "+name, rest, s.Params)
	if err != nil {
		return Request{}, err
	}
	req := Request{Spec: spec, Fault: name, Family: s.Family}
	if s.Fault == nil {
		return req, nil
	}
	if req.Skipped = whyNot(s.Fault, in.Setting); req.Skipped != "" {
		return req, nil
	}
	req.Steps, err = planSteps(s, v, in, rand.New(rand.NewPCG(in.Seed, hash(spec)+uint64(index))))
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

// planSteps lays out the steps: the first soon after the start, then one every period,
// each starting early enough to end before the workload does.
func planSteps(s Spec, v params.Values, in Input, rnd *rand.Rand) ([]Step, error) {
	length, err := v.Length("for", in.TTL)
	if err != nil {
		return nil, err
	}
	every, err := v.Length("every", in.TTL)
	if err != nil {
		return nil, err
	}
	if every <= 0 {
		return nil, errors.New("every must be longer than 0")
	}
	stay, err := v.Length("stay", in.TTL)
	if err != nil {
		return nil, err
	}
	nth, err := v.Count("nth", 1)
	if err != nil {
		return nil, err
	}
	at := v["at"]
	if known := append(slices.Clone(in.Points), in.Own...); at != "" && at != Random && !slices.Contains(known, at) {
		return nil, fmt.Errorf("at=%s is no point of this run: choose %s, or one of %s", at, Random, strings.Join(known, ", "))
	}
	if err := checkTargets(v, in); err != nil {
		return nil, err
	}
	first := min(in.TTL*3/10, in.Duration/4)
	last := in.Duration - length
	if last < first {
		return nil, fmt.Errorf("it lasts %v, for which a run of %v is too short: use --time %v or more, or a shorter for=",
			length, in.Duration, (length + length/3 + in.TTL).Round(100*time.Millisecond))
	}
	var steps []Step
	for k := 0; ; k++ {
		begin := first + time.Duration(k)*every
		if begin > last || begin >= in.Duration {
			break
		}
		where := at
		if where == "" {
			where = s.Strikes(k, in.Own)
		}
		st := Step{
			// A tied step waits for a client for one ttl at least, and strikes early enough to last
			// its full length.
			At: begin.Nanoseconds(), Until: min(begin+max(every, in.TTL), last).Nanoseconds(),
			Nth: nth, Clients: v["clients"], Nodes: v["nodes"],
			For: length.Nanoseconds(), Stay: stay.Nanoseconds(), Draw: rnd.Uint64(),
		}
		st.aim(s, where, every, rnd)
		steps = append(steps, st)
	}
	return steps, nil
}

// checkTargets refuses targets that cannot exist.
func checkTargets(v params.Values, in Input) error {
	if err := checkSelector("clients", v["clients"], in.Clients, RoleHolder); err != nil {
		return err
	}
	return checkSelector("nodes", v["nodes"], in.Nodes, RoleMaster)
}

// checkSelector reads a count, a role or names joined by +.
func checkSelector(param, selector string, names []string, role string) error {
	if selector == "" || selector == role {
		return nil
	}
	if n, err := strconv.Atoi(selector); err == nil {
		if n < 1 || n > len(names) {
			return fmt.Errorf("%s=%d: choose from 1 to %d", param, n, len(names))
		}
		return nil
	}
	for _, name := range strings.Split(selector, "+") {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s=%s: there is no %q at the start of the run: choose a number, %s, or of %s joined by +",
				param, selector, name, role, strings.Join(names, ", "))
		}
	}
	return nil
}

// aim ties the step to a point or moves it to a random time within its period.
func (st *Step) aim(s Spec, where string, every time.Duration, rnd *rand.Rand) {
	_, gates := s.Fault.(Gater)
	switch {
	case where != Random:
		st.Tied, st.Point = true, where
	default:
		st.Tied = gates // the next point of any name, at a random time
		st.At = min(st.At+rnd.Int64N(every.Nanoseconds()/5+1), st.Until)
	}
	if !st.Tied {
		st.Nth = 0
	}
	if s.Family == history.FamilyClient || !st.Tied {
		st.Stay = 0
	}
}

// WriteFile saves the plan as JSON.
func (p *Plan) WriteFile(path string) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
