package sim

import (
	"regexp"
	"strconv"

	"github.com/lockstorm/lockstorm/history"
)

var inValues = regexp.MustCompile(`"(late|began|span|cpu|io)_ns":(\d+)`)

// Coarse is a history whose clock ticks in steps: much happens at once, and much lasts exactly as long as a bound.
func Coarse(h *history.History, step int64) *history.History {
	out, lines := *h, history.Lines(h.Events)
	round := func(t int64) int64 { return t / step * step }
	for i := range lines {
		e := &lines[i]
		e.Time, e.Sent.V, e.Deadline.V = round(e.Time), round(e.Sent.V), round(e.Deadline.V)
		if e.F == history.FRun {
			continue
		}
		e.Value.JSON = inValues.ReplaceAllFunc(e.Value.JSON, func(b []byte) []byte {
			m := inValues.FindSubmatch(b)
			n, _ := strconv.ParseInt(string(m[2]), 10, 64) // the pattern takes digits alone
			return []byte(`"` + string(m[1]) + `_ns":` + strconv.FormatInt(round(n), 10))
		})
	}
	out.Events = history.Events(lines...)
	return &out
}
