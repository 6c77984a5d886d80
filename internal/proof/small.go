package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// usedAfterRelease: a client used a grant after its own release of it was answered.
func (s *scene) usedAfterRelease(c Claim) (span history.Interval, err error) {
	of, err := s.granted(c, 1)
	if err != nil {
		return span, err
	}
	answered := of[0].Answered()
	for _, use := range of[0].Uses {
		if use.Start() > answered && use.Start() == c.From {
			return history.Interval{From: use.Start(), To: use.Start()}, nil
		}
	}
	return span, errors.New("the events do not show that the client began to use the lock at the time of the finding, after the " +
		"store had answered the client's release")
}

// lateTry: a try was answered later than its bound.
func (s *scene) lateTry(c Claim) (span history.Interval, err error) {
	if len(c.Grants) != 1 || s.ByID[c.Grants[0]] == nil || s.ByID[c.Grants[0]].Acquire == nil {
		return span, errors.New("the finding must name exactly one attempt to acquire the lock")
	}
	call := s.ByID[c.Grants[0]].Acquire
	if call.Invoke.F() != history.FTryAcquire {
		return span, errors.New("the finding is about a try-acquire (an acquire that does not wait), but the client got the grant by " +
			"an acquire that waits")
	}
	span = history.Interval{From: call.Start(), To: s.Last[call.Invoke.Client()]}
	if kill, killed := s.Kills[call.Invoke.Client()]; killed {
		span.To = kill
	}
	if call.Return != nil {
		span.To = call.Return.Time
	}
	if bound := s.Run.Bounds["try"]; bound == 0 || span.To-span.From <= bound+s.Run.Tolerance {
		return span, errors.New("the lock answered the try-acquire within the time limit of the workload, so the answer was not late")
	}
	return span, nil
}

// lateItself: what held the client up, a fault of its own or the host, is not counted.
func (s *scene) lateItself(c Claim) error {
	client := s.ByID[c.Grants[0]].Client
	ours := s.faultsOn(func(f *history.Injection) bool { return f.Family == history.FamilyClient && f.Late(client) })
	held := covered(history.Interval{From: c.From, To: c.To}, ours, s.stalled(client))
	if c.To-c.From-held <= s.Run.Bounds["try"]+s.Run.Tolerance {
		return errors.New("a fault or the host held the client up while it waited for the answer: the lock was not late")
	}
	return nil
}

// doneTwice: the job of one period was done more than once, by just these grants, one after the other.
func (s *scene) doneTwice(c Claim) (span history.Interval, err error) {
	jobs := map[int64][]*history.Call{} // by period
	for _, call := range s.Calls {
		var job struct {
			Period *int64 `json:"period"`
		}
		ok := call.Invoke.F() == history.FWork && call.Outcome() == history.OK && call.Invoke.Value().Into(&job) == nil
		if ok && job.Period != nil {
			jobs[*job.Period] = append(jobs[*job.Period], call)
		}
	}
	for _, done := range jobs {
		by := slices.EqualFunc(done, c.Grants, func(call *history.Call, id string) bool { return call.Invoke.Grant() == id })
		if by && len(done) > 1 && done[0].Start() == c.From && done[len(done)-1].End() == c.To {
			return history.Interval{From: c.From, To: c.To}, nil
		}
	}
	return span, errors.New("the events do not show a job that was done twice, by just the grants of the finding, in their order " +
		"and at its time")
}

// lateNotice: who held the lock could not know in time that somebody else was granted it; of one grant alone, its library told it
// later than its lease had run out.
func (s *scene) lateNotice(c Claim) (span history.Interval, err error) {
	if len(c.Grants) == 1 {
		return s.lateSignal(c)
	}
	of, err := s.granted(c, 2)
	if err != nil {
		return span, err
	}
	a, b := of[0], of[1]
	told := a.ToldLost()
	if lapse := a.Lapses(); lapse.Set {
		told = min(told, lapse.V)
	}
	told = max(told, a.Assured.V)
	span = history.Interval{From: b.From(), To: told}
	if c.Rule == "no-notice" {
		span.To = s.gaveUp(a)
	}
	switch {
	case (c.Rule == "no-notice") != (told == history.Forever):
		return span, errors.New("the finding has the wrong rule: use late-notice if the holder was told of the loss too late, and " +
			"no-notice if the holder was never told")
	case a.Client == b.Client || s.Model.Together(a, b):
		return span, errors.New("the two grants do not exclude each other, so the second client did not take the lock from the " +
			"first client")
	case s.gaveUp(a) <= b.From():
		return span, fmt.Errorf("the finding says that %[1]s lost the lock, but %[1]s had already released the lock, or stopped "+
			"using it, when the next client got the lock", a.Client)
	case told-b.From() <= s.Run.Tolerance:
		return span, errors.New("the holder could detect the loss of the lock in time, so the finding is no violation")
	}
	return span, nil
}

func (s *scene) lateSignal(c Claim) (span history.Interval, err error) {
	of, err := s.granted(c, 1)
	if err != nil {
		return span, err
	}
	late, promised := s.signalLate(of[0])
	if !promised || late <= s.Run.Tolerance {
		return span, errors.New("the finding is no violation: either the holder was told of the loss in time, or its library does " +
			"not promise to tell the holder")
	}
	if told := of[0].ToldLost() < history.Forever; told != (c.Rule == "late-notice") {
		return span, errors.New("the finding has the wrong rule: use late-notice if the holder was told of the loss too late, and " +
			"no-notice if the holder was never told")
	}
	end := of[0].DeadlineAt(min(of[0].ToldLost(), s.gaveUp(of[0]))).V
	return history.Interval{From: end, To: end + late}, nil
}

// succeeds: of two grants, the second one is the next that somebody else was granted before the first one was over. Signals are
// judged where clients go by nothing else, and then alone.
func (s *scene) succeeds(c Claim) error {
	signals := s.Run.Discipline == history.Told && !s.Run.ByDeadline()
	if signals != (len(c.Grants) == 1) {
		return errors.New("the finding must name the grant that was lost and the next one; the first alone where clients go by " +
			"signals only")
	}
	if signals {
		return nil
	}
	a, b := s.ByID[c.Grants[0]], s.ByID[c.Grants[1]]
	if c.Rule == "no-notice" && s.CutOff(a.Client) {
		return errors.New("the log of the client is cut off: it may have been told after that")
	}
	unclear := func(g *history.Grant) bool { // which came first, its grant or its end
		d := g.DeadlineAt(g.From())
		return d.Set && g.From() >= d.V-s.Run.Tolerance
	}
	for _, g := range s.ByLock[a.Lock] {
		between := g.Granted() && s.before(a, g) && s.before(g, b) && !unclear(g)
		if between && g.Client != a.Client && !s.Model.Together(a, g) {
			return fmt.Errorf("grant %s came before grant %s: the finding must name the next grant to another client", g.ID, b.ID)
		}
	}
	if s.before(b, a) || unclear(a) || unclear(b) {
		return errors.New("the second grant of the finding is not known to have come after the first one")
	}
	return nil
}

const shortRenewal = "short-renewal"

// renewedShort: a renewal asked for clearly less than the grant itself, each counted from its request to its deadline.
func (s *scene) renewedShort(c Claim) (span history.Interval, err error) {
	of, err := s.granted(c, 1)
	if err != nil {
		return span, err
	}
	for i, less := range s.shorter(of[0]) {
		if rn := of[0].Renews[i]; less > s.Run.Tolerance && rn.Return.Sent().V == c.From && rn.End() == c.To {
			return history.Interval{From: c.From, To: c.To}, nil
		}
	}
	return span, errors.New("the events do not show that a renewal asked for less than the grant at the time of the finding")
}

// shorter is by how much less each renewal of a grant asked for than the grant; 0 where that is not on record, and for one that
// asked for the end again which the last request for the whole time had asked for.
func (s *scene) shorter(g *history.Grant) []int64 {
	less := make([]int64, len(g.Renews))
	whole, ok := lasting(g.Acquire)
	if !ok || g.InSession() || s.Run.Ends != history.EndsLease {
		return less
	}
	lastEnd := g.Acquire.Return.Deadline().V
	for i, rn := range g.Renews {
		part, ok := lasting(rn)
		if !ok {
			continue
		}
		end := rn.Return.Deadline().V
		if whole-part <= s.Run.Tolerance {
			lastEnd = end
		} else if end < lastEnd-s.Run.Tolerance || end > lastEnd+s.Run.Tolerance {
			less[i] = whole - part
		}
	}
	return less
}

// lasting is for how long a call that succeeded asked, if that is on record.
func lasting(c *history.Call) (ns int64, ok bool) {
	if c.Outcome() != history.OK || !c.Return.Sent().Set || !c.Return.TTL().Set || !c.Return.Deadline().Set {
		return 0, false
	}
	return min(c.Return.TTL().V, c.Return.Deadline().V-c.Return.Sent().V), true
}

// shortest: no renewal of the grant asked for less, but for those that the host kept back.
func (s *scene) shortest(c Claim) error {
	g := s.ByID[c.Grants[0]]
	held, loads := slices.Concat(s.stalled(g.Client), s.stood(g.Client)), s.loads()
	var found *history.Call
	most := s.Run.Tolerance
	for i, less := range s.shorter(g) {
		if less > most && !keptBack(g, g.Renews[i], held, loads) {
			found, most = g.Renews[i], less
		}
	}
	if s.Run.NoDeadlines || s.Run.NoClock || found == nil || found.End() != c.To {
		return errors.New("the finding must name the shortest renewal of the grant, of a lock whose deadlines are known")
	}
	return nil
}

// keptBack reports whether the host, which held the client up at times, accounts for half or more of what a renewal was short by:
// the time from when its library counted the lease, if it asked for the whole time, until the request left.
func keptBack(g *history.Grant, rn *history.Call, held []history.Interval, loads []load) bool {
	whole, _ := lasting(g.Acquire)
	span := history.Interval{From: rn.Return.Deadline().V - whole, To: rn.Return.Sent().V}
	var waits int64
	for _, l := range loads {
		if part := span.Overlap(l.Interval); !part.Empty() {
			waits += int64(float64(part.To-part.From) * l.share)
		}
	}
	return 2*max(waits, covered(span, held)) >= span.To-span.From
}
