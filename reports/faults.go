package reports

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// faultRow is one injection in the table of faults.
type faultRow struct {
	ID       int
	Fault    string
	Whom     string
	From     string
	Until    string
	What     string // the proof, or why it hurt nobody
	Recovery string
	Missed   bool
}

// faultRows are the injections in order, those that hurt nobody too.
func faultRows(r *checker.Results, rec *history.Record) []faultRow {
	took := recoveries(r)
	var out []faultRow
	for _, in := range rec.Faults {
		row := faultRow{
			ID: in.ID, Fault: in.Fault.Fault, Whom: in.Whom(),
			From: at(in.Invoke.Time), What: in.Proof,
		}
		if in.HealEnd != nil {
			row.Until = at(in.HealEnd.Time)
		}
		if !in.Effective() {
			row.Missed, row.What = true, "not injected"
			if in.Effect != nil && in.Effect.Message != "" {
				row.What += ": " + in.Effect.Message
			}
		}
		if in.Point != "" {
			row.What += " (at " + in.Point + " of " + in.By + ")"
		}
		if rc, ok := took[in.ID]; ok {
			row.Recovery = dur(rc.Took).String()
		}
		out = append(out, row)
	}
	return out
}

// recoveries are the recovery times that liveness measured, by the fault.
func recoveries(r *checker.Results) map[int]checker.Recovery {
	out := map[int]checker.Recovery{}
	var list []checker.Recovery
	if r.Checks[checker.Liveness].ProofInto(&list) != nil {
		return out // nothing was measured
	}
	for _, rc := range list {
		out[rc.ID] = rc
	}
	return out
}
