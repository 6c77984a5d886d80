package history

// Interval is half-open: [From, To). It is empty if To is not after From.
type Interval struct{ From, To int64 }

// Empty reports whether no moment lies in the interval.
func (i Interval) Empty() bool { return i.To <= i.From }

// Overlap returns the part that two intervals share; empty if they do not meet.
func (i Interval) Overlap(o Interval) Interval {
	return Interval{From: max(i.From, o.From), To: min(i.To, o.To)}
}

// Meeting returns the intervals of some lists that overlap this one, list by list.
func (i Interval) Meeting(of ...[]Interval) (out []Interval) {
	for _, list := range of {
		for _, o := range list {
			if o.From < i.To && o.To > i.From {
				out = append(out, o)
			}
		}
	}
	return out
}

// Covered returns how much of the interval the others cover together. They must be in order of their beginnings.
func (i Interval) Covered(others []Interval) (sum int64) {
	end := i.From
	for _, o := range others {
		if o.From >= i.To {
			break
		}
		if part := o.Overlap(Interval{From: end, To: i.To}); !part.Empty() {
			sum += part.To - part.From
			end = part.To
		}
	}
	return sum
}
