package reports

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/reports/internal/stage"
)

// every are the kinds of runs that have a picture.
var every = slices.Concat(told, []string{"slept", "deadlock", "job", "optimistic", "readers"})

var believes = regexp.MustCompile(`(\S+) (?:still believes that it owns it|cannot know)\.`)

// What a beat says that a client believed is what its lane shows at that moment.
func TestBeatsAgreeWithLanes(t *testing.T) {
	said := 0
	for _, kind := range every {
		_, _, s := staged(t, kind)
		for _, b := range s.Beats {
			m := believes.FindStringSubmatch(b.Text)
			if m == nil {
				continue
			}
			said++
			i := slices.IndexFunc(s.Lanes, func(l stage.Lane) bool { return l.Client == m[1] })
			if i < 0 || !slices.ContainsFunc(s.Lanes[i].Holds, func(h stage.Belief) bool { return h.From <= b.At && b.At < h.To }) {
				t.Errorf("%s: %q, but it did not", kind, b.Text)
			}
		}
	}
	if said < 8 {
		t.Errorf("only %d beats say what a client believed", said)
	}
}

func beatsOf(t *testing.T, kind string) string {
	t.Helper()
	_, _, s := staged(t, kind)
	var b strings.Builder
	for _, beat := range s.Beats {
		b.WriteString(beat.Title + ": " + beat.Text + "\n")
	}
	return b.String()
}

// A beat says what is true of its own grant and fault.
func TestBeatsSayWhatHappened(t *testing.T) {
	for kind, want := range map[string]string{
		"between":  "The release of c1 is still on its way.",
		"failover": "It gets a lease of 3.00 s.",
		"slept":    "Its lease was over when the answer came",
		"paused":   "client-pause strikes c1: Just before c1's write: stopped of pid 7",
	} {
		if text := beatsOf(t, kind); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", kind, want, text)
		}
	}
}

// The beat of a fault has the line of code that an adapter told, and every beat the event that shows it.
func TestBeatsHaveEvidence(t *testing.T) {
	_, rec := judged(t, "paused")
	in := rec.Faults[0]
	rec.Events = append(rec.Events, *history.Line{
		F: history.FPoint, Type: history.Invoke, Party: in.By, Grant: in.Grant, Time: in.Began(), Message: "<lock>.py:31",
	}.Event())
	if b := struckBy(in, rec); b.Source != "<lock>.py:31" || b.Event != in.Invoke.Index || strings.Contains(b.Text, ".py") {
		t.Errorf("%+v", b)
	}
	for _, kind := range every {
		_, rec, s := staged(t, kind)
		for _, b := range s.Beats {
			if b.Event < 0 || b.Event >= int64(len(rec.Events)) || rec.Events[b.Event].Time > b.At {
				t.Errorf("%s: the beat %q names event %d", kind, b.Title, b.Event)
			}
		}
	}
}

// A wait is no damage: only the one that closes the ring of a deadlock is.
func TestOneWaitIsNotRed(t *testing.T) {
	_, _, s := staged(t, "deadlock")
	var bad []string
	for _, b := range s.Beats {
		if b.Bad {
			bad = append(bad, b.Title)
			if b.At != s.Ring {
				t.Errorf("the ring closes at %d, and %q is at %d", s.Ring, b.Title, b.At)
			}
		}
	}
	if !slices.Equal(bad, []string{"c2 waits"}) {
		t.Errorf("red: %q", bad)
	}
	for _, kind := range every {
		if _, _, s := staged(t, kind); kind != "deadlock" && s.Ring != 0 {
			t.Errorf("%s has a ring", kind)
		}
	}
}

// Red is for defects of the lock alone.
func TestChips(t *testing.T) {
	chips := map[string]chip{}
	for _, kind := range append([]string{"nothing"}, every...) {
		r, rec := judged(t, kind)
		d := pageOf(r, rec, Context{})
		all, _ := happened(once(r), rec)
		defect := len(all) > 0 && all[0].first().Class == checker.Defect && r.Verdict == checker.Fail
		if defect != (d.Chip.Class == "broken") {
			t.Errorf("%s: %+v", kind, d.Chip)
		}
		chips[kind] = d.Chip
	}
	for kind, want := range map[string]chip{
		"nothing": {"nothing tested", "none"}, "slept": {"nothing broken", "pass"}, "paused": {"needs a fence", "fence"},
		"failover": {"broken lock", "broken"}, "job": {"job done twice", "other"}, "deadlock": {"deadlock", "other"},
	} {
		if chips[kind] != want {
			t.Errorf("%s: %+v", kind, chips[kind])
		}
	}
	if c := chipOf(&checker.Results{Verdict: checker.Unknown, Stats: map[string]int64{"grants": 1}}, nil); c.Text != "inconclusive" {
		t.Errorf("with grants and without a verdict: %+v", c)
	}
}

// The heading of an incident says what led to it and counts what came of it.
func TestHeadingsCountFindings(t *testing.T) {
	for kind, want := range map[string][2]string{
		"paused":     {"1 client-pause: 1 overlap, 1 lost update", "the costliest"},
		"between":    {"1 client-pause: 1 foreign release, 1 lost lease", "the longest"},
		"failover":   {"1 failover-kill: 1 overlap, 1 lost lease, 1 late notice", "the gravest"},
		"optimistic": {},
	} {
		r, rec := judged(t, kind)
		all, _ := happened(r, rec)
		if got := all[0].kinds; got != want[0] {
			t.Errorf("%s: %q", kind, got)
		} else if as := toldAs(all[0]); got != "" && as != want[1] {
			t.Errorf("%s: the story is that of %s", kind, as)
		}
	}
}

// What was checked is said: by how many events a violation is proven, and which checks a run passed.
func TestVerifiedSaysWhat(t *testing.T) {
	for kind, want := range map[string]string{
		"paused": "", "slept": "checked: ownership, mutual-exclusion, ", "nothing": "",
	} {
		r, rec := judged(t, kind)
		d := pageOf(r, rec, Context{})
		if !strings.HasPrefix(d.Verified, want) || (want == "") != (d.Verified == "") {
			t.Errorf("%s: %q", kind, d.Verified)
		}
		if len(d.Told) > 0 {
			d.Told[0].Proof = &proofShown{Events: []int64{0, 3}}
			if got := d.verified(); got != "verified by 2 events" {
				t.Errorf("with a proof: %q", got)
			}
		}
	}
}

// A period that nobody did is in the picture, however many there are.
func TestJobsOfNobody(t *testing.T) {
	r, rec := judged(t, "job")
	for _, c := range rec.Calls {
		if c.Invoke.F() == history.FWork && c.Invoke.Grant() == "c1-2" {
			l := c.Invoke.Line()
			l.Value.JSON = []byte(`{"period":9000000000000000000}`)
			*c.Invoke = *l.Event()
		}
	}
	rec.Run.Bounds = maps.Clone(rec.Run.Bounds)
	rec.Run.Bounds["period"] = 60_000_000
	all, _ := happened(r, rec)
	s := stageOf(r, rec, all[0], nil)
	var by []int
	for _, p := range s.Periods {
		by = append(by, len(p.By))
	}
	if len(by) < 2 || by[0] != 2 || by[1] != 0 || len(by) > 70 {
		t.Fatalf("done %v times", by)
	}
	if svg := s.SVG(stage.Wide); !strings.Contains(svg, "period 2: done by nobody") {
		t.Error("it is not drawn")
	}
}

// A page of a long run has what is around each fault and each finding, and says how to print the rest.
func TestEventsOfALongRun(t *testing.T) {
	r, rec := judged(t, "late-del")
	near := nearOf(false, rec, nil, foundIn(r))
	var want []int64
	for _, in := range rec.Faults {
		want = append(want, in.Began(), in.Until())
	}
	for _, f := range foundIn(r) {
		want = append(want, f.Finding.From, f.Finding.To)
	}
	for _, at := range want {
		if !within(near, at, at) {
			t.Errorf("%d is not in %v", at, near)
		}
	}
	if within(near, 500_000_000, 600_000_000) {
		t.Errorf("all of the run is in %v", near)
	}
	text := absent(1000, 300, []history.Interval{{From: 0, To: 5}, {From: 90, To: 100}})
	if !strings.Contains(text, `awk -F'[:,]' '$4 > 5 && $4 < 90' history.jsonl`) || !strings.Contains(text, "1000 events") {
		t.Error(text)
	}
}
