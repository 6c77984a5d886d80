package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// layout is how the steps of one fault are laid out: its parameters, read and checked.
type layout struct {
	spec   Spec
	in     Input
	values Values
	own    Values
	length time.Duration
	every  time.Duration // 0: there is no such parameter, and one injection
	stay   time.Duration
	nth    int
	grant  int
	while  int
	last   time.Duration // the latest start that leaves room for the full length
}

// maxSteps bounds a request of a plan: nobody reads more, and every step is kept.
const maxSteps = 100_000

func newLayout(s Spec, v Values, in Input) (*layout, error) {
	l := &layout{spec: s, in: in, values: v, own: ownParams(v)}
	var errs [6]error
	l.length, errs[0] = v.Length(paramFor, in.TTL)
	l.every, errs[1] = v.Length(paramEvery, in.TTL)
	l.stay, errs[2] = v.Length(paramStay, in.TTL)
	l.nth, errs[3] = v.Count(paramNth, 1)
	l.grant, errs[4] = grantedBy(v, in)
	l.while, errs[5] = v.Count(paramWhile, 0)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if v[paramEvery] != "" && l.every <= 0 {
		return nil, errNoPeriod
	}
	if v[paramFor] != "" && l.length <= 0 {
		return nil, errNoLength
	}
	if ends := v[paramUntil]; ends != "" && ends != UntilGranted {
		return nil, fmt.Errorf("until=%s does not exist: choose until=%s, or leave out until=", ends, UntilGranted)
	}
	if v[paramUntil] != "" && !s.lasts(v) {
		return nil, fmt.Errorf("until=%s ends a fault early, but with these parameters it has no duration: leave out until=",
			v[paramUntil])
	}
	if l.every > 0 && in.Duration/l.every > maxSteps {
		return nil, fmt.Errorf("every=%s would inject the fault %d times in a run of %v, but the limit is %d times: choose a "+
			"longer every=", v[paramEvery], in.Duration/l.every, in.Duration, maxSteps)
	}
	if err := errors.Join(checkPoint(v[paramAt], in), checkMessage(v[paramMessage], v[paramAt]), checkCarried(s, v[paramAt], l.own),
		checkUnmet(s, v), checkTargets(s, v, in), checkVoters(v, in)); err != nil {
		return nil, err
	}
	l.last = in.Duration - l.length - s.takes(in.TTL)
	if s.Check == nil {
		return l, nil
	}
	return l, s.Check(l.own, in)
}

func checkPoint(at string, in Input) error {
	known := append(slices.Clone(in.Points), in.Own...)
	if at == "" || at == history.AtRandom || slices.Contains(known, at) {
		return nil
	}
	return fmt.Errorf("at=%s: this run has no such point; %schoose %s, or one of %s", at, catalog.DidYouMean(at, known),
		history.AtRandom, strings.Join(known, ", "))
}

// checkMessage refuses a text of messages where none is waited for.
func checkMessage(text, at string) error {
	if text == "" || history.IsMessagePoint(at) {
		return nil
	}
	return fmt.Errorf("message=%s selects messages, but this fault does not act at a message: add at=%s or at=%s", text,
		history.AtRequest, history.AtReply)
}

// checkCarried refuses the points of messages to faults that keep a client at its point: no client stands there.
func checkCarried(s Spec, at string, own Values) error {
	if !history.IsMessagePoint(at) {
		return nil
	}
	if s.OfGrant {
		return fmt.Errorf("at=%s makes the fault %s act on a message, but it needs the client's grant: name a point of the "+
			"client instead", at, s.Name)
	}
	if s.keeps(own) {
		return fmt.Errorf("at=%s makes the fault %s act on a message, but it stops a client: name a point of the client "+
			"instead, or use packet-delay", at, s.Name)
	}
	return nil
}

// checkUnmet refuses settings for the client at the point if a message and no client is there.
func checkUnmet(s Spec, v Values) error {
	if !history.IsMessagePoint(v[paramAt]) {
		return nil
	}
	for _, p := range s.Params {
		if (p.Name == paramStay || p.Name == paramGrant) && v[p.Name] != p.Default {
			return fmt.Errorf("%s=%s has no meaning with at=%s, which acts on a message and stops no client: leave out %s=",
				p.Name, v[p.Name], v[paramAt], p.Name)
		}
	}
	return nil
}

// planSteps lays out the steps: the first soon after the start, then one every period,
// each starting early enough to end before the workload does.
func planSteps(s Spec, v Values, in Input, rnd *rand.Rand) ([]Step, error) {
	l, err := newLayout(s, v, in)
	if err != nil {
		return nil, err
	}
	first := in.FirstStrike()
	if l.last < first {
		return nil, fmt.Errorf("the fault takes %v, which is too long for a run of %v: use --time %v or longer, or a shorter for=",
			l.length+s.takes(in.TTL), in.Duration, shortest(in, l.length+s.takes(in.TTL)))
	}
	var steps []Step
	for k := 0; ; k++ {
		if err := checkPoint(l.where(k), in); err != nil {
			return nil, fmt.Errorf("the default point of the fault is wrong: %w", err)
		}
		begin := first + time.Duration(k)*l.every
		if begin > l.last || begin >= in.Duration {
			break
		}
		steps = append(steps, l.step(k, begin, rnd))
		if l.every == 0 {
			break
		}
	}
	return steps, nil
}

// shortest is the length of the shortest run, in tenths of a second, in which a fault that
// takes so long has room after the first strike.
func shortest(in Input, takes time.Duration) time.Duration {
	const tenth = 100 * time.Millisecond
	for in.Duration = takes.Truncate(tenth); in.Duration-takes < in.FirstStrike(); in.Duration += tenth {
	}
	return in.Duration
}

// OneStep returns one injection of a fault with its defaults, not before begin, as one of its first few steps would
// be; nil if it is too long for the rest of the run. until is when the next one may begin.
func OneStep(s Spec, in Input, begin time.Duration, rnd *rand.Rand) (st *Step, until time.Duration, err error) {
	v, err := catalog.Parse("nemesis "+s.Name, "", s.Params)
	if err != nil {
		return nil, 0, err
	}
	l, err := newLayout(s, v, in)
	if err != nil || l.last < begin {
		return nil, 0, err
	}
	one := l.step(rnd.IntN(4), begin, rnd)
	one.Fault = s.Name
	return &one, begin + l.length + s.takes(in.TTL), nil
}

// step is the k-th one, not before begin.
func (l *layout) step(k int, begin time.Duration, rnd *rand.Rand) Step {
	st := Step{
		// A tied step waits for a client for one ttl at least, and strikes early enough to last
		// its full length.
		At: begin.Nanoseconds(), Until: min(begin+max(l.every, l.in.TTL), l.last).Nanoseconds(),
		Nth: l.nth, Message: l.values[paramMessage], Grant: l.grant, Clients: l.values[paramClients], Nodes: l.nodes(),
		For: l.length.Nanoseconds(), Stay: l.stay.Nanoseconds(), Draw: rnd.Uint64(), Params: l.own,
		Ends: l.values[paramUntil], While: l.while,
	}
	if l.spec.SetsBack != nil {
		st.SetBack = l.spec.SetsBack(l.own, l.in.TTL).Nanoseconds()
	}
	l.aim(&st, l.where(k), rnd)
	return st
}

// nodes is the selector of the step: a fault of the master that has no such parameter means it.
func (l *layout) nodes() string {
	if nodes := l.values[paramNodes]; nodes != "" || !l.spec.OfMaster {
		return nodes
	}
	return RoleMaster
}

// where is the point of the k-th step, or history.AtRandom.
func (l *layout) where(k int) string {
	if at := l.values[paramAt]; at != "" {
		return at
	}
	strikes := l.spec.Strikes
	if strikes == nil {
		strikes = StrikeGrant
	}
	where := strikes(k, l.in.Own)
	if where == history.AtRandom && byVote(l.values) {
		return history.AtAcquired // at a random time nobody was granted anything just now
	}
	return where
}

// StrikeGrant ties every other step to a fresh grant.
func StrikeGrant(k int, _ []string) string {
	return []string{history.AtAcquired, history.AtRandom}[k%2]
}

// aim ties the step to a point or moves it to a random time within its period.
func (l *layout) aim(st *Step, where string, rnd *rand.Rand) {
	switch {
	case where != history.AtRandom:
		st.Tied, st.Point = true, where
		if history.IsMessagePoint(where) { // no client waits there for what another one is granted, and nobody says who granted
			st.Grant, st.Stay = 0, 0
		}
	default:
		st.Tied = l.spec.Gates // the next point of any name, at a random time
		st.At = min(st.At+rnd.Int64N(min(l.every/5, l.in.TTL/2).Nanoseconds()+1), st.Until)
	}
	if !st.Tied {
		st.Nth, st.Grant, st.Stay = 0, 0, 0
	}
	if l.spec.Behind && (where != history.AtWaiting || !l.in.Setting.Renews) {
		st.Stay = 0
	}
}

// FirstStrike returns when the first step may begin: soon, and not before clients are at work.
func (in Input) FirstStrike() time.Duration { return min(in.TTL*3/10, in.Duration/4) }
