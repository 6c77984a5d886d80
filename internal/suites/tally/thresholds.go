package tally

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Threshold is what a figure of a cell must keep to, stored as its text, as in
//
//	acquire.p99 < 50ms
//	recovery <= 2*ttl
//	lost-updates.fenced == 0
//	violating.runs < 5%
type Threshold struct {
	Text   string
	Figure Figure
	Op     string
	limit  float64
	ttls   float64 // times the ttl of the run, beside the limit
}

// MarshalText is the threshold as it was written.
func (t Threshold) MarshalText() ([]byte, error) { return []byte(t.Text), nil }

// UnmarshalText reads it again.
func (t *Threshold) UnmarshalText(b []byte) (err error) {
	*t, err = ParseThreshold(string(b))
	return err
}

var threshold = regexp.MustCompile(`^\s*([a-z][a-z0-9.-]*)\s*(<=|>=|==|<|>)\s*(\S.*?)\s*$`)

// ParseThreshold reads one.
func ParseThreshold(s string) (Threshold, error) {
	m := threshold.FindStringSubmatch(s)
	if m == nil {
		return Threshold{}, fmt.Errorf("%q is not a threshold: write FIGURE < LIMIT, for example %q (operators: <, <=, >, >=, ==)", s,
			"acquire.p99 < 50ms")
	}
	f, ok := Find(m[1])
	if !ok {
		meant := strings.TrimSpace(catalog.DidYouMean(m[1], Names()))
		return Threshold{}, fmt.Errorf("%q: unknown figure %s: %s", s, m[1], cmp.Or(meant,
			"choose one of "+strings.Join(Names(), ", ")))
	}
	t := Threshold{Text: strings.TrimSpace(s), Figure: f, Op: m[2]}
	if err := t.read(m[3]); err != nil {
		return Threshold{}, fmt.Errorf("%q: %w", s, err)
	}
	return t, nil
}

var times = regexp.MustCompile(`^(?:([0-9.]+)\s*\*?\s*)?ttl$`)

// read takes a limit in the unit of the figure.
func (t *Threshold) read(limit string) error {
	switch t.Figure.Unit {
	case Time:
		if m := times.FindStringSubmatch(limit); m != nil {
			t.ttls = 1
			if m[1] == "" {
				return nil
			}
			var err error
			t.ttls, err = strconv.ParseFloat(m[1], 64)
			return err
		}
		d, err := time.ParseDuration(limit)
		if err != nil {
			return fmt.Errorf("%s is a time: write 50ms, 1.5s or 2*ttl, not %q", t.Figure.Name, limit)
		}
		t.limit = float64(d)
	default:
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(limit, "%")), 64)
		switch {
		case err != nil:
			return fmt.Errorf("%s needs a number, not %q", t.Figure.Name, limit)
		case strings.HasSuffix(limit, "%") && t.Figure.Unit != Percent:
			return fmt.Errorf("%s is no share, but has the unit %q: remove the %%", t.Figure.Name, t.Figure.Unit)
		}
		t.limit = v
	}
	return nil
}

// ErrNotMeasured says that no run has measured what a threshold is about.
var ErrNotMeasured = errors.New("was not measured")

// Holds reports whether runs with a ttl keep to it, and the measured value. Where the figure was not measured
// the error says so: nobody knows.
func (t Threshold) Holds(runs []Sample, ttl time.Duration) (got Value, holds bool, err error) {
	got, ok := t.Figure.Over(runs)
	if !ok {
		return got, false, fmt.Errorf("%s %w", t.Figure.Name, ErrNotMeasured)
	}
	limit := t.limit + t.ttls*float64(ttl)
	return got, map[string]bool{
		"<": got.Value < limit, "<=": got.Value <= limit, ">": got.Value > limit, ">=": got.Value >= limit, "==": got.Value == limit,
	}[t.Op], nil
}

// Text is a value of the figure for people.
func (f Figure) Text(v float64) string {
	switch f.Unit {
	case Time:
		d := time.Duration(v)
		switch {
		case d >= time.Second:
			return fmt.Sprintf("%.2f s", d.Seconds())
		case d >= time.Millisecond:
			return fmt.Sprintf("%.1f ms", float64(d)/1e6)
		default:
			return fmt.Sprintf("%.0f us", float64(d)/1e3)
		}
	case Percent:
		return three(v) + " %"
	case PerMille, PerSec:
		return three(v)
	default:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
}

// With is a value with its interval for people.
func (f Figure) With(v Value) string {
	if v.Low == v.High {
		return f.Text(v.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", f.Text(v.Value), f.Text(v.Low), f.Text(v.High))
}

// three are the first three digits of a number, and all before the point.
func three(v float64) string {
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
