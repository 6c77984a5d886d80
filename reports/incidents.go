package reports

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// kindOf is all findings of one kind.
type kindOf struct {
	Kind
	findings []checker.Finding
}

// incidents makes one incident of each kind of finding of the required checks that answered
// with a verdict, the worst first. A kind of which every finding is the event of a worse
// kind, as another check sees it, is not told again.
func incidents(r *checker.Results, verdict checker.Verdict) []Incident {
	kinds := kinds(r, verdict)
	var out []Incident
	for i, k := range kinds {
		if fresh := k.unseen(kinds[:i]); len(fresh) > 0 {
			out = append(out, k.incident(slices.MinFunc(fresh, checker.Rank), kinds))
		}
	}
	return out
}

// kinds are the findings by their kind, in the order of the first of each; those of a kind in order of
// their beginning.
func kinds(r *checker.Results, verdict checker.Verdict) []*kindOf {
	var out []*kindOf
	for _, name := range telling(r) {
		c := r.Checks[name]
		if !c.Required || c.Verdict != verdict {
			continue
		}
		for _, f := range c.Findings {
			kind := Kind{Check: name, Rule: f.Rule, Class: f.Class}
			i := slices.IndexFunc(out, func(k *kindOf) bool { return k.Kind == kind })
			if i < 0 {
				i, out = len(out), append(out, &kindOf{Kind: kind})
			}
			out[i].findings = append(out[i].findings, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *kindOf) int { return checker.RankFound(a.first(), b.first()) })
	return out
}

// telling is the order of checks among findings that rank alike.
func telling(r *checker.Results) []string {
	order := slices.Clone(r.Order)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(checker.RankOfCheck(a), checker.RankOfCheck(b)) })
	return order
}

// first is the finding of a kind that ranks first.
func (k *kindOf) first() checker.Found {
	return checker.Found{Check: k.Check, Finding: slices.MinFunc(k.findings, checker.Rank)}
}

// unseen are the findings that are not an event of the worse kinds.
func (k *kindOf) unseen(worse []*kindOf) []checker.Finding {
	return slices.DeleteFunc(slices.Clone(k.findings), func(f checker.Finding) bool {
		return slices.ContainsFunc(worse, func(w *kindOf) bool { return w.sees(k.Kind, f) })
	})
}

// sees reports whether one of the findings is the same event as a finding of another check: of the same class, about
// the same grants. A token that comes twice is never taken for the overlap behind it: there, the fence broke.
func (k *kindOf) sees(other Kind, f checker.Finding) bool {
	if k.Check == other.Check || k.Class != other.Class || k.Check == checker.FencingTokens || other.Check == checker.FencingTokens {
		return false
	}
	return slices.ContainsFunc(k.findings, func(g checker.Finding) bool {
		switch n := checker.SharedGrants(&f, &g); {
		case n >= 2:
			return aboutWriter(k.Check, g, f) && aboutWriter(other.Check, f, g)
		default:
			return isCore(k.Check, g, n) || isCore(other.Check, f, n)
		}
	})
}

// aboutWriter reports whether another finding is about the writer of a finding on data,
// which comes first: two of those that lost their updates to it did nothing to each other.
func aboutWriter(check string, f, other checker.Finding) bool {
	return !isData(check) || slices.Contains(other.Grants, f.Grants[0])
}

// isCore reports whether the grants that a finding shares with another one are the whole
// core of a violation of linearizability: one grant that was gone too early is that of the
// overlap that came of it.
func isCore(check string, f checker.Finding, shared int) bool {
	return check == checker.LockLinearizability && shared > 0 && shared == len(f.Grants)
}

func (k *kindOf) incident(f checker.Finding, all []*kindOf) Incident {
	in := Incident{Kind: k.Kind, Count: len(k.findings), First: f.From, Headline: headlineOf(&f), Finding: f, Cause: because(&f)}
	for _, g := range k.findings {
		in.First = min(in.First, g.From)
	}
	for _, other := range all {
		if other.sees(k.Kind, f) {
			in.Seen = append(in.Seen, other.Kind)
		}
	}
	return in
}

// dataChecks are the checks whose findings are updates that were lost.
var dataChecks = []string{checker.DataPlain, checker.DataFenced}

func isData(check string) bool { return slices.Contains(dataChecks, check) }

// headOf says in front of a headline what kind of finding it is.
func headOf(c checker.Class) string {
	switch c {
	case checker.Inherent:
		return "Inherent to leases: "
	case checker.Defect:
		return "A defect of the lock: "
	default:
		return ""
	}
}
