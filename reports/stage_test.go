package reports

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/reports/internal/stage"
)

func staged(t *testing.T, kind string) (*checker.Results, *history.Record, *stage.Stage) {
	t.Helper()
	r, rec := judged(t, kind)
	all, _ := happened(r, rec)
	var first *happening
	if len(all) > 0 && r.Verdict != checker.Pass {
		first = all[0]
	}
	return r, rec, stageOf(r, rec, first, tell(r, rec).Survived)
}

var notANumber = regexp.MustCompile(`NaN|Inf|[0-9]e[+-][0-9]`)

// For every kind of run: the truth of an exclusive lock has one owner at a time, red is what a client believes beyond it, a run
// that passes has no red, beats are in order, and both pictures are sound XML.
func TestStageOfEveryKind(t *testing.T) {
	for _, kind := range slices.Concat(told, []string{"safe", "slept", "deadlock", "job", "optimistic", "readers"}) {
		r, rec, s := staged(t, kind)
		if s == nil {
			t.Errorf("%s: no picture", kind)
			continue
		}
		for i, b := range s.Truth {
			for _, a := range s.Truth[:i] {
				if !rec.Run.Model.Shares() && !rec.Run.Model.Counts() && a.Lock == b.Lock && b.From < a.Until && a.From < b.Until {
					t.Errorf("%s: %s and %s own the lock at once", kind, a.Client, b.Client)
				}
			}
		}
		wrong := 0
		for _, l := range s.Lanes {
			for _, b := range l.Holds {
				if from := max(b.Until, b.From); b.To > from && from <= s.To && b.To >= s.From {
					wrong++
				}
			}
		}
		if r.Verdict == checker.Pass && wrong > 0 {
			t.Errorf("%s passed, and %d beliefs are wrong", kind, wrong)
		}
		if !slices.IsSortedFunc(s.Beats, func(a, b stage.Beat) int { return int(a.At - b.At) }) || len(s.Beats) > maxBeats {
			t.Errorf("%s: beats %v", kind, s.Beats)
		}
		for _, width := range []int{stage.Wide, stage.Narrow} {
			svg := s.SVG(width)
			if n := strings.Count(svg, `class="wrong"`); n != wrong {
				t.Errorf("%s: %d red beliefs are drawn of %d", kind, n, wrong)
			}
			if bad := notANumber.FindString(svg); bad != "" {
				t.Errorf("%s: the picture has %q", kind, bad)
			}
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
			}
		}
	}
}

// What is not an exclusive lock has a picture and a headline of its own.
func TestStageOfOtherKinds(t *testing.T) {
	for kind, want := range map[string]struct {
		head  string
		drawn []string
		not   string
	}{
		"job": {"c1 and c2 each did the job of period 1", []string{"period 1: done 2 times: c1, c2"}, ""},
		"optimistic": {
			"c1 and c2 both replaced the same value and wiped out 1 update", []string{"0 → 1", "as answered"}, "in the store",
		},
		"readers": {
			"c1 slept through its lease: c1 (a writer) and c2 (a reader) both worked for 510 ms",
			[]string{"reads", "writes", "wrong"},
			"",
		},
		"deadlock": {"", []string{`class="ring"`, "waits for L1", "waits for L2"}, "still sure"},
	} {
		r, rec, s := staged(t, kind)
		all, _ := happened(r, rec)
		if head := headlineOfPage(r, rec, all[0]); want.head != "" && head != want.head {
			t.Errorf("%s: headline %q", kind, head)
		}
		svg := s.SVG(stage.Wide)
		for _, text := range want.drawn {
			if !strings.Contains(svg, text) {
				t.Errorf("%s: the picture lacks %q", kind, text)
			}
		}
		if want.not != "" && strings.Contains(svg, want.not) {
			t.Errorf("%s: the picture has %q", kind, want.not)
		}
	}
}

// A run that passes tells what was survived, and has no red, although a lease was over while its client slept.
func TestStageOfASurvivedPause(t *testing.T) {
	r, rec, s := staged(t, "slept")
	if r.Verdict != checker.Pass || s == nil {
		t.Fatalf("%s: %v", r.Verdict, r.Checks)
	}
	if head := survivedHeadline(tell(r, rec).Survived, rec); head != "c1 slept for 1.50 s, and nobody was hurt" {
		t.Errorf("headline: %q", head)
	}
	over := map[string]bool{}
	for _, l := range s.Lanes {
		for _, b := range l.Holds {
			over[l.Client] = over[l.Client] || b.Over > 0
		}
	}
	if !over["c1"] || over["c2"] {
		t.Errorf("the leases of %v were over", over)
	}
}

// The late write of a paused client is told, falls off the staircase, and bounces off the fence.
func TestStageOfAPause(t *testing.T) {
	r, rec, s := staged(t, "paused")
	all, _ := happened(r, rec)
	if head := headlineOfPage(r, rec, all[0]); head != "c1 slept through its lease and wiped out 1 update" {
		t.Errorf("headline: %q", head)
	}
	if c := chipOf(r, all[0]); c.Text != "needs a fence" {
		t.Errorf("chip: %q", c.Text)
	}
	if s.Me != "c1" || len(s.Stairs) != 2 || s.Stairs[0].Register != "plain" {
		t.Fatalf("the story of %q with %d registers", s.Me, len(s.Stairs))
	}
	late := func(st stage.Stair) (wrong, refused int) {
		for _, w := range st.Writes {
			switch {
			case w.Wrong:
				wrong++
			case !w.OK && w.Client == s.Me:
				refused++
			}
		}
		return wrong, refused
	}
	if wrong, _ := late(s.Stairs[0]); wrong == 0 {
		t.Error("without a fence, no write is wrong")
	}
	if wrong, refused := late(s.Stairs[1]); wrong != 0 || refused == 0 {
		t.Errorf("behind the fence %d writes are wrong, %d refused", wrong, refused)
	}
	svg := s.SVG(stage.Wide)
	for _, want := range []string{`class="late"`, `class="shield"`, "No fence: 1 acknowledged update gone", "With a fence: "} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
}

// What is no character of a text does not end the data of the script: such a name is shown, and the page works.
func TestStageDataIsJSON(t *testing.T) {
	r, rec := judged(t, "paused")
	for _, g := range rec.Grants {
		g.Client = "c\U000E0001\u202e\u2028\x00\xff"
	}
	_, data, _ := strings.Cut(rendered(t, r, rec), `id="stage-data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var s stage.Stage
	if err := json.Unmarshal([]byte(data), &s); err != nil || !strings.HasPrefix(s.Me, "c") {
		t.Errorf("%q: %v in %s", s.Me, err, data)
	}
}

// Names of a record are text.
func TestStageEscapes(t *testing.T) {
	const evil = `</svg><script>alert(1)</script>&"'`
	r, rec := judged(t, "paused")
	for _, g := range rec.Grants {
		g.Client = evil
	}
	all, _ := happened(r, rec)
	s := stageOf(r, rec, all[0], nil)
	_, data, _ := strings.Cut(rendered(t, r, rec), `id="stage-data">`)
	data, _, _ = strings.Cut(data, "</script>")
	for _, text := range []string{s.SVG(stage.Wide), s.SVG(stage.Narrow), data} {
		if strings.Contains(text, "<script") || !strings.Contains(text, "alert") {
			t.Errorf("not escaped: %s", text)
		}
	}
}
