package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
)

// What is lost for good is told as lost, a range as a range, and what later writes brought back as that.
func TestLossesInWords(t *testing.T) {
	stats := checker.Figures{
		"updates_lost_plain": 1, "updates_lost_max_plain": 3, "updates_overwritten_plain": 8, "updates_brought_back_plain": 7,
		"updates_lost_fenced": 2, "updates_overwritten_fenced": 2, "updates_brought_back_fenced": 0, "ledger_lost": 1,
		"ledger_lost_max": 2,
	}
	for _, c := range []struct{ registers, want, others string }{
		{facts.RegPlain, "1 to 3 updates", "; 8 were overwritten unseen, and later writes brought back 7"},
		{facts.RegFenced, "2 updates", ""},
		{regLedger, "1 to 2 updates", ""},
		{facts.RegPlain + " " + facts.RegFenced, "3 to 5 updates", "; 10 were overwritten unseen, and later writes brought back 7"},
	} {
		l := lossesIn(&checker.Results{Stats: stats}, strings.Fields(c.registers)...)
		if l.of("update") != c.want || l.others() != c.others || !l.counted {
			t.Errorf("%s: %q%q, want %q%q", c.registers, l.of("update"), l.others(), c.want, c.others)
		}
	}
	if lossesIn(&checker.Results{}, facts.RegPlain).counted {
		t.Error("a register that is not in the results is counted")
	}
	for loss, want := range map[facts.Loss]string{
		{Lost: 1, Overwritten: 8}: "1 acknowledged update was lost", {Lost: 2, Overwritten: 2}: "2 acknowledged updates were lost",
		{}:               "",
		{Overwritten: 1}: "1 acknowledged update was overwritten unseen, and brought back by later writes",
		{Lost: 2}:        "2 acknowledged updates were lost",
	} {
		if got := lossSentence(loss); got != want {
			t.Errorf("%+v: %q, want %q", loss, got, want)
		}
	}
}

// A write that overwrote what a later write brought back is no loss; the one that is told with an overlap is the one that lasts.
func TestToldLossLasts(t *testing.T) {
	back, lasting := finding("lost-update", checker.Inherent, 5, "a", "b"), finding("lost-update", checker.Inherent, 6, "b", "a")
	back.Overwritten = 7
	lasting.Lost, lasting.Overwritten = 1, 1
	overlap := finding("overlap", checker.Inherent, 4, "a", "b")
	for _, c := range []struct {
		losses []checker.Finding
		kind   StepKind
		word   string
		says   string
	}{
		{[]checker.Finding{back}, StepOverwritten, "OVERWRITTEN: ", "7 acknowledged updates were overwritten unseen, and brought back"},
		{[]checker.Finding{back, lasting}, StepLost, "LOST: ", "1 acknowledged update was lost (in the whole run: 4 updates lost)"},
	} {
		r := failed(map[string][]checker.Finding{checker.MutualExclusion: {overlap}, checker.DataPlain: c.losses})
		r.Stats["updates_lost_plain"] = 4
		told := lossSteps(&overlap, r, &history.Record{})
		if len(told) != 1 || told[0].Kind != c.kind || !strings.HasPrefix(told[0].Text, c.word) || !told[0].Bad {
			t.Errorf("%+v", told)
		}
		h := &happening{found: []listedFinding{{Found: checker.Found{Check: checker.MutualExclusion, Finding: overlap}}}}
		if got := verdictSentence(r, &history.Record{}, h); !strings.Contains(got, c.says) {
			t.Errorf("%q is not in %q", c.says, got)
		}
	}
	ranked := []checker.Finding{back, lasting}
	if slices.SortFunc(ranked, checker.Rank); ranked[0].Lost != 1 {
		t.Error("a loss that lasts ranks behind one that does not")
	}
}
