package tally

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// alpha is what the intervals leave out, half at each end.
const alpha = 0.05

// sum adds up; its ends are the least and the most of a run, times the runs.
func sum(f Figure, runs []Sample) (Value, bool) {
	vs := sorted(f.Each(runs))
	if len(vs) == 0 {
		return Value{}, false
	}
	total := 0.0
	for _, v := range vs {
		total += v
	}
	n := float64(len(vs))
	return Value{Value: total, Low: n * vs[0], High: n * vs[len(vs)-1], Kind: Range, Runs: len(vs)}, true
}

// most is the largest; its ends are the least and the largest of a run.
func most(f Figure, runs []Sample) (Value, bool) {
	vs := sorted(f.Each(runs))
	if len(vs) == 0 {
		return Value{}, false
	}
	last := vs[len(vs)-1]
	return Value{Value: last, Low: vs[0], High: last, Kind: Range, Runs: len(vs)}, true
}

// median has an interval by order statistics, which asks nothing of how runs are distributed. Fewer than
// six runs give no 95 %: then it is their range.
func median(f Figure, runs []Sample) (Value, bool) {
	vs := sorted(f.Each(runs))
	n := len(vs)
	if n == 0 {
		return Value{}, false
	}
	mid := vs[n/2]
	if n%2 == 0 {
		mid = (vs[n/2-1] + vs[n/2]) / 2
	}
	k, ok := rank(n)
	v := Value{Value: mid, Low: vs[k], High: vs[n-1-k], Kind: Range, Runs: n}
	if ok {
		v.Kind = Confidence
	}
	return v, true
}

// rank is the largest k for which the k-th smallest and the k-th largest of n values (from 0 on) have
// the median between them in 95 of 100 cases; ok is false where not even the ends have.
func rank(n int) (k int, ok bool) {
	for tossed(n, k) <= alpha/2 {
		k++
		ok = true
	}
	return max(k-1, 0), ok
}

// tossed is how likely k heads at most are in n tosses of a coin (the binomial distribution at one half).
func tossed(n, k int) float64 {
	if k >= n {
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 0.5)
}

// pooled are the events and the chances of all runs.
func pooled(f Figure, runs []Sample) (events, chances float64, measured int) {
	for _, r := range runs {
		if e, c, ok := f.share(r); ok {
			events, chances, measured = events+float64(e), chances+float64(c), measured+1
		}
	}
	return events, chances, measured
}

// binomial is a share with the interval of Clopper and Pearson: each chance has one event at most.
func binomial(f Figure, runs []Sample) (Value, bool) {
	events, chances, n := pooled(f, runs)
	if chances == 0 {
		return Value{}, false
	}
	low, high := Share(min(events, chances), chances)
	return Value{Value: 100 * events / chances, Low: 100 * low, High: 100 * high, Kind: Confidence, Runs: n}, true
}

// Share is the exact 95 % interval of a share of which k of n were seen (Clopper and Pearson).
func Share(k, n float64) (low, high float64) {
	low, high = 0, 1
	if k > 0 {
		low = mathext.InvRegIncBeta(k, n-k+1, alpha/2)
	}
	if k < n {
		high = mathext.InvRegIncBeta(k+1, n-k, 1-alpha/2)
	}
	return low, high
}

// poisson is a rate of events of which one chance may have several, for a thousand chances.
func poisson(f Figure, runs []Sample) (Value, bool) {
	events, chances, n := pooled(f, runs)
	if chances == 0 {
		return Value{}, false
	}
	low := 0.0
	if events > 0 {
		low = mathext.GammaIncRegInv(events, alpha/2)
	}
	high := mathext.GammaIncRegInv(events+1, 1-alpha/2)
	scale := 1000 / chances
	return Value{Value: events * scale, Low: low * scale, High: high * scale, Kind: Confidence, Runs: n}, true
}

// NoneIn is the highest chance that an exposure has of a violation, with 95 % confidence, when n of
// them had none: 3/n, nearly.
func NoneIn(n int64) float64 {
	if n <= 0 {
		return 1
	}
	return 1 - math.Pow(alpha, 1/float64(n))
}
