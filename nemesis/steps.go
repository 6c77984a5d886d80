package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
)

// layout is how the steps of one fault are laid out: its parameters, read and checked.
type layout struct {
	spec   Spec
	in     Input
	values catalog.Values
	length time.Duration
	every  time.Duration
	stay   time.Duration
	nth    int
	grant  int
	last   time.Duration // the latest start that leaves room for the full length
}

func newLayout(s Spec, v catalog.Values, in Input) (*layout, error) {
	l := &layout{spec: s, in: in, values: v}
	var errs [5]error
	l.length, errs[0] = v.Length("for", in.TTL)
	l.every, errs[1] = v.Length("every", in.TTL)
	l.stay, errs[2] = v.Length("stay", in.TTL)
	l.nth, errs[3] = v.Count("nth", 1)
	l.grant, errs[4] = grantedBy(v, in)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if l.every <= 0 {
		return nil, errors.New("every must be longer than 0")
	}
	at := v["at"]
	if known := append(slices.Clone(in.Points), in.Own...); at != "" && at != Random && !slices.Contains(known, at) {
		return nil, fmt.Errorf("at=%s is no point of this run: choose %s, or one of %s", at, Random, strings.Join(known, ", "))
	}
	if err := errors.Join(checkTargets(s, v, in), checkVoters(v, in)); err != nil {
		return nil, err
	}
	l.last = in.Duration - l.length - s.takes(in.TTL)
	return l, checkOwn(s, v, in)
}

// planSteps lays out the steps: the first soon after the start, then one every period,
// each starting early enough to end before the workload does.
func planSteps(s Spec, v catalog.Values, in Input, rnd *rand.Rand) ([]Step, error) {
	l, err := newLayout(s, v, in)
	if err != nil {
		return nil, err
	}
	first := firstStrike(in)
	if l.last < first {
		return nil, fmt.Errorf("it lasts %v, for which a run of %v is too short: use --time %v or more, or a shorter for=",
			l.length+s.takes(in.TTL), in.Duration, (l.length + l.length/3 + s.takes(in.TTL) + in.TTL).Round(100*time.Millisecond))
	}
	var steps []Step
	for k := 0; ; k++ {
		begin := first + time.Duration(k)*l.every
		if begin > l.last || begin >= in.Duration {
			break
		}
		steps = append(steps, l.step(k, begin, rnd))
	}
	return steps, nil
}

// step is the k-th one, not before begin.
func (l *layout) step(k int, begin time.Duration, rnd *rand.Rand) Step {
	where := l.values["at"]
	if where == "" {
		where = l.spec.Strikes(k, l.in.Own)
		if where == Random && byVote(l.values) {
			where = pointGranted // at a random time nobody was granted anything just now
		}
	}
	st := Step{
		// A tied step waits for a client for one ttl at least, and strikes early enough to last
		// its full length.
		At: begin.Nanoseconds(), Until: min(begin+max(l.every, l.in.TTL), l.last).Nanoseconds(),
		Nth: l.nth, Grant: l.grant, Clients: l.values["clients"], Nodes: l.values["nodes"],
		For: l.length.Nanoseconds(), Stay: l.stay.Nanoseconds(), Draw: rnd.Uint64(), Params: ownParams(l.values),
	}
	l.aim(&st, where, rnd)
	return st
}

// aim ties the step to a point or moves it to a random time within its period.
func (l *layout) aim(st *Step, where string, rnd *rand.Rand) {
	_, gates := l.spec.Fault.(Gater)
	switch {
	case where != Random:
		st.Tied, st.Point = true, where
	default:
		st.Tied = gates // the next point of any name, at a random time
		st.At = min(st.At+rnd.Int64N(min(l.every/5, l.in.TTL/2).Nanoseconds()+1), st.Until)
	}
	if !st.Tied {
		st.Nth, st.Grant, st.Stay = 0, 0, 0
	}
}

// grantedBy reads by how many nodes the grant must be that a tied fault strikes.
func grantedBy(v catalog.Values, in Input) (int, error) {
	switch v[paramGrant] {
	case "", grantAny:
		return 0, nil
	case grantAll:
		return AllNodes, nil
	}
	n, err := v.Count(paramGrant, 0)
	if err != nil || n > len(in.Nodes) {
		return 0, fmt.Errorf("%s=%s: choose %s, %s, or a number from 1 to %d", paramGrant, v[paramGrant], grantAny, grantAll, len(in.Nodes))
	}
	return n, nil
}

// firstStrike is when the first step may begin: soon, and not before clients are at work.
func firstStrike(in Input) time.Duration { return min(in.TTL*3/10, in.Duration/4) }

// shared are the parameters that every fault has or may have; the others are its own.
var shared = []string{"at", "nth", "every", "for", "clients", "nodes", "stay", paramGrant}

// ownParams are the parameters that only this fault knows.
func ownParams(v catalog.Values) catalog.Values {
	own := catalog.Values{}
	for name, val := range v {
		if !slices.Contains(shared, name) {
			own[name] = val
		}
	}
	if len(own) == 0 {
		return nil
	}
	return own
}

// Checker is a Fault that knows more about its own parameters than their names.
type Checker interface {
	Check(own catalog.Values, ttl time.Duration) error
}

func checkOwn(s Spec, v catalog.Values, in Input) error {
	if c, ok := s.Fault.(Checker); ok {
		return c.Check(ownParams(v), in.TTL)
	}
	return nil
}

// pointGranted is where a grant is fresh.
const pointGranted = "acquired"

// byVote reports whether a fault depends on which nodes granted the lock.
func byVote(v catalog.Values) bool {
	_, err := strconv.Atoi(v[paramGrant])
	return v["nodes"] == RoleGranted || err == nil
}

// checkVoters refuses to look for nodes that granted where nobody tells them.
func checkVoters(v catalog.Values, in Input) error {
	switch {
	case !byVote(v):
		return nil
	case !in.Setting.Voters:
		return fmt.Errorf("backend %s does not say which servers granted a lock: leave out nodes=%s and a number in %s=", in.Setting.Backend, RoleGranted, paramGrant)
	case v["at"] == "before-acquire" || v["at"] == "waiting":
		return fmt.Errorf("at %s nobody has granted the client a lock yet: name a later point, or leave out nodes=%s and a number in %s=", v["at"], RoleGranted, paramGrant)
	case v["at"] == Random:
		return fmt.Errorf("at a random time no servers have granted a lock just now: name a point instead of at=%s, or leave out nodes=%s and a number in %s=", Random, RoleGranted, paramGrant)
	default:
		return nil
	}
}

// checkTargets refuses targets that cannot exist.
func checkTargets(s Spec, v catalog.Values, in Input) error {
	roles := []string{RoleHolder, RoleAll, RoleHalf}
	if s.Whom&Clients == 0 { // it hurts servers: whose points count
		if sel := v["clients"]; sel != "" && pinned(sel) == nil {
			return fmt.Errorf("clients=%s: here they are those whose points count: choose of %s joined by +", sel, strings.Join(in.Clients, ", "))
		}
	}
	if _, gates := s.Fault.(Gater); gates && (v["clients"] == RoleAll || v["clients"] == RoleHalf || howMany(v["clients"], 1) > 1) {
		return fmt.Errorf("clients=%s: it holds the one client that stands at the point: choose 1, %s, or names joined by + (one of them)", v["clients"], RoleHolder)
	}
	if _, master := s.Fault.(OfMaster); master {
		if _, err := strconv.Atoi(v["nodes"]); err == nil || slices.Contains([]string{RoleReplica, RoleAll, RoleGranted}, v["nodes"]) {
			return fmt.Errorf("nodes=%s: it strikes the master and nobody else: leave nodes=%s", v["nodes"], RoleMaster)
		}
	}
	if err := checkSelector("clients", v["clients"], in.Clients, len(in.Clients), roles); err != nil {
		return err
	}
	return checkSelector("nodes", v["nodes"], in.Nodes, in.Setting.Data, []string{RoleMaster, RoleReplica, RoleAll, RoleGranted})
}

// checkSelector reads a count, a role or names joined by +.
func checkSelector(param, selector string, names []string, most int, roles []string) error {
	if selector == "" || slices.Contains(roles, selector) {
		return nil
	}
	if n, err := strconv.Atoi(selector); err == nil {
		if n < 1 || n > most {
			return fmt.Errorf("%s=%d: choose from 1 to %d", param, n, most)
		}
		return nil
	}
	for _, name := range strings.Split(selector, "+") {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s=%s: there is no %q at the start of the run: choose a number, %s, or of %s joined by +",
				param, selector, name, strings.Join(roles, ", "), strings.Join(names, ", "))
		}
	}
	return nil
}
