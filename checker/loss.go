package checker

import "slices"

// dataChecks are the checks whose findings are updates that were lost.
var dataChecks = []string{DataPlain, DataFenced}

// LossOf is the finding on data that comes of a finding of another check, and costs most: its writer and
// one of those that lost an update to it are among the grants. nil: nothing was lost by it.
func (r *Results) LossOf(f *Finding) (most *Finding) {
	for _, name := range dataChecks {
		findings := r.Checks[name].Findings
		for i := range findings {
			d := &findings[i]
			if d.Lost > 0 && SharedGrants(d, f) >= 2 && slices.Contains(f.Grants, d.Grants[0]) && (most == nil || d.Lost > most.Lost) {
				most = d
			}
		}
	}
	return most
}

// SharedGrants is the number of grants that two findings are both about.
func SharedGrants(a, b *Finding) int {
	n := 0
	for _, id := range a.Grants {
		if slices.Contains(b.Grants, id) {
			n++
		}
	}
	return n
}

// cost says of each finding what was lost by it.
func (r *Results) cost() {
	for name, c := range r.Checks {
		if slices.Contains(dataChecks, name) {
			continue
		}
		for i := range c.Findings {
			if d := r.LossOf(&c.Findings[i]); d != nil {
				c.Findings[i].Lost = max(c.Findings[i].Lost, d.Lost)
			}
		}
	}
}

// lostBy is the most updates that were lost by what some grants are about: one of them wrote, and another one of
// them lost an update to it. It is what [Results.LossOf] finds, whether or not the loss is one of those
// that are listed.
func (in *Input) lostBy(grants []string) (most int64) {
	lost := in.losses()
	for _, writer := range grants {
		for _, victim := range grants {
			most = max(most, lost[[2]string{writer, victim}])
		}
	}
	return most
}

// weigh says of each finding what was lost by it, so that the worst are those that cost most.
func (in *Input) weigh(findings []Finding) []Finding {
	for i := range findings {
		findings[i].Lost = in.lostBy(findings[i].Grants)
	}
	return findings
}

// findLosses are the greatest losses, by who wrote and who lost an update to it.
func (in *Input) findLosses() map[[2]string]int64 {
	out := map[[2]string]int64{}
	for _, register := range []string{regPlain, regFenced} {
		if _, used := in.Run.Registers[register]; !used {
			continue
		}
		for _, f := range in.replayed(register).findings {
			for i := 1; i < len(f.Grants) && f.Lost > 0; i++ {
				pair := [2]string{f.Grants[0], f.Grants[i]}
				out[pair] = max(out[pair], f.Lost)
			}
		}
	}
	return out
}
