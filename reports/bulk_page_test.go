package reports

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// rendered is the page of a run.
func rendered(t *testing.T, r *checker.Results, rec *history.Record) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, rec, Context{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	details = regexp.MustCompile(`(?s)</summary>.*?</details>`)
	viewBox = regexp.MustCompile(`viewBox="0 0 1180 (\d+)"`)
)

// closedHeight is about how many pixels high a page is while everything that is folded
// stays so: rows of tables have two to four lines, figures stand in five columns.
func closedHeight(page string) int {
	page = details.ReplaceAllString(page, "</summary></details>")
	height := 100
	for _, m := range viewBox.FindAllStringSubmatch(page, -1) {
		h, _ := strconv.Atoi(m[1])
		height += h
	}
	for piece, each := range map[string]int{
		"<tr": 55, "<li": 30, "<h2": 70, "<h3": 60, "<summary": 26, "<p class=\"legend": 100,
		"<b>": 10,
	} {
		height += each * strings.Count(page, piece)
	}
	return height
}

// However long a run is, its page is short, and no link of it is dead.
func TestPageOfLongRun(t *testing.T) {
	for name, of := range map[string]struct{ clients, events int }{
		"five clients": {5, 200_000}, "twenty clients, with gaps": {20, 30_000}, "two hundred clients": {200, 60_000},
	} {
		t.Run(name, func(t *testing.T) {
			r, rec := longRun(t, of.clients, of.events)
			page := rendered(t, r, rec)
			if len(page) > 3_000_000 {
				t.Errorf("the page has %d bytes", len(page))
			}
			if h := closedHeight(page); h > 7000 { // all sixteen checks fail, with a hundred findings each
				t.Errorf("the page is %d pixels high", h)
			}
			linked(t, page)
			for _, want := range []string{"more cited events", "more findings (in results.json)", "more faults (in history.jsonl)"} {
				if !strings.Contains(page, want) {
					t.Errorf("the page does not say %q", want)
				}
			}
			if n := strings.Count(page, `<span id="e`); n != maxEvents {
				t.Errorf("%d events are shown, want %d", n, maxEvents)
			}
		})
	}
}

// The estimate of the height sees what stands open.
func TestClosedHeight(t *testing.T) {
	open := strings.Repeat("<tr><td></td></tr>", 100)
	if folded := "<details><summary></summary>" + open + "</details>"; closedHeight(open) < 5000 || closedHeight(folded) > 1000 {
		t.Errorf("open %d, folded %d", closedHeight(open), closedHeight(folded))
	}
}

var (
	hrefs = regexp.MustCompile(`href="([^"]*)"`)
	ids   = regexp.MustCompile(` id="([^"]*)"`)
)

// linked checks that every link of a page leads to one place of it.
func linked(t *testing.T, page string) {
	t.Helper()
	places := map[string]int{}
	for _, m := range ids.FindAllStringSubmatch(page, -1) {
		places[m[1]]++
		if places[m[1]] > 1 {
			t.Errorf("two places are called %s", m[1])
		}
	}
	for _, m := range hrefs.FindAllStringSubmatch(page, -1) {
		if place, inside := strings.CutPrefix(m[1], "#"); !inside || places[place] == 0 {
			t.Errorf("the link to %s is dead", m[1])
		}
	}
	for _, line := range regexp.MustCompile(`(?m)<span id="e\d+">.*$`).FindAllString(page, -1) {
		if !strings.Contains(line, `<a href="#`) {
			t.Errorf("no way back from %.60s", line)
		}
	}
}

// No link of a page is dead: of a pass, a violation, a defect, of liveness, of nothing.
func TestLinks(t *testing.T) {
	for _, name := range append([]string{"nothing"}, told...) {
		r, rec := judged(t, name)
		page := rendered(t, r, rec)
		linked(t, page)
		if n := strings.Count(page, `href="#e`); n == 0 && r.Verdict == checker.Fail {
			t.Errorf("%s: no link to an event", name)
		}
		for check, c := range r.Checks {
			if len(c.Findings) > 0 && !strings.Contains(page, `href="#`+check+`"`) {
				t.Errorf("%s: no link to the findings of %s", name, check)
			}
		}
	}
	r, rec := judged(t, "paused")
	c := r.Checks[checker.Liveness]
	c.Verdict, c.Required = checker.Fail, true
	c.Findings = []checker.Finding{finding("no-recovery", checker.NoClass, 5)}
	c.Findings[0].Events = []int64{1, 2, 999_999} // the last is not on record
	r.Checks[checker.Liveness] = c
	linked(t, rendered(t, r, rec))
}

// What can be focused says what it is, and every column of a table is named.
func TestAccessible(t *testing.T) {
	r, rec := judged(t, "paused")
	page := rendered(t, r, rec)
	if m := regexp.MustCompile(`<th>`).FindString(page); m != "" {
		t.Error("a heading of a table has no scope")
	}
	stops := regexp.MustCompile(
		`(?s)tabindex="0" role="(?:img">.{0,200}?<title>([^<]*)</title>|application" aria-label="([^"]*)")`).FindAllStringSubmatch(page,
		-1)
	if len(stops) == 0 || len(stops) != strings.Count(page, `tabindex="0"`) {
		t.Errorf("%d of %d stops of the keyboard have a title", len(stops), strings.Count(page, `tabindex="0"`))
	}
	for _, m := range stops {
		if m[1]+m[2] == "" {
			t.Error("a stop of the keyboard says nothing")
		}
	}
}
