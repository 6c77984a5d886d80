package register_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/register"
)

// lab drives a register with clients whose leases lapse while they work, in virtual
// time, and records it as a run does.
type lab struct {
	rnd    *rand.Rand
	handle register.Handler
	now    int64
	events []history.Line
	token  int64
	step   int64
}

func (l *lab) log(e history.Line, party string) {
	l.now += 1000
	e.Time, e.Party = l.now, party
	l.events = append(l.events, e)
}

// section is one client's read and write under a grant of its own.
type section struct {
	n      int
	lock   string
	token  int64
	base   int64
	read   bool
	failed bool
}

func (s section) grant() string  { return fmt.Sprintf("g%d", s.n) }
func (s section) client() string { return fmt.Sprintf("c%d", s.n) }

func (l *lab) acquire(s section, ttl int64) {
	op := func(typ history.Type) history.Line {
		return history.Line{
			Process: history.Process{N: int64(s.n)}, Client: s.client(), Type: typ, F: history.FAcquire,
			Lock: s.lock, Grant: s.grant(),
		}
	}
	l.log(op(history.Invoke), s.client())
	e := op(history.OK)
	e.Sent, e.TTL, e.Deadline, e.Lease = history.Some(l.now), history.Some(ttl), history.Some(l.now+ttl), s.grant()
	e.Token = history.Some(s.token)
	l.log(e, s.client())
}

// do sends one request and records both sides.
func (l *lab) do(s *section, op string) {
	req := register.Request{Op: op, Register: register.Fenced, Lock: s.lock, Client: s.client(), Grant: s.grant(), Token: &s.token}
	e := history.Line{
		Process: history.Process{N: int64(s.n)}, Client: s.client(), Type: history.Invoke, F: op,
		Lock: s.lock, Grant: s.grant(), Register: register.Fenced, Token: history.Some(s.token),
	}
	if op == history.FWrite {
		req.Base, req.New = s.base, s.base+1
		e.Value = history.Value{Base: history.Some(req.Base), New: history.Some(req.New)}
	}
	l.log(e, s.client())
	resp := l.handle(req, l.logged)
	e.Type, e.Error = history.OK, resp.Error
	if resp.Error != "" {
		e.Type, s.failed = history.Fail, true
	} else if op == history.FRead {
		s.base, s.read = resp.Value, true
		e.Value = history.Value{Base: history.Some(resp.Value)}
	}
	l.log(e, s.client())
}

// logged is the register's log.
func (l *lab) logged(req register.Request, resp register.Response) {
	e := history.Line{
		Process: history.Process{Name: history.PartyRegister}, Type: history.OK, F: req.Op, Register: req.Register, Lock: req.Lock,
		Client: req.Client, Grant: req.Grant, Error: resp.Error, Token: history.Some(*req.Token),
	}
	if resp.Error != "" {
		e.Type = history.Fail
	}
	if req.Op == history.FWrite {
		e.Value = history.Value{Base: history.Some(req.Base), New: history.Some(req.New)}
	} else {
		e.Value.Base = history.Some(resp.Value)
	}
	l.log(e, history.PartyRegister)
}

// run lets sections of two locks overlap as lapsed leases let them, and judges.
func (l *lab) run(t *testing.T) *checker.Results {
	t.Helper()
	const ttl = 40_000
	run := history.Run{
		Schema: 1, Ends: history.EndsLease, Tokens: true, TTL: ttl, Discipline: history.Trusting, Fencing: history.FencingOn,
		Resource: true, Workload: "counter", Registers: map[string]int64{register.Fenced: 0}, ClientFaults: true, Tolerance: 1,
		LivenessBound: 10 * ttl,
	}
	l.events = append(l.events, history.Line{
		Process: history.Process{Name: "controller"}, Type: history.Info, F: history.FRun,
		Party: "controller", Value: history.ValueOf(run),
	})
	tokens := map[string]int64{"A": l.token, "B": 0}
	var open []*section
	for n := 1; n <= 40; n++ {
		lock := []string{"A", "B"}[l.rnd.IntN(2)]
		tokens[lock] += l.step
		s := &section{n: n, lock: lock, token: tokens[lock]}
		l.now += ttl + 1 // whatever was granted before has lapsed
		l.acquire(*s, ttl)
		open = append(open, s)
		for range l.rnd.IntN(5) {
			l.advance(&open)
		}
	}
	for len(open) > 0 {
		l.advance(&open)
	}
	last := int64(1 << 62) // a request of nobody: what a mutant has put off, it does before it
	l.handle(register.Request{Op: history.FRead, Register: register.Fenced, Lock: "A", Grant: "last", Token: &last},
		func(register.Request, register.Response) {})
	l.finish()
	in, err := checker.NewInput(&history.History{Events: history.Events(l.events...), Sources: []string{"lab"}})
	if err != nil {
		t.Fatal(err)
	}
	r := checker.Judge(in, checks.Default())
	if a := r.Checks[checker.Assumptions]; a.Verdict != checker.Pass && !lies(r) {
		t.Fatalf("the lab made an unsound record: %s", a.Reason)
	}
	return r
}

// lies reports whether a register's log and its answers contradict each other.
func lies(r *checker.Results) bool {
	return slices.ContainsFunc(r.Checks[checker.Assumptions].Findings, func(f checker.Finding) bool { return f.Rule == "two-logs" })
}

// advance lets one open section make its next step.
func (l *lab) advance(open *[]*section) {
	if len(*open) == 0 {
		return
	}
	i := l.rnd.IntN(len(*open))
	s := (*open)[i]
	if !s.read && !s.failed {
		l.do(s, history.FRead)
		return
	}
	if !s.failed {
		l.do(s, history.FWrite)
	}
	*open = slices.Delete(*open, i, i+1)
}

// finish ends the log of every party, the controller's last.
func (l *lab) finish() {
	ended := map[string]bool{history.PartyController: true}
	end := func(party string) {
		l.log(history.Line{Process: history.Process{Name: party}, Type: history.Info, F: history.FEnd}, party)
	}
	for _, e := range l.events {
		if !ended[e.Party] {
			ended[e.Party] = true
			end(e.Party)
		}
	}
	end(history.PartyController)
	l.events = history.Lines(history.Counted(&history.History{Events: history.Events(l.events...)}).Events)
}

// mutant is a register that breaks one rule of the fence.
type mutant struct {
	admit     func(c *cell, req register.Request) bool // nil: the right rule
	checkRead bool
	global    bool // one fence for all resources
	forgets   int  // after so many requests the tokens are lost, the data not
	late      bool // a write is checked now and applied after the next request
	acksStale bool // a refused write is acknowledged
	lateLog   bool // the log has two requests in the wrong order
}

type cell struct {
	value   int64
	highest int64
	holder  string
}

func rightRule(c *cell, req register.Request) bool {
	if *req.Token > c.highest || c.holder == "" {
		return true
	}
	return *req.Token == c.highest && req.Grant == c.holder
}

func (m mutant) handler() register.Handler {
	cells := map[string]*cell{}
	requests := 0
	var pending func()
	admit := m.admit
	if admit == nil {
		admit = rightRule
	}
	get := func(k string) *cell {
		if cells[k] == nil {
			cells[k] = &cell{}
		}
		return cells[k]
	}
	return func(req register.Request, log func(register.Request, register.Response)) register.Response {
		requests++
		if m.forgets > 0 && requests%m.forgets == 0 {
			for _, c := range cells {
				c.highest, c.holder = 0, ""
			}
		}
		c, fence := get(req.Lock), get(req.Lock)
		if m.global {
			fence = get("all")
		}
		before := pending
		pending = nil
		resp := register.Response{Value: c.value}
		switch {
		case req.Op == history.FRead && !m.checkRead:
		case !admit(fence, req):
			resp.Error = history.ErrStaleToken
		default:
			fence.highest, fence.holder = *req.Token, req.Grant
		}
		apply := func() {
			if resp.Error == "" && req.Op == history.FWrite {
				c.value = req.New
			}
			log(req, resp)
		}
		if req.Op == history.FWrite && resp.Error == "" && before == nil && (m.late || m.lateLog) {
			if m.lateLog {
				c.value = req.New
			}
			pending = apply
		} else {
			apply()
		}
		if before != nil {
			before()
		}
		if m.acksStale && req.Op == history.FWrite {
			resp.Error = ""
		}
		return resp
	}
}

// The eight rules of the fenced register, each broken. The judge must fail every
// mutant, and must not fail the register that we ship, nor the mutants' own right rule.
func TestRegisterMutants(t *testing.T) {
	tests := []struct {
		name   string
		handle func() register.Handler
		good   bool
		lies   bool  // its log and its answers differ: there is no verdict
		first  int64 // first token
		step   int64
	}{
		{name: "the register itself", handle: func() register.Handler { return register.New(register.Strict, nil).Handle }, good: true},
		{name: "no mutation", handle: mutant{checkRead: true}.handler, good: true},
		{name: "1 write-only fencing", handle: mutant{}.handler},
		{name: "2 check and write not atomic", handle: mutant{checkRead: true, late: true}.handler},
		{name: "3 tokens less durable than data", handle: mutant{checkRead: true, forgets: 7}.handler},
		{name: "4 one fence for all resources", handle: mutant{checkRead: true, global: true}.handler, first: 100},
		{name: "5a tokens as floats", handle: mutant{checkRead: true, admit: func(c *cell, req register.Request) bool {
			return c.holder == "" || float64(*req.Token) >= float64(c.highest)
		}}.handler, first: 1 << 53},
		{name: "5b tokens as strings", handle: mutant{checkRead: true, admit: func(c *cell, req register.Request) bool {
			return c.holder == "" || strconv.FormatInt(*req.Token, 10) >= strconv.FormatInt(c.highest, 10)
		}}.handler},
		{name: "6 equal tokens from another grant", handle: mutant{checkRead: true, admit: func(c *cell, req register.Request) bool {
			return *req.Token >= c.highest
		}}.handler, step: -1},
		{name: "7 a refused write is acknowledged", handle: mutant{checkRead: true, acksStale: true}.handler, lies: true},
		{name: "8 the log is not the order", handle: mutant{checkRead: true, lateLog: true}.handler},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			caught := 0
			const seeds = 20
			for seed := range uint64(seeds) {
				l := &lab{rnd: rand.New(rand.NewPCG(seed, 7)), handle: tc.handle(), token: tc.first, step: cmp.Or(tc.step, 1)} // a seed
				if l.step < 0 {
					l.step = 0 // the lock issues the same token again and again
				}
				r := l.run(t)
				if lies(r) {
					if !tc.lies {
						t.Fatalf("seed %d: the lab made an unsound record: %s", seed, r.Checks[checker.Assumptions].Reason)
					}
					caught++
					continue
				}
				if bad := failed(r, tc.step == 0); bad != "" {
					if tc.good {
						t.Fatalf("seed %d: a right register fails: %s", seed, bad)
					}
					caught++
				}
			}
			t.Logf("caught in %d of %d seeds", caught, seeds)
			if !tc.good && caught < seeds/2 {
				t.Errorf("caught in %d of %d seeds only", caught, seeds)
			}
		})
	}
}

// failed is the first finding of the checks that judge a fence. Where the lock itself
// issues bad tokens, only the data counts.
func failed(r *checker.Results, tokens bool) string {
	names := []string{"data-fenced"}
	if tokens {
		names = append(names, "fencing-tokens")
	}
	for _, name := range names {
		if c := r.Checks[name]; c.Verdict != checker.Pass {
			return fmt.Sprintf("%s: %s %v", name, c.Reason, c.Findings)
		}
	}
	return ""
}
