package nemesis

import (
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Check returns an error if a saved plan cannot be carried out with this catalogue in a run like that of the input,
// or is not a plan of such a run.
func (p *Plan) Check(c *Catalogue, in Input) error {
	switch {
	case p.Seed != in.Seed || p.TTL != in.TTL.Nanoseconds() || p.Duration != in.Duration.Nanoseconds():
		return errors.New("the saved plan belongs to another configuration: its seed, ttl or duration differs from that of " +
			"this run")
	case len(p.Requests) != len(in.Specs):
		return fmt.Errorf("the saved plan contains %d faults, but the configuration of this run contains %d", len(p.Requests),
			len(in.Specs))
	}
	for i, q := range p.Requests {
		spec, err := c.Get(q.Fault)
		if err != nil {
			return err
		}
		if name, _ := catalog.Split(in.Specs[i]); q.Spec != in.Specs[i] || q.Fault != name || q.Family != spec.Family {
			return fmt.Errorf("fault number %d differs: the saved plan has %s, but the configuration of this run has %s", i+1, q.Spec,
				in.Specs[i])
		}
		for k, st := range q.Steps {
			if err := errors.Join(st.check(c, q, in), checkWhile(c, in, st.While, i)); err != nil {
				return fmt.Errorf("step %d of the fault %s: %w", k+1, q.Spec, err)
			}
		}
	}
	return nil
}

func (st Step) check(c *Catalogue, q Request, in Input) error {
	spec, err := st.injects(c, q)
	if err != nil {
		return err
	}
	if why := spec.WhyNot(in.Setting); why != "" {
		return fmt.Errorf("%s cannot work in this run: %s", spec.Name, why)
	}
	if st.At < 0 || st.Until < 0 || st.For < 0 || st.Stay < 0 || st.Nth < 0 || st.SetBack < 0 {
		return errors.New("a step in the saved plan has a negative time or count: write 0 or more")
	}
	if st.Ends != "" && st.Ends != UntilGranted {
		return fmt.Errorf("the field \"ends\" of a step in the saved plan has the unknown value %q: choose %s", st.Ends, UntilGranted)
	}
	if spec.Gates && !st.Tied {
		return fmt.Errorf("the fault %s stops a client at a point: the field \"tied\" of its step in the saved plan must be true, "+
			"but is false", spec.Name)
	}
	if st.Tied && st.Point != "" {
		if err := errors.Join(checkPoint(st.Point, in), checkMessage(st.Message, st.Point),
			checkCarried(spec, st.Point, st.Params)); err != nil {
			return err
		}
	}
	if err := checkTargets(spec, Values{paramClients: st.Clients, paramNodes: st.Nodes}, in); err != nil {
		return err
	}
	if err := st.Params.Chosen(spec.Params); err != nil || spec.Check == nil {
		return err
	}
	return spec.Check(st.Params, in)
}
