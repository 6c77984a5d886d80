package checker_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// modelSim is a store with locks of a model, in virtual time: what the mutants of the models
// are made of. Like [sim], all from one seed.
type modelSim struct {
	*sim
	model    history.Model
	bug      string
	holds    []simHold
	sessions map[string]int64 // until when each lives
}

// simHold is a grant that the store holds for an owner.
type simHold struct {
	grant, owner string
	shared       bool
	session      string
	until        int64
}

func newModelSim(m modelMutant, seed uint64) *modelSim {
	ends := history.EndsLease
	if m.model.Session {
		ends = history.EndsSession
	}
	return &modelSim{
		sim:   &sim{rnd: rand.New(rand.NewPCG(seed, 3)), ends: ends, ttl: simTTL}, // a seed
		model: m.model, bug: m.name, sessions: map[string]int64{},
	}
}

// alive takes out what has run out.
func (s *modelSim) alive() []simHold {
	s.holds = slices.DeleteFunc(s.holds, func(h simHold) bool {
		until := h.until
		if s.model.Session {
			until = s.sessions[h.session]
		}
		return s.now >= until
	})
	return s.holds
}

// take is one try, at the moment at which the store handles it.
func (s *modelSim) take(want simHold) bool {
	want.until = s.now + s.ttl
	for i, h := range s.alive() {
		switch {
		case h.owner == want.owner && s.model.Kind == history.ModelReentrant:
			if s.bug == "count-forgotten" {
				return true // the owner has it: nothing is counted
			}
			if s.bug == "owner-by-prefix" {
				continue
			}
		case s.bug == "owner-by-prefix" && h.owner[:1] == want.owner[:1]:
		case h.owner == want.owner && s.model.Kind == history.ModelReadWrite:
			if s.bug == "downgrade-lets-in" && want.shared {
				s.holds = slices.Delete(slices.Clone(s.holds), i, i+1) // the writer is gone, the reader was never there
				return true
			}
		case h.shared && want.shared:
		case s.bug == "reader-ignores-writer" && want.shared:
		case s.bug == "writer-ignores-readers" && h.shared:
		case s.bug == "upgrade-beside-readers" && h.shared && s.owns(want.owner):
		default:
			return false
		}
	}
	s.holds = append(s.holds, want)
	return true
}

func (s *modelSim) owns(owner string) bool {
	return slices.ContainsFunc(s.holds, func(h simHold) bool { return h.owner == owner })
}

// give is a release, at the moment at which the store handles it. A counted lock looks at
// the owner alone.
func (s *modelSim) give(done simHold) bool {
	same := func(h simHold) bool { return h.grant == done.grant }
	if s.model.Kind == history.ModelReentrant {
		same = func(h simHold) bool { return h.owner == done.owner }
	}
	i := slices.IndexFunc(s.alive(), same)
	if i < 0 {
		return false
	}
	switch {
	case s.bug == "release-frees-all":
		s.holds = slices.DeleteFunc(s.holds, same)
	case s.bug == "reader-frees-readers" && done.shared:
		s.holds = slices.DeleteFunc(s.holds, func(h simHold) bool { return h.shared })
	case s.bug == "release-ends-session":
		s.holds = slices.DeleteFunc(s.holds, func(h simHold) bool { return h.session == done.session })
	default:
		s.holds = slices.Delete(s.holds, i, i+1)
	}
	return true
}

// renew prolongs a session.
func (s *modelSim) renew(session string) bool {
	if s.now >= s.sessions[session] {
		return false
	}
	if s.bug != "forgets-renewals" {
		s.sessions[session] = s.now + s.ttl
	}
	return true
}

// simulate makes a complete history of five clients.
func (s *modelSim) simulate() *history.History {
	run := history.Run{
		Schema: 1, Model: s.model, Ends: s.ends, TTL: s.ttl * 1000, Tolerance: int64(time.Microsecond), Discipline: history.Obey,
		Fencing: history.FencingOff, LivenessBound: 15 * s.ttl * 1000, StallLimit: s.ttl * 100, Workload: "sim", ClientFaults: true,
	}
	s.log("controller", history.Line{Type: history.Info, F: history.FRun, Value: history.ValueOf(run)})
	var clients []*modelClient
	var plain []*simClient
	for i := range 5 {
		c := &modelClient{simClient: &simClient{s: s.sim, name: fmt.Sprintf("%c%d", "abcab"[i], i+1), proc: int64(i + 1)}, m: s}
		clients, plain = append(clients, c), append(plain, c.simClient)
		s.at(s.rnd.Int64N(1000), func() { c.enter(func() { c.section() }) })
	}
	s.at(simWork, func() {
		s.log("controller", history.Line{Type: history.Info, F: history.FPhase, Value: history.ValueOf(history.PhaseFinal)})
		for _, c := range clients {
			c.final = true
		}
	})
	s.run(simWork + 20*s.ttl)
	return s.history(plain)
}
