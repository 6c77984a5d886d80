package stage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Period is one in which a job was due, and who did it.
type Period struct {
	Number int64    `json:"n"`
	From   int64    `json:"b"`
	To     int64    `json:"e"`
	By     []string `json:"by"` // in order, once for each time
	At     []int64  `json:"at"` // when each began
}

// periods adds those of the workload job that are in the window, of the lock of the picture.
func (s *Stage) periods(rec *history.Record) {
	length := rec.Run.Bounds["period"]
	if length <= 0 {
		return
	}
	by := map[int64]*Period{}
	for _, c := range rec.Calls {
		var job struct {
			Period *int64 `json:"period"`
		}
		if c.Invoke.F != history.FWork || c.Outcome() != history.OK || c.Invoke.Value.Into(&job) != nil || job.Period == nil {
			continue
		}
		p := by[*job.Period]
		if p == nil {
			p = &Period{Number: *job.Period, From: c.Start()}
			by[p.Number] = p
		}
		p.From, p.By, p.At = min(p.From, c.Start()), append(p.By, c.Invoke.Client), append(p.At, c.Start())
	}
	for n, p := range by {
		if next := by[n+1]; next != nil {
			p.To = next.From
		} else {
			p.To = p.From + length
		}
		if p.From < s.To && p.To > s.From {
			s.Periods = append(s.Periods, *p)
		}
	}
	slices.SortFunc(s.Periods, func(a, b Period) int { return int(a.Number - b.Number) })
}

// done draws how often the job of each period was done.
func (c *canvas) done() {
	const h = 30.0
	for _, p := range c.Periods {
		class, text, ink := "other-pale", "done once, by "+p.By[0], "mid"
		if len(p.By) > 1 {
			class, text, ink = "twice", fmt.Sprintf("done %d times: %s", len(p.By), strings.Join(p.By, ", ")), "red b mid"
		}
		number := "period " + strconv.FormatInt(p.Number, 10)
		c.rect(p.From, p.To, c.y, h, class, number+": "+text)
		from, to := c.x(max(p.From, c.From)), c.x(min(p.To, c.To))
		c.line(from, c.y-3, from, c.y+h, "base")
		c.fits((from+to)/2, c.y+h/2+4, to-from, ink, number+": "+text, text, fmt.Sprintf("%d times", len(p.By)),
			strconv.Itoa(len(p.By)))
	}
	c.side(c.y+h/2, "the job", "once a period", "")
	c.y += h + 9
}
