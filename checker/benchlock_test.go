package checker_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// benchLog is a history of one lock that is written down as it happens.
type benchLog struct {
	lines []history.Line
	now   int64
	procs int64
}

func (l *benchLog) add(party string, e history.Line) {
	e.Time, e.Party = l.now, party
	l.now += 500
	l.lines = append(l.lines, e)
}

func (l *benchLog) notice(party, f string, v any) {
	l.add(party, history.Line{Process: history.Process{Name: party}, Type: history.Info, F: f, Value: history.ValueOf(v)})
}

// process is the number of a new process.
func (l *benchLog) process() int64 {
	l.procs++
	return l.procs
}

// benchClient waits for the lock, is granted it, and waits again.
type benchClient struct {
	name, grant string
	proc, sent  int64
}

const (
	benchClients = 8
	benchTTL     = 1e9
	// finalSections are so many that every client is granted the lock in them.
	finalSections = 3 * benchClients
)

// oneLock is a safe history of many sections of one lock, a part of which loses answers: of an
// acquire, a write or a release. Each client asks for the lock while others hold it, in one
// request, so that intervals overlap from beginning to end.
func oneLock(sections, percent int) *history.History {
	l := &benchLog{}
	d := rand.New(rand.NewPCG(1, 9))
	l.notice(history.PartyController, history.FRun, history.Run{
		Schema: 1, Ends: history.EndsLease, Tokens: true, Resource: true, TTL: benchTTL, Tolerance: 1, Discipline: history.Obey,
		Fencing: history.FencingOn, Registers: map[string]int64{facts.RegFenced: 0}, LivenessBound: 3e9, Workload: "counter",
	})
	clients, value := make([]benchClient, benchClients), int64(0)
	ask := func(c *benchClient, n int) {
		c.grant = fmt.Sprintf("%s-%d", c.name, n)
		c.sent = l.now
		l.add(c.name, c.op(history.FAcquire, history.Invoke))
	}
	for i := range clients {
		clients[i] = benchClient{name: fmt.Sprintf("c%d", i), proc: l.process()}
		ask(&clients[i], 0)
	}
	for s := 1; s <= sections; s++ {
		c := &clients[s%benchClients]
		lost := ""
		left := sections - s
		if left == finalSections {
			l.notice(history.PartyController, history.FPhase, history.PhaseFinal)
		}
		if d.IntN(100) < percent && left > finalSections {
			lost = []string{history.FAcquire, history.FWrite, history.FRelease}[d.IntN(3)]
		}
		c.section(l, int64(s), &value, lost)
		if lost != "" {
			c.proc = l.process()
		}
		ask(c, s)
	}
	for i := range clients { // the last requests are refused
		e := clients[i].op(history.FAcquire, history.Fail)
		e.Error = history.ErrBusy
		l.add(clients[i].name, e)
	}
	return l.end()
}

// end ends the log of every party, the controller's last.
func (l *benchLog) end() *history.History {
	ended := map[string]bool{history.PartyController: true}
	for _, e := range l.lines {
		if !ended[e.Party] {
			ended[e.Party] = true
			l.notice(e.Party, history.FEnd, history.End{})
		}
	}
	l.notice(history.PartyController, history.FEnd, history.End{})
	return history.Counted(&history.History{Sources: []string{"bench"}, Events: history.Events(l.lines...)})
}

func (c *benchClient) op(f string, typ history.Type) history.Line {
	return history.Line{Process: history.Process{N: c.proc}, Client: c.name, Type: typ, F: f, Lock: "L", Grant: c.grant}
}

// section is one section of a client that has asked, up to what is lost.
func (c *benchClient) section(l *benchLog, token int64, value *int64, lost string) {
	e := c.op(history.FAcquire, history.OK)
	if lost == history.FAcquire {
		e.Type, e.Error = history.Info, history.ErrTimeout
		l.add(c.name, e)
		return
	}
	e.Token, e.Lease = history.Some(token), c.grant
	e.Sent, e.TTL, e.Deadline = history.Some(c.sent), history.Some(benchTTL), history.Some(c.sent+benchTTL)
	l.add(c.name, e)
	for _, f := range []string{history.FRead, history.FWrite} {
		v := history.Value{Base: history.Some(*value)}
		if f == history.FWrite {
			v.New = history.Some(*value + 1)
		}
		inv := c.op(f, history.Invoke)
		inv.Token, inv.Register = history.Some(token), facts.RegFenced
		reg, ret := inv, inv
		reg.Type, reg.Process, reg.Value = history.OK, history.Process{Name: history.PartyRegister}, v
		if ret.Type, ret.Value = history.OK, v; f == history.FWrite {
			inv.Value = v
			*value++
		}
		l.add(c.name, inv)
		l.add(history.PartyRegister, reg)
		if f == lost {
			ret.Type, ret.Error = history.Info, history.ErrTimeout
			l.add(c.name, ret)
			break
		}
		l.add(c.name, ret)
	}
	if lost == history.FWrite {
		c.proc = l.process()
	}
	l.add(c.name, c.op(history.FRelease, history.Invoke))
	e = c.op(history.FRelease, history.OK)
	if lost == history.FRelease {
		e.Type, e.Error = history.Info, history.ErrTimeout
	}
	l.add(c.name, e)
}
