package sim

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// log appends to a party's log, as a recorder does.
func (w *world) log(party string, e history.Line) {
	log, known := w.logs[party]
	if !known {
		w.parties = append(w.parties, party)
	}
	e.Party, e.Time, e.Seq = party, w.now, int64(len(log))
	if e.Process == (history.Process{}) {
		e.Process.Name = party
	}
	w.logs[party] = append(log, e)
}

// endLogs ends the logs of all that live, the controller's last.
func (w *world) endLogs() {
	ends := map[string]int64{}
	end := func(party string, parties map[string]int64) {
		e := history.Line{F: history.FEnd, Type: history.Info, Client: history.ClientOf(party)}
		e.Value = history.ValueOf(history.End{Events: int64(len(w.logs[party]) + 1), Parties: parties})
		w.log(party, e)
	}
	for _, party := range w.parties {
		if party == history.PartyController {
			continue
		}
		dead := slices.ContainsFunc(w.clients, func(c *client) bool { return c.name == party && c.dead })
		if !dead {
			end(party, nil)
		}
		ends[party] = int64(len(w.logs[party]))
	}
	end(history.PartyController, ends)
}

// merged is the history, as the controller writes it.
func (w *world) merged() *history.History {
	logs := lists.Map(w.parties, func(party string) *history.History {
		return &history.History{Events: history.Events(w.logs[party]...)}
	})
	// The controller's end is the last line of the history.
	slices.SortStableFunc(logs, func(a, b *history.History) int { return last(a) - last(b) })
	h, err := history.Merge(logs)
	if err != nil {
		panic("sim: " + err.Error())
	}
	h.Sources = []string{"sim"}
	return h
}

func last(h *history.History) int {
	if h.Events[0].Party() == history.PartyController {
		return 1
	}
	return 0
}
