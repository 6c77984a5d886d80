package reports

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

const ms = int64(1_000_000)

// bulk writes a long record: clients take turns with one lock.
type bulk struct {
	lines []history.Line
	seqs  map[string]int64
}

func (b *bulk) add(t int64, process history.Process, party string, e history.Line) {
	e.Index, e.Time, e.Process, e.Party, e.Seq = int64(len(b.lines)), t, process, party, b.seqs[party]
	b.seqs[party]++
	if process.IsOp() {
		e.Client = party
	}
	b.lines = append(b.lines, e)
}

func (b *bulk) notice(t int64, party string, e history.Line) {
	b.add(t, history.Process{Name: party}, party, e)
}

// section is the eight events of one section, 0.8 of whose length is hold; its write may
// be refused.
func (b *bulk) section(client, n int, at, length int64, refused bool) {
	party := fmt.Sprintf("c%d", client)
	grant := fmt.Sprintf("%s-%d", party, n)
	call := func(share int64, f string, value history.Value, fail bool) {
		inv := history.Line{Type: history.Invoke, F: f, Value: value, Lock: "L1", Grant: grant}
		ret := inv
		ret.Type = history.OK
		switch f {
		case history.FAcquire:
			ret.Lease, ret.Sent, ret.TTL, ret.Deadline = grant, history.Some(at), history.Some(1000*ms), history.Some(at+1000*ms)
		case history.FRead, history.FWrite:
			inv.Register, ret.Register = "plain", "plain"
		}
		if fail {
			ret.Type, ret.Error = history.Fail, history.ErrStaleToken
		}
		process := history.Process{N: int64(client)}
		b.add(at+length*share/10, process, party, inv)
		b.add(at+length*(share+1)/10, process, party, ret)
	}
	call(0, history.FAcquire, history.Value{}, false)
	call(2, history.FRead, history.Value{Base: history.Some(1)}, false)
	call(6, history.FWrite, history.Value{Base: history.Some(1), New: history.Some(2)}, refused)
	call(9, history.FRelease, history.Value{}, false)
}

// longRun is a record of so many events and results with as many findings as checks list:
// faults, kills and refusals throughout.
func longRun(t testing.TB, clients, events int) (*checker.Results, *history.Record) {
	t.Helper()
	b := &bulk{seqs: map[string]int64{}}
	b.notice(0, history.PartyController, history.Line{Type: history.Info, F: history.FRun, Value: history.ValueOf(history.Run{
		Schema: history.Schema, TTL: 1000 * ms, Ends: history.EndsLease, Locks: []string{"L1"}, Registers: map[string]int64{"plain": 0},
	})})
	step := 60_000 * ms * 8 / int64(events) // of a run of a minute
	for i := 0; len(b.lines) < events; i++ {
		at := int64(i+1) * step
		if i%10 == 0 {
			b.fault(i/10+1, at, fmt.Sprintf("c%d", i/10%clients))
		}
		b.section(i%clients, i/clients, at, step-10, i%977 == 0)
	}
	rec, err := history.Build(&history.History{Events: history.Events(b.lines...)})
	if err != nil {
		t.Fatal(err)
	}
	r := failed(map[string][]checker.Finding{})
	r.Stats["violations"] = 12_345
	for name, c := range r.Checks {
		for i := range 100 {
			g := rec.Grants[(i*7919+len(name))%len(rec.Grants)]
			f := finding("overlap", checker.Inherent, g.From(), g.ID,
				rec.Grants[min((i*7919+len(name))%len(rec.Grants)+1, len(rec.Grants)-1)].ID)
			f.Message = fmt.Sprintf("%s got lock L1 at %s while another client was still using it; for 0.1 ms both believed that they "+
				"held the lock; its lease had run out", g.ID, moment(g.From()))
			f.Events = []int64{g.Acquire.Invoke.Index, g.Acquire.Return.Index, g.Releases[0].Invoke.Index}
			c.Findings = append(c.Findings, f)
		}
		c.Verdict = checker.Fail
		r.Checks[name] = c
	}
	return r, rec
}

func (b *bulk) fault(id int, at int64, client string) {
	value := history.ValueOf(history.Fault{
		ID: id, Fault: "client-pause", Family: history.FamilyClient, Clients: []string{client},
		Proof: "all threads stopped",
	})
	for i, typ := range []history.Type{history.Invoke, history.OK} {
		b.notice(at+int64(i), history.PartyNemesis, history.Line{Type: typ, F: history.FFault, Value: value})
	}
	for i, typ := range []history.Type{history.Invoke, history.OK} {
		b.notice(at+int64(2+i), history.PartyNemesis, history.Line{Type: typ, F: history.FHeal, Value: value})
	}
}
