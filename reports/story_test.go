package reports

import (
	"bytes"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
)

// told are the histories whose story is held by a golden file.
var told = []string{"paused", "safe", "failover", "late-del", "late-del-alone", "told", "revoked", "between"}

func finding(rule string, class checker.Class, from int64, grants ...string) checker.Finding {
	return checker.Finding{
		Rule: rule, Class: class, Gating: true, From: from, To: from + 1, Grants: grants, Message: rule,
		Events: []int64{}, Cause: "no fault in the record explains this",
	}
}

func doubtful(f checker.Finding) checker.Finding { f.Doubtful = true; return f }

func reported(f checker.Finding) checker.Finding { f.Gating = false; return f }

// failed are results in which the named checks are required and fail.
func failed(found map[string][]checker.Finding) *checker.Results {
	r := &checker.Results{Verdict: checker.Fail, Checks: map[string]checker.Result{}, Stats: checker.Figures{}}
	for _, c := range checks.Default().All() {
		r.Order = append(r.Order, c.Name)
		r.Checks[c.Name] = checker.Result{Verdict: checker.Pass, Required: true}
		if f := found[c.Name]; len(f) > 0 {
			r.Checks[c.Name] = checker.Result{Verdict: checker.Fail, Required: true, Findings: f}
		}
	}
	return r
}

// The worst incident comes first, whichever check found it; what happened once is told once.
func TestOrderOfIncidents(t *testing.T) {
	overlap := func(class checker.Class, from int64, grants ...string) checker.Finding {
		return finding("overlap", class, from, grants...)
	}
	for name, tc := range map[string]struct {
		checks map[string][]checker.Finding
		want   []string // check, rule, class, grants of the finding that is told; what else came of it; the others
	}{
		"a defect beside what is inherent": {
			map[string][]checker.Finding{
				checker.MutualExclusion: {overlap(checker.Inherent, 1, "a", "b")},
				checker.Ownership:       {finding("foreign-release", checker.Defect, 2, "a", "b")},
			},
			[]string{"ownership foreign-release defect a b", "No fault: 1 foreign release, 1 overlap"},
		},
		"both in one check": {
			map[string][]checker.Finding{checker.MutualExclusion: {
				overlap(checker.Inherent, 1, "a", "b"),
				overlap(checker.Defect, 5, "b", "c"),
			}},
			[]string{"mutual-exclusion overlap defect b c", "mutual-exclusion overlap inherent a b"},
		},
		"liveness beside what is inherent": {
			map[string][]checker.Finding{
				checker.MutualExclusion: {overlap(checker.Inherent, 1, "a", "b")},
				checker.Liveness:        {finding("no-recovery", checker.NoClass, 9)},
			},
			[]string{"liveness no-recovery none ", "mutual-exclusion overlap inherent a b"},
		},
		"undetermined before no class": {
			map[string][]checker.Finding{
				checker.MutualExclusion: {overlap(checker.Undetermined, 7, "a", "b")},
				checker.Liveness:        {finding("orphan", checker.NoClass, 3, "c")},
			},
			[]string{"mutual-exclusion overlap undetermined a b", "liveness orphan none c"},
		},
		"what is certain before a defect in doubt, and that before what does not gate": {
			map[string][]checker.Finding{
				checker.MutualExclusion: {reported(overlap(checker.Inherent, 1, "a", "b"))},
				checker.Ownership:       {doubtful(finding("foreign-release", checker.Defect, 1, "c", "d"))},
				checker.DataFenced:      {finding("late-write", checker.Inherent, 4, "e", "f")},
			},
			[]string{
				"data-fenced late-write inherent e f", "ownership foreign-release defect c d",
				"mutual-exclusion overlap inherent a b",
			},
		},
		"of a kind, the certain one is told": {
			map[string][]checker.Finding{checker.MutualExclusion: {
				doubtful(overlap(checker.Inherent, 1, "a", "b")),
				overlap(checker.Inherent, 2, "c", "d"),
			}},
			[]string{"mutual-exclusion overlap inherent c d", "mutual-exclusion overlap inherent a b"},
		},
		"of a kind, the one by which an update was lost": {
			map[string][]checker.Finding{
				checker.MutualExclusion: {overlap(checker.Inherent, 1, "a", "b"), losing(overlap(checker.Inherent, 2, "c", "d"))},
				checker.DataPlain:       {losing(finding("lost-update", checker.Inherent, 3, "c", "d"))},
			},
			[]string{
				"mutual-exclusion overlap inherent c d", "No fault: 1 overlap, 1 lost update",
				"mutual-exclusion overlap inherent a b",
			},
		},
		"the same event, seen by three checks": {
			map[string][]checker.Finding{
				checker.MutualExclusion:     {overlap(checker.Defect, 1, "a", "b")},
				checker.LockLinearizability: {finding("lost-lease", checker.Defect, 2, "a")},
				checker.DataPlain:           {finding("lost-update", checker.Defect, 3, "b", "a")},
			},
			[]string{"mutual-exclusion overlap defect a b", "No fault: 1 overlap, 1 lost lease, 1 lost update"},
		},
		"two kinds, and one event of the second is not of the first": {
			map[string][]checker.Finding{
				checker.MutualExclusion: {overlap(checker.Defect, 1, "a", "b")},
				checker.LockLinearizability: {
					finding("double-grant", checker.Defect, 1, "a", "b"),
					finding("double-grant", checker.Defect, 8, "x", "y"),
				},
			},
			[]string{
				"mutual-exclusion overlap defect a b", "No fault: 1 overlap, 1 double grant",
				"lock-linearizability double-grant defect x y",
			},
		},
		"who lost an update to two that met": {
			map[string][]checker.Finding{
				checker.MutualExclusion: {overlap(checker.Inherent, 1, "b", "c")},
				checker.DataPlain:       {finding("lost-update", checker.Inherent, 3, "a", "b", "c")},
			},
			[]string{"mutual-exclusion overlap inherent b c", "No fault: 1 overlap, 1 lost update"},
		},
		"a token that comes twice, beside the overlap": {
			map[string][]checker.Finding{
				checker.MutualExclusion: {overlap(checker.Defect, 1, "a", "b")},
				checker.FencingTokens:   {finding("duplicate", checker.Defect, 1, "a", "b")},
			},
			[]string{"mutual-exclusion overlap defect a b", "No fault: 1 overlap, 1 duplicate"},
		},
		"a fence that locks its holder out, beside a lease that was lost": {
			map[string][]checker.Finding{
				checker.LockLinearizability: {finding("lost-lease", checker.Defect, 1, "a")},
				checker.FencingTokens:       {finding("refused-valid", checker.Defect, 1, "a")},
			},
			[]string{"lock-linearizability lost-lease defect a", "No fault: 1 lost lease, 1 refused valid"},
		},
		"one grant alone does not make two findings the same event": {
			map[string][]checker.Finding{
				checker.Liveness:  {finding("orphan", checker.NoClass, 1, "a")},
				checker.DataPlain: {finding("log-mismatch", checker.NoClass, 1, "a")},
			},
			[]string{"data-plain log-mismatch none a", "liveness orphan none a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := failed(tc.checks)
			worst, also := tell(r, &history.Record{}).failures(r)
			var got []string
			for _, in := range append(withKind(nil, worst.found[0]), also...) {
				f := in.Finding
				got = append(got, strings.Join([]string{in.Check, f.Rule, string(f.Class), strings.Join(f.Grants, " ")}, " "))
			}
			if worst.kinds != "" {
				got = slices.Insert(got, 1, worst.kinds)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("told %q, want %q", got, tc.want)
			}
		})
	}
}

// losing is a finding by which an update was lost.
func losing(f checker.Finding) checker.Finding {
	f.Lost = 1
	return f
}

// A kind says how often it came up beside the worst, and since when.
func TestIncidentOfKind(t *testing.T) {
	r := failed(map[string][]checker.Finding{
		checker.MutualExclusion: {
			losing(finding("overlap", checker.Inherent, 9, "a", "b")),
			finding("overlap", checker.Inherent, 4, "c", "d"),
			finding("overlap", checker.Inherent, 6, "e", "f"),
		},
		checker.DataPlain: {losing(finding("lost-update", checker.Inherent, 10, "b", "a"))},
	})
	worst, also := tell(r, &history.Record{}).failures(r)
	if len(worst.found) != 2 || len(also) != 1 || also[0].Count != 2 || also[0].First != 4 {
		t.Errorf("%+v; also %+v; want two findings, and two overlaps from 4 on", worst.found, also)
	}
}

// What a required check found is told, even if what another one found of the same ranks before it.
func TestIncidentBehindAnother(t *testing.T) {
	r := failed(map[string][]checker.Finding{
		checker.LossNotice: {finding("late-notice", checker.Defect, 1, "a", "b")},
		checker.Ownership:  {reported(finding("foreign-release", checker.Defect, 2, "a", "b"))},
	})
	c := r.Checks[checker.LossNotice]
	c.Required = false
	r.Checks[checker.LossNotice] = c
	worst, also := tell(r, &history.Record{}).failures(r)
	if worst == nil || len(worst.found) != 2 || worst.found[0].Check != checker.LossNotice || also != nil {
		t.Errorf("told %+v, %v", worst, also)
	}
}

// What no required check answers for is no incident; what passes is only noted.
func TestNoIncident(t *testing.T) {
	r := failed(map[string][]checker.Finding{
		checker.LossNotice: {finding("late-notice", checker.NoClass, 1, "a", "b")},
		checker.Liveness:   {doubtful(finding("no-recovery", checker.NoClass, 1))},
	})
	c := r.Checks[checker.LossNotice]
	c.Required = false
	r.Checks[checker.LossNotice] = c
	c = r.Checks[checker.Liveness]
	c.Verdict = checker.Unknown
	r.Checks[checker.Liveness] = c
	r.Checks[checker.Ownership] = checker.Result{
		Verdict: checker.Pass, Required: true,
		Findings: []checker.Finding{reported(finding("orphan", checker.NoClass, 3, "a"))},
	}
	s := tell(r, &history.Record{})
	if worst, also := s.failures(r); worst != nil || also != nil {
		t.Errorf("told %v, %v", worst, also)
	}
	if len(s.Noted) != 1 || s.Noted[0].Finding.Rule != "orphan" {
		t.Fatalf("noted %v", s.Noted)
	}
	var b bytes.Buffer
	(&printer{w: &b}).story(r, &history.Record{}, s)
	want := "  Finding without effect on the verdict: orphan; rule orphan (check ownership), 1 finding, at 0.000 s.\n"
	if b.String() != want {
		t.Errorf("the terminal says %q, want %q", b.String(), want)
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// The terminal and the page say the same, because they render the same data.
func TestTerminalAndPageAgree(t *testing.T) {
	for _, name := range told {
		r, rec := judged(t, name)
		var term, page bytes.Buffer
		if err := Summary(&term, r, rec, Style{}); err != nil {
			t.Fatal(err)
		}
		if err := HTML(&page, r, rec, Context{}); err != nil {
			t.Fatal(err)
		}
		text := html.UnescapeString(tags.ReplaceAllString(page.String(), ""))
		s := tell(r, rec)
		worst, others := s.failures(r)
		if worst != nil {
			f := worst.first()
			has(t, name+": page", text, append(texts(worst.steps), headlineOf(f), f.Message, worst.kinds)...)
			has(t, name+": terminal", term.String(), append(texts(beats(worst.steps)), because(f), worst.kinds)...)
		}
		for _, in := range others {
			has(t, name+": page", text, in.Finding.Message)
			has(t, name+": terminal", term.String(), also(in))
		}
		if s.Survived != nil {
			has(t, name+": page", text, append(texts(s.Survived.Steps), s.Survived.Headline)...)
		}
		for _, total := range s.Totals {
			has(t, name+": terminal", term.String(), total)
			has(t, name+": page", text, total)
		}
	}
}

func texts(steps []Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Text)
	}
	return out
}

func has(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("the %s lacks %q", where, p)
		}
	}
}

// Every step says when, who, what kind and which events show it; steps are in order.
func TestSteps(t *testing.T) {
	seen := map[StepKind]bool{}
	for _, name := range told {
		r, rec := judged(t, name)
		for _, h := range tell(r, rec).Happened {
			last := int64(0)
			for _, s := range h.steps {
				seen[s.Kind] = true
				if s.At < last || s.Party == "" || s.Text == "" || len(s.Events) == 0 ||
					s.Bad != (s.Kind == StepLost || s.Kind == StepOverwritten || strings.Contains(s.Text, ", although ")) {
					t.Errorf("%s: %+v after %d", name, s, last)
				}
				last = s.At
				for _, i := range s.Events {
					if i < 0 || i >= int64(len(rec.Events)) || rec.Events[i].Index != i {
						t.Errorf("%s: %q names the event %d, which does not exist", name, s.Text, i)
					}
				}
			}
		}
	}
	for _, k := range []StepKind{
		StepGranted, StepLeaseOver, StepTold, StepRead, StepWrite, StepRefused, StepRelease, StepFault,
		StepHeal, StepDeath, StepRole, StepLost,
	} {
		if !seen[k] {
			t.Errorf("no story has a step %s", k)
		}
	}
}

// A lease that was renewed runs out at the deadline of its last renewal, which is what the
// step names.
func TestLeaseOverOfRenewed(t *testing.T) {
	event := func(index, deadline int64) *history.Event {
		return history.Line{Index: index, Time: index, Type: history.OK, Deadline: history.Some(deadline)}.Event()
	}
	g := &history.Grant{
		ID: "a", Client: "c1", Lock: "L1", Acquire: &history.Call{Invoke: event(0, 0), Return: event(1, 10)},
		Renews: []*history.Call{{Invoke: event(2, 0), Return: event(3, 20)}},
	}
	over := grantSteps(g, 30)[1]
	if over.Kind != StepLeaseOver || over.At != 20 || !slices.Equal(over.Events, []int64{3}) {
		t.Errorf("%+v, want the lease over at 20 by event 3", over)
	}
	if n := len(grantSteps(g, 15)); n != 1 {
		t.Errorf("%d steps until 15, want the grant alone", n)
	}
}

// A story tells the renewals that its class turns on, and who acknowledged them: the last one of each lease.
// Where the class turns on a lease that had run out, it tells none.
func TestStoryTellsRenewals(t *testing.T) {
	for name, want := range map[string][]string{
		"revoked": {
			"the lease of grant c2-1 is renewed until 1.600 s (renewal sent at 0.600 s, acknowledged by etcd-3).",
			"the lease of grant c1-1 is renewed until 1.900 s (renewal sent at 0.900 s, acknowledged by etcd-2).",
		},
		"paused": nil,
	} {
		r, rec := judged(t, name)
		worst, _ := tell(r, rec).failures(r)
		var got []string
		for _, s := range worst.steps {
			if s.Kind == StepRenewed {
				got = append(got, s.Text)
				if !slices.Contains(worst.first().Events, s.Events[0]) {
					t.Errorf("%s: %q is event %d, which is none of the finding's: %v", name, s.Text, s.Events[0], worst.first().Events)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: told\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
