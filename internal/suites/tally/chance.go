package tally

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// Chance is how likely two sets of runs are to differ as much as they do if nothing had changed; ok is
// false where it cannot be told. Shares are compared by the exact test of Fisher, rates by the exact
// test of two Poisson counts, all else by the test of Mann and Whitney, which asks nothing of how
// runs are distributed.
func (f Figure) Chance(before, after []Sample) (p float64, ok bool) {
	if f.share == nil {
		u, err := stats.MannWhitneyUTest(f.Each(before), f.Each(after), stats.LocationDiffers)
		if err != nil {
			return 1, err == stats.ErrSamplesEqual && len(f.Each(before)) > 0 //nolint:errorlint // the package returns it as it is
		}
		return u.P, true
	}
	a, n, runs := pooled(f, before)
	b, m, runsAfter := pooled(f, after)
	if runs == 0 || runsAfter == 0 || n == 0 || m == 0 {
		return 1, false
	}
	if f.Unit == PerMille {
		return twoPoisson(a, n, b, m), true
	}
	return fisher(min(a, n), n, min(b, m), m), true
}

// twoPoisson compares a events in n chances with b in m: given a+b, those of the first are binomial.
func twoPoisson(a, n, b, m float64) float64 {
	if a+b == 0 {
		return 1
	}
	p := n / (n + m)
	logProb := func(x float64) float64 { return choose(a+b, x) + x*math.Log(p) + (a+b-x)*math.Log1p(-p) }
	return twoSided(0, a+b, a, logProb)
}

// fisher compares the shares a in n and b in m.
func fisher(a, n, b, m float64) float64 {
	k := a + b
	logProb := func(x float64) float64 {
		return choose(n, x) + choose(m, k-x) - choose(n+m, k)
	}
	return twoSided(max(0, k-m), min(n, k), a, logProb)
}

// choose is the logarithm of the number of ways to take k of n.
func choose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

// twoSided adds up all that are no likelier than what was seen.
func twoSided(low, high, seen float64, logProb func(float64) float64) float64 {
	limit, p := logProb(seen)+1e-9, 0.0
	for x := low; x <= high; x++ {
		if l := logProb(x); l <= limit {
			p += math.Exp(l)
		}
	}
	return min(p, 1)
}
