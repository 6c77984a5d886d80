package matrix

// Sides are two suites beside each other, figure by figure.
type Sides struct {
	Before, After string // their names
	Rows          []Side
}

// Side is a figure of a cell in both suites.
type Side struct {
	Cell, Figure  string
	Doc           string
	Before, After Value
	Ratio         string // after to before; empty: there is none
	Differs       bool   // significantly
	Note          string
}

// Differ are the rows that differ, Alike the others.
func (s *Sides) Differ() []Side { return s.where(true) }

// Alike are the rows without a significant difference.
func (s *Sides) Alike() []Side { return s.where(false) }

func (s *Sides) where(differs bool) (out []Side) {
	for _, r := range s.Rows {
		if r.Differs == differs {
			out = append(out, r)
		}
	}
	return out
}

// Of is a part of the rows, under the same names.
func (s *Sides) Of(rows []Side) *Sides { return &Sides{Before: s.Before, After: s.After, Rows: rows} }
