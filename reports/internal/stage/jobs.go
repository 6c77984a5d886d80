package stage

import (
	"fmt"
	"maps"
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
		if c.Invoke.F() != history.FWork || c.Outcome() != history.OK || c.Invoke.Value().Into(&job) != nil || job.Period == nil {
			continue
		}
		p := by[*job.Period]
		if p == nil {
			p = &Period{Number: *job.Period, From: c.Start()}
			by[p.Number] = p
		}
		p.From, p.By, p.At = min(p.From, c.Start()), append(p.By, c.Invoke.Client()), append(p.At, c.Start())
	}
	add := func(p Period) {
		if p.From < s.To && p.To > s.From {
			s.Periods = append(s.Periods, p)
		}
	}
	numbers := slices.Sorted(maps.Keys(by))
	for i, n := range numbers {
		p, next := by[n], &Period{Number: n + 1, From: by[n].From + length}
		if i+1 < len(numbers) {
			next = by[numbers[i+1]]
		}
		if p.To = next.From; next.Number > n+1 {
			p.To = min(p.From+length, next.From)
		}
		add(*p)
		for k := max(n+1, n+(s.From-p.From)/length); k < next.Number && len(s.Periods) < maxBars; k++ { // nobody did these
			from := p.From + (k-n)*length
			if from >= min(s.To, next.From) {
				break
			}
			add(Period{Number: k, From: from, To: min(from+length, next.From), By: []string{}, At: []int64{}})
		}
	}
}

// done draws how often the job of each period was done.
func (c *canvas) done() {
	h := c.height.job
	for _, p := range c.Periods {
		class, text, ink := "other-pale", "done once, by "+strings.Join(p.By, ""), "mid"
		switch n := len(p.By); {
		case n == 0:
			class, text = "missed", "done by nobody"
		case n > 1:
			class, text, ink = "twice", fmt.Sprintf("done %d times: %s", n, strings.Join(p.By, ", ")), "red b mid"
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
