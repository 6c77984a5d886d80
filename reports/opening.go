package reports

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// chip is a run in two words. Red is for defects of the lock alone, amber for what only a fence mends.
type chip struct{ Text, Class string }

func chipOf(r *checker.Results, first *happening) chip {
	switch {
	case r.Stats["grants"] == 0 && first == nil:
		return chip{"nothing tested", "none"}
	case r.Verdict == checker.Unknown:
		return chip{"inconclusive", "none"}
	case r.Verdict == checker.Pass:
		return chip{"nothing broken", "pass"}
	case first == nil:
		return chip{"violation", "other"}
	case first.first().Class == checker.Inherent:
		return chip{"needs a fence", "fence"}
	case first.first().Class == checker.Defect:
		return chip{"broken lock", "broken"}
	}
	return chip{cmp.Or(map[string]string{"done-twice": "job done twice", ruleDeadlocked: "deadlock"}[first.first().Rule], "violation"), "other"}
}

// said is how servers say their version: a name, a word for version, and the number.
var said = regexp.MustCompile(`(?i)^(?:\S*/)?(.*?)[\s,:]*(?:\b(?:v|ver|version)\b)?[\s:=]*v?(\d+(?:\.\d+)+)`)

// tested is what was run, a part for each word of it: the lock and its servers, with versions.
func tested(r *checker.Results) (parts []string) {
	var on []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		v := said.FindStringSubmatch(r.Versions[name])
		if v == nil || slices.Contains(noServers, name) || strings.HasPrefix(name, "image ") {
			continue
		}
		server := v[1] + " " + v[2]
		if _, ofAdapter := r.Versions["adapter"]; v[1] == "" && ofAdapter {
			continue // a number alone is that of a library, or of what runs the adapter
		} else if v[1] == "" {
			server = name + server
		}
		on = lists.With(on, server)
	}
	lock := subject(r)
	if len(on) > 0 {
		lock += " on " + and(on)
	}
	parts = append(parts, lock)
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

// noServers are the names of versions of lockstorm and of the lock itself.
var noServers = []string{"lockstorm", "go", "adapter", "library"}

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
