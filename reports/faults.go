package reports

import (
	"cmp"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// faultRow is one injection in the table of faults.
type faultRow struct {
	ID       int
	Fault    string
	Whom     string
	From     string // when it struck
	Proven   string // when its effect was observed
	Until    string
	What     string // the proof, or why it hurt nobody
	Recovery string
	Missed   bool
	At, To   int64 // when it began and ended
}

// faultRows are the injections in order, those that hurt nobody too.
func faultRows(r *checker.Results, rec *history.Record) []faultRow {
	took := recoveries(r)
	var out []faultRow
	for _, in := range rec.Faults {
		row := faultRow{
			ID: in.ID, Fault: in.Fault.Fault, Whom: in.Whom(),
			From: at(in.Began()), What: in.Proof + standingAt(in),
			At: in.Began(), To: in.Until(),
		}
		if in.Effective() {
			row.Proven = at(in.Effect.Time)
		}
		if in.HealEnd != nil {
			row.Until = at(in.HealEnd.Time)
		}
		if !in.Effective() {
			row.Missed, row.What, row.Whom = true, missed(in), cmp.Or(row.Whom, "none")
		}
		if rc, ok := took[in.ID]; ok {
			row.Recovery = checker.Millis(rc.Took)
		}
		out = append(out, row)
	}
	return out
}

// standingAt says what triggered a fault that is tied to a point.
func standingAt(in *history.Injection) string {
	if checker.Trigger(in.Fault) == "" {
		return ""
	}
	return " (" + checker.Trigger(in.Fault) + ")"
}

// missed says why a fault hurt nobody, as far as it is on record. One that was never
// begun has its failure for its first event.
func missed(in *history.Injection) string {
	answer := in.Effect
	if answer == nil {
		answer = in.Invoke
	}
	why := cmp.Or(answer.Message, answer.Error)
	switch answer.Type {
	case history.Invoke:
		return "lockstorm began to inject the fault, but the record does not show whether the fault took effect" + standingAt(in)
	case history.Info:
		return "lockstorm began to inject the fault, but it is unknown whether the fault took effect" + colon(why) + standingAt(in)
	default:
		return "the fault was not injected" + colon(why) + standingAt(in)
	}
}

func colon(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
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
