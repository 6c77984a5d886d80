package reports

import (
	"fmt"
	"strconv"
)

const (
	numberSize = 9
	numberTop  = 10 // from the rows to the middle of the first band of numbers
	numberRows = 6
	wider      = 4 // how much larger the mark of several steps is
)

// numbers marks the steps of a story in bands below the rows: those that are too close to stand side by side stand
// below each other, and what does not fit there together, as "5-8".
func (p *painter) numbers(steps []Step) {
	n, deepest := 0, 0
	var ends [numberRows]float64 // where the last mark of each band ends
	for i, s := range steps[:min(len(steps), openSteps)] {
		if s.At < p.from || s.At > p.to {
			continue
		}
		n++
		x := tenth(p.x(s.At))
		band := 0
		for band < numberRows && x-numberSize < ends[band] {
			band++
		}
		if band == numberRows {
			last := &p.t.Numbers[len(p.t.Numbers)-1]
			last.of = append(last.of, i)
			last.Text = fmt.Sprintf("%d-%d", n-len(last.of)+1, n)
			last.R = numberSize + wider
			last.About += "; " + s.Text
			continue
		}
		ends[band], deepest = x+numberSize+2, max(deepest, band)
		p.t.Numbers = append(p.t.Numbers, Number{
			X: x, Y: float64(p.t.Height + numberTop + band*2*numberTop), R: numberSize,
			Text: strconv.Itoa(n), About: s.Text, of: []int{i},
		})
	}
	if n > 0 {
		p.t.Height += 2*numberTop*(deepest+1) + wider
	}
}

// number gives the steps of a tale the numbers that they have in a picture.
func number(t *tale, picture *Timeline) {
	if picture == nil {
		return
	}
	n := 0
	for _, mark := range picture.Numbers {
		for _, i := range mark.of {
			n++
			if i < len(t.Open) {
				t.Open[i].Number = n
			}
		}
	}
}
