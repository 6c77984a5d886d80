package history

// Interval is half-open: [From, To). It is empty when To is not after From.
type Interval struct{ From, To int64 }

// Empty reports whether no moment lies in the interval.
func (i Interval) Empty() bool { return i.To <= i.From }

// Overlap is the part that two intervals share; empty where they do not meet.
func (i Interval) Overlap(o Interval) Interval {
	return Interval{From: max(i.From, o.From), To: min(i.To, o.To)}
}
