package hunt

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/tests/hunt/sim"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// counter is what clients were told of one counter: each update raises it by one.
type counter struct {
	acked, unknown int64
	from, value    int64 // the last value that somebody saw, and when he asked for it
	until          int64 // when the last answer came that he did not wait for
}

// counters are those of a register, by lock, from the events of clients alone.
func counters(h *history.History, register string) map[string]*counter {
	out, open := map[string]*counter{}, map[string]history.Event{}
	for i := range h.Events {
		e := h.Events[i]
		if e.Register() != register || history.ClientOf(e.Party()) == "" {
			continue
		}
		c := out[e.Lock()]
		if c == nil {
			c = &counter{from: -1}
			out[e.Lock()] = c
		}
		key := e.Party() + e.Grant()
		asked := open[key]
		switch e.Type() {
		case history.Invoke:
			open[key] = e
			if e.F() == history.FWrite {
				c.unknown++
			}
			continue
		case history.Info:
			continue
		case history.Fail:
			if e.F() == history.FWrite {
				c.unknown--
			}
			continue
		}
		value := e.Base().V
		if e.F() == history.FWrite {
			c.unknown--
			c.acked++
			value = asked.New().V
		}
		if asked.Time > c.from {
			c.from, c.value = asked.Time, value
		} else {
			c.until = max(c.until, e.Time)
		}
	}
	return out
}

// Of a counter, what is lost for good is what was acknowledged less the rise of its value, and up to so many more as there
// are updates of unknown outcome. What follows from the last value alone is what the judge says.
func TestLostByLastValue(t *testing.T) {
	compared, lossy, ranges := 0, 0, 0
	n := setting.Random(t, "HUNT_N", 1200)
	for seed := range uint64(n) {
		cfg := sim.DrawVaried(seed + 1)
		tr := sim.Run(cfg)
		r, err := Judge(tr.History)
		if err != nil {
			t.Fatal(err)
		}
		for register, names := range map[string][2]string{
			sim.Plain: {"updates_lost_plain", "updates_lost_max_plain"}, sim.Fenced: {"updates_lost_fenced", "updates_lost_max_fenced"},
			sim.Ledger: {"ledger_lost", "ledger_lost_max"},
		} {
			lost, judged := r.Stats[names[0]]
			if !judged || len(r.Checks[checker.Assumptions].Findings) > 0 {
				continue
			}
			least, most, clear := int64(0), int64(0), true
			for _, c := range counters(tr.History, register) {
				least, most = least+c.acked-c.value, most+c.acked-c.value+c.unknown
				clear = clear && c.until < c.from
			}
			if !clear {
				continue
			}
			compared++
			if upTo := max(lost, r.Stats[names[1]]); upTo < least || lost > most {
				t.Errorf("seed %d: %d to %d updates of %s are said to be lost, but by its last value %d to %d are", seed+1, lost, upTo,
					register, least, most)
			}
			if least > 0 {
				lossy++
			}
			if _, open := r.Stats[names[1]]; open {
				ranges++
			}
		}
	}
	if compared < n/2 || lossy < n/50 {
		t.Errorf("%d registers compared, %d with a loss, %d with a range", compared, lossy, ranges)
	}
	t.Logf("%d registers compared, %d with a loss, %d with a range", compared, lossy, ranges)
}
