package checker_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// sim is a lock service in virtual time with clients that use it: what the mutants are
// made of. Everything happens at whole microseconds, from one seed.
type sim struct {
	rnd    *rand.Rand
	mutant mutant
	ends   string
	ttl    int64

	events []history.Line
	lock   simLock
	queue  []simStep
	now    int64
	kills  bool
	pauses bool
	resets bool // the server is restarted now and then
	procs  int64
}

type simLock struct {
	holder string // grant
	until  int64
	token  int64
}

type simStep struct {
	at int64
	do func()
}

func (s *sim) at(delay int64, do func()) {
	s.queue = append(s.queue, simStep{at: s.now + delay, do: do})
}

func (s *sim) run(until int64) {
	for len(s.queue) > 0 {
		i := 0
		for k := range s.queue {
			if s.queue[k].at < s.queue[i].at {
				i = k
			}
		}
		step := s.queue[i]
		s.queue = slices.Delete(s.queue, i, i+1)
		if step.at > until {
			continue
		}
		s.now = step.at
		step.do()
	}
}

func (s *sim) log(party string, e history.Line) {
	e.Time, e.Party = s.now*1000, party
	if e.Process == (history.Process{}) {
		e.Process.Name = party
	}
	s.events = append(s.events, e)
}

// server is one try to take the lock, at the moment at which the server handles it.
func (s *sim) take(grant string) (token int64, ok bool) {
	l := &s.lock
	held := l.holder != "" && s.now < l.until
	if held && s.mutant.Name != "grants-always" {
		return 0, false
	}
	s.grantTo(grant)
	return l.token, true
}

func (s *sim) grantTo(grant string) {
	l := &s.lock
	l.holder, l.until = grant, s.now+s.ttl
	if s.mutant.Name == "expires-early" {
		l.until = s.now + s.ttl/3
	}
	if s.ends == history.EndsNever {
		l.until = 1 << 60
	}
	switch {
	case s.mutant.Name == "token-duplicate" && s.rnd.IntN(8) == 0:
	case s.mutant.Name == "token-regress" && s.rnd.IntN(8) == 0 && l.token > 3:
		l.token -= 2
	default:
		l.token++
	}
}

// give is a release, at the moment at which the server handles it.
func (s *sim) give(grant string) bool {
	l := &s.lock
	mine := l.holder == grant && s.now < l.until
	somebodys := l.holder != "" && s.now < l.until
	switch s.mutant.Name {
	case "blind-delete", "shared-owner":
		mine = somebodys
	case "release-not-applied":
		if mine && s.rnd.IntN(20) == 0 {
			return true
		}
	case "lies-not-held":
		if mine && s.rnd.IntN(10) == 0 {
			return false
		}
	}
	if mine {
		l.holder = ""
	}
	return mine
}

func (s *sim) renew(grant string) bool {
	l := &s.lock
	mine := l.holder == grant && s.now < l.until
	if mine || (s.mutant.Name == "revives-expired" && l.holder != grant) {
		l.holder, l.until = grant, s.now+s.ttl
		return true
	}
	return false
}

const (
	simWork = int64(600_000) // us
	simTTL  = int64(20_000)
)

// simulate makes a complete history of five clients.
func simulate(m mutant, seed uint64) *history.History {
	s := &sim{
		rnd: rand.New(rand.NewPCG(seed, 1)), mutant: m, ends: cmp.Or(m.ends, history.EndsLease), ttl: simTTL, // a seed
		kills: m.kills, pauses: true, resets: m.resets,
	}
	run := history.Run{
		Schema: 1, Ends: s.ends, Tokens: true, TTL: s.ttl * 1000, Tolerance: int64(time.Microsecond), Discipline: history.Obey,
		Fencing: history.FencingBoth, LivenessBound: 4 * s.ttl * 1000, StallLimit: s.ttl * 100, Workload: "sim", ClientFaults: true,
	}
	s.log("controller", history.Line{Type: history.Info, F: history.FRun, Value: history.ValueOf(run)})
	var clients []*simClient
	for i := range 5 {
		c := &simClient{s: s, name: fmt.Sprintf("c%d", i+1), proc: int64(i + 1)}
		clients = append(clients, c)
		s.at(s.rnd.Int64N(1000), c.section)
	}
	if s.kills {
		victim := clients[4]
		s.at(simWork/3, func() { victim.killSoon() })
	}
	if s.resets {
		for k := range int64(6) {
			s.at(simWork*(k+1)/8, func() { s.lock.holder = "" })
		}
	}
	s.at(simWork, func() {
		s.log("controller", history.Line{Type: history.Info, F: history.FPhase, Value: history.ValueOf(history.PhaseFinal)})
		for _, c := range clients {
			c.final = true
		}
	})
	s.run(simWork + 5*s.ttl)
	return s.history(clients)
}

// killSoon kills the client as soon as it holds the lock.
func (c *simClient) killSoon() {
	if c.s.lock.holder == fmt.Sprintf("%s-%d", c.name, c.n) {
		c.s.log("nemesis", history.Line{Type: history.Info, F: history.FKill, Client: c.name})
		c.dead = true
		return
	}
	c.s.at(100, c.killSoon)
}

// history ends the log of every party that lives.
func (s *sim) history(clients []*simClient) *history.History {
	end := history.Line{Type: history.Info, F: history.FEnd}
	for _, c := range clients {
		if !c.dead {
			s.log(c.name, end)
		}
	}
	s.log("nemesis", end)
	s.log(history.PartyController, end)
	return history.Counted(&history.History{Events: history.Events(s.events...), Sources: []string{"sim"}})
}
