package reports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// chip is a run in two words.
type chip struct{ Text, Class string }

func chipOf(r *checker.Results, first *happening) chip {
	switch {
	case r.Verdict == checker.Unknown:
		return chip{"inconclusive", "none"}
	case r.Verdict == checker.Pass && r.Stats["grants"] == 0:
		return chip{"nothing tested", "none"}
	case r.Verdict == checker.Pass:
		return chip{"nothing broken", "pass"}
	case first != nil && first.first().Class == checker.Inherent:
		return chip{"needs a fence", "fence"}
	case first != nil && first.first().Rule == "done-twice":
		return chip{"job done twice", "broken"}
	case first != nil && first.first().Class == checker.Defect:
		return chip{"broken lock", "broken"}
	}
	return chip{"violation", "broken"}
}

// said is how servers say their version: a name, a word for version, and the number.
var said = regexp.MustCompile(`(?i)^(?:\S*/)?(.*?)[\s,:]*(?:\b(?:v|ver|version)\b)?[\s:=]*v?(\d+(?:\.\d+)+)`)

// tested is what was run, a part for each word of it.
func tested(r *checker.Results) (parts []string) {
	on := ""
	for _, name := range sortedVersions(r) {
		if v := said.FindStringSubmatch(r.Versions[name]); v != nil && !strings.HasPrefix(name, "image ") {
			on = " on " + cmp.Or(v[1], name) + " " + v[2]
			break
		}
	}
	parts = append(parts, subject(r)+on)
	if len(r.Nemesis) > 0 && r.Nemesis[0] != "none" {
		parts = append(parts, strings.Join(r.Nemesis, " + "))
	} else {
		parts = append(parts, "no fault")
	}
	clients := checker.Count(int64(r.Clients), "client")
	if r.TTL > 0 {
		clients += ", ttl " + span(r.TTL)
	}
	return append(parts, clients, fmt.Sprintf("seed %d", r.Seed))
}

// sortedVersions are the names of what is no part of lockstorm.
func sortedVersions(r *checker.Results) (names []string) {
	for name := range r.Versions {
		if !slices.Contains([]string{"lockstorm", "go", "adapter", "library"}, name) && !strings.HasPrefix(name, "github.com/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fates are what a fault did to the client of a story, or to its lock.
var fates = map[string]string{
	"client-pause": "%s slept through its lease", "client-stall": "%s stalled through its lease",
	"partition-client": "%s was cut off from the store and worked on", "slow-server": "the store answered %s late",
	"server-restart": "the store restarted and forgot the lock of %s", "server-kill": "the store died and forgot the lock of %s",
	"power-loss":    "the store lost its power, and with it the lock of %s",
	"failover-kill": "the new master did not know the lock of %s", "promote-replica": "the new master did not know the lock of %s",
	"clock-jump": "a clock jumped and ended the lease of %s early", "evict": "the store evicted the lock of %s",
}

// headlineOfPage says in a sentence who did what to whom.
func headlineOfPage(r *checker.Results, rec *history.Record, h *happening) string {
	f := h.first()
	clients := clientsOf(rec, f)
	if crowd := r.Stats["holders_max"] > 2 && !rec.Run.Model.Shares(); len(clients) == 0 || f.Rule == ruleDeadlocked || crowd ||
		!slices.Contains(met, f.Rule) {
		return strings.TrimSuffix(verdictSentence(r, rec, h), ".")
	}
	me, other := cut(clients[0], maxName), "another client"
	if len(clients) > 1 {
		other = cut(clients[1], maxName)
	}
	text := fmt.Sprintf("%s got the lock while %s held it", other, me)
	if !rec.Run.Model.Locks() {
		text = fmt.Sprintf("%s and %s both replaced the same value", me, other)
	}
	if in := rec.Injected(f.Fault); in != nil && f.CauseKind == checker.CauseFault {
		fate, known := fates[in.Fault.Fault]
		own := slices.Contains(in.Clients, clients[0]) && f.Class == checker.Inherent // else its lease was not over, or it has none
		if known && (len(in.Clients) == 0 || own) {
			text = fmt.Sprintf(fate, me)
		}
	}
	if f.Rule == "foreign-release" {
		text = fmt.Sprintf("%s released the lock of %s", me, other)
	}
	both := me + " and " + other
	if rec.Run.Model.Kind == history.ModelReadWrite && len(clients) > 1 {
		of := grantsOf(rec, f)
		both = me + roleOf(of, clients[0]) + " and " + other + roleOf(of, clients[1])
	}
	return capital(text + damageOf(r, rec, f, text, clients[0], both))
}

// ordeals are what a fault did to those whom it hit, for a run that survived it.
var ordeals = map[string]string{
	"client-pause": "slept", "client-stall": "stalled", "partition-client": "was cut off", "client-kill": "was killed",
	"server-pause": "stood still", "slow-server": "was slow", "server-restart": "restarted", "server-kill": "was killed",
	"failover-kill": "was killed", "partition-server": "was cut off", "session-expire": "lost its session",
	"power-loss": "lost its power",
}

// survivedHeadline says what the hardest fault did, and that nobody was hurt; empty: there was none.
func survivedHeadline(survived *Survived, rec *history.Record) string {
	in, _ := hardestOf(survived, rec)
	if in == nil || in.Whom() == "" || ordeals[in.Fault.Fault] == "" {
		return ""
	}
	whom := in.Clients
	if len(whom) == 0 {
		whom = in.Nodes
	}
	text := listed(whom, 2) + " " + ordeals[in.Fault.Fault]
	if len(whom) > 1 {
		text = strings.Replace(text, " was ", " were ", 1)
	}
	if in.HealEnd != nil {
		text += " for " + span(in.Until()-in.Began())
	}
	return text + ", and nobody was hurt"
}

// roleOf says what a client does with a lock of readers and writers.
func roleOf(of []*history.Grant, client string) string {
	i := slices.IndexFunc(of, func(g *history.Grant) bool { return g.Client == client })
	if of[i].Mode == history.ModeShared {
		return " (a reader)"
	}
	return " (a writer)"
}

// damageOf is what came of it, for the end of a headline about a client.
func damageOf(r *checker.Results, rec *history.Record, f *checker.Finding, text, client, both string) string {
	loss, writer, whole := lossOf(r, f), "", ""
	if all := lossesIn(r, registers...); all.most > loss.Lost {
		whole = fmt.Sprintf(" (%s in the whole run)", strings.TrimSuffix(strings.TrimSuffix(all.of("update"), "s"), " update"))
	}
	if d := r.LossOf(f); d != nil && len(d.Grants) > 0 && rec.ByID[d.Grants[0]] != nil {
		writer = rec.ByID[d.Grants[0]].Client
	}
	switch {
	case loss.Lost > 0 && strings.HasPrefix(text, cut(client, maxName)+" ") && writer == client:
		return " and wiped out " + checker.Count(loss.Lost, "update") + whole
	case loss.Lost > 0:
		return ": " + checker.Count(loss.Lost, "update") + was(loss.Lost) + "wiped out" + whole
	case loss.Overwritten > 0:
		return ": " + checker.Count(loss.Overwritten, "update") + was(loss.Overwritten) + "overwritten unseen"
	case f.Rule == "overlap" && f.To > f.From:
		return fmt.Sprintf(": %s both worked for %s", both, span(f.To-f.From))
	}
	return ""
}

// met are the rules of two clients that met in a lock.
var met = []string{"overlap", "double-grant", "lost-lease", "lost-update", "late-write", "foreign-release", "late-notice"}
