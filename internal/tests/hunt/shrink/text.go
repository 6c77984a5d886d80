package shrink

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Text writes a history in the form that history.ParseText reads. What that form cannot say
// (several f:run, damage of numbers and ends) is lost.
func Text(h *history.History) string {
	var b strings.Builder
	lines := history.Lines(h.Events)
	for i := range lines {
		switch e := &lines[i]; {
		case e.F == history.FEnd, e.F == history.FRun && e.Party != history.PartyController:
		case e.F == history.FRun:
			var run history.Run
			if json.Unmarshal(e.Value.JSON, &run) == nil {
				b.WriteString(runLine(run))
			}
		default:
			b.WriteString(line(e))
		}
	}
	return b.String() + "end\n"
}

func runLine(r history.Run) string {
	parts := []string{"run", "ends=" + r.Ends, "discipline=" + r.Discipline, "fencing=" + r.Fencing}
	add := func(key string, ns int64) { parts = append(parts, key+"="+time.Duration(ns).String()) }
	add("ttl", r.TTL)
	add("tolerance", r.Tolerance)
	add("stall", r.StallLimit)
	add("bound", r.LivenessBound)
	if r.Model.Kind != "" {
		parts = append(parts, "model="+r.Model.Kind)
	}
	if r.Model.Session {
		parts = append(parts, "session=true")
	}
	parts = append(parts, fmt.Sprintf("tokens=%v", r.Tokens), fmt.Sprintf("client-faults=%v", r.ClientFaults))
	for _, reg := range []string{"plain", "fenced"} {
		if _, ok := r.Registers[reg]; ok {
			parts = append(parts, "registers="+reg)
		}
	}
	for _, n := range r.Nemesis {
		parts = append(parts, "nemesis="+n)
	}
	return strings.Join(parts, " ") + "\n"
}

func line(e *history.Line) string {
	parts := []string{time.Duration(e.Time).String(), "-", e.Party, string(e.Type), e.F}
	if e.Process.IsOp() {
		parts[1] = e.Process.String()
	}
	text := func(key, v string) {
		if v != "" {
			parts = append(parts, key+"="+v)
		}
	}
	text("lock", e.Lock)
	text("mode", e.Mode)
	text("grant", e.Grant)
	text("owner", e.Owner)
	text("lease", e.Lease)
	text("error", e.Error)
	text("register", e.Register)
	if e.Client != e.Party {
		text("client", e.Client)
	}
	moment := func(key string, o history.Opt) {
		if o.Set {
			text(key, time.Duration(o.V).String())
		}
	}
	moment("sent", e.Sent)
	moment("ttl", e.TTL)
	moment("deadline", e.Deadline)
	number := func(key string, o history.Opt) {
		if o.Set {
			text(key, fmt.Sprint(o.V))
		}
	}
	number("token", e.Token)
	number("base", e.Value.Base)
	number("new", e.Value.New)
	if len(e.Value.JSON) > 0 {
		parts = append(parts, string(e.Value.JSON))
	}
	return strings.Join(parts, " ") + "\n"
}
