package reports

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/reports/internal/stage"
)

// number is a figure with its unit; names such as c1 and L1 are none.
var number = regexp.MustCompile(`(?:^|[^\w.-])(\d+(?:\.\d+)?(?: (?:ns|us|ms|s)\b)?)`)

// known are all figures of the results, as a page writes them.
func known(r *checker.Results) map[string]bool {
	out := map[string]bool{}
	add := func(values ...int64) {
		for _, v := range values {
			for _, text := range []string{strconv.FormatInt(v, 10), checker.Millis(v), span(v), moment(v), checker.Seconds(v)} {
				out[text] = true
			}
		}
	}
	add(r.TTL, int64(r.Seed), int64(r.Clients))
	for _, v := range r.Stats {
		add(v)
	}
	for _, register := range registers {
		l := lossesIn(r, register)
		add(l.lost, l.most, l.overwritten, l.back)
	}
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			add(f.From, f.To, f.To-f.From, f.Lost, f.Overwritten, f.Overwritten-f.Lost)
			var at []float64 // moments of the message, whose differences are lengths
			for _, n := range number.FindAllStringSubmatch(f.Message, -1) {
				out[n[1]] = true
				if s, ok := strings.CutSuffix(n[1], " s"); ok {
					v, err := strconv.ParseFloat(s, 64)
					if err != nil {
						panic(err)
					}
					for _, before := range at {
						add(int64((v - before) * 1e9))
					}
					at = append(at, v)
				}
			}
		}
	}
	return out
}

var updates = regexp.MustCompile(`\d+ (?:acknowledged )?updates?`)

var ofRule = regexp.MustCompile(`(\d+) ([a-z ]+?)(?:,|$)`)

// The headings of incidents count each finding of the results once.
func TestHeadingsCountAllFindings(t *testing.T) {
	for _, kind := range every {
		r, rec := judged(t, kind)
		all, _ := happened(r, rec)
		got, want := map[string]int{}, map[string]int{}
		for _, f := range foundIn(r) {
			want[strings.ReplaceAll(f.Finding.Rule, "-", " ")]++
		}
		for _, h := range all {
			_, counts, several := strings.Cut(h.kinds, ": ")
			if !several {
				got[strings.ReplaceAll(h.first().Rule, "-", " ")]++
			}
			for _, m := range ofRule.FindAllStringSubmatch(counts, -1) {
				n, rule := 0, m[2]
				if _, err := fmt.Sscan(m[1], &n); err != nil {
					t.Fatal(err)
				}
				if n > 1 {
					rule = strings.TrimSuffix(rule, "s")
				}
				got[rule] += n
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: the headings count %v, the results have %v", kind, got, want)
		}
	}
}

// Every figure of the first screen and of the totals is one of results.json.
func TestEveryFigureIsInTheResults(t *testing.T) {
	for _, kind := range every {
		r, rec, s := staged(t, kind)
		d := pageOf(r, rec, Context{})
		texts := []string{d.Title, d.Headline, d.Screen.Verdict, d.Screen.Kind, d.Screen.Cure}
		texts = append(texts, d.Story.Totals...)
		svg := s.SVG(stage.Wide)
		for _, title := range regexp.MustCompile(`class="title[^>]*>([^<]*)<`).FindAllStringSubmatch(svg, -1) {
			texts = append(texts, title[1])
		}
		for _, b := range s.Beats { // what they say of values and tokens is the record's
			texts = append(texts, updates.FindAllString(b.Text, -1)...)
		}
		figures := known(r)
		if w := d.Story.Survived; w != nil {
			if in := hardestOf(w, rec); in != nil {
				figures[span(in.Until()-in.Began())] = true // of the table of faults
			}
		}
		for _, text := range texts {
			for _, n := range number.FindAllStringSubmatch(text, -1) {
				if !figures[n[1]] {
					t.Errorf("%s: %q of %q is no figure of the results", kind, n[1], text)
				}
			}
		}
		if figures["12345"] || !figures[fmt.Sprint(r.Stats["grants"])] {
			t.Errorf("%s: the test takes anything for a figure", kind)
		}
	}
}
