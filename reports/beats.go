package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/facts"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/reports/internal/stage"
)

// maxBeats is how many steps of a story stand over its picture.
const maxBeats = 6

// stageOf is the picture of the incident that ranks first, else of the fault that a run survived; nil where nothing was granted.
func stageOf(r *checker.Results, rec *history.Record, first *happening, survived *Survived) *stage.Stage {
	sc := stage.Scene{Wrong: map[int64]bool{}, Titles: map[string]stage.Title{}, Freed: map[string]int64{}}
	switch {
	case first != nil:
		b := beater{r: r, rec: rec, f: first.first(), struck: map[string]bool{}}
		sc.Grants, sc.Beats = grantsOf(rec, b.f), b.beats(first.steps)
		for _, f := range r.Checks[checker.Ownership].Findings {
			if f.Rule == "foreign-release" && len(f.Grants) == 2 {
				sc.Freed[f.Grants[1]] = f.To
			}
		}
		for index, note := range lossNotes(rec) {
			sc.Wrong[index] = strings.HasPrefix(note, "overwrites")
		}
		b.titles(sc.Titles, first.steps)
	case survived != nil:
		sc.Beats = hardestBeats(survived, rec)
		if in := hardestOf(survived, rec); in != nil {
			if g := heldAt(rec, in); g != nil {
				sc.Grants = []*history.Grant{g}
			}
		}
	}
	sc.Window, sc.Passed = windowOfBeats(sc.Beats, rec), first == nil
	if first != nil && first.first().Rule == ruleDeadlocked {
		sc.Ring = sinceWhen(rec, first.first())
	}
	for _, t := range tenures(rec) {
		if history.Leads(t.role) && len(serversOf(rec)) > 1 {
			part := stage.Part{From: t.From, To: t.To}
			sc.Leads = append(sc.Leads, stage.Fault{Part: part, Name: cut(t.node, maxName), What: cut(t.role, maxName)})
		}
	}
	if first != nil { // how long two believed
		f, w := first.first(), &sc.Window
		w.To = max(w.To, min(f.To, w.To+w.To-w.From))
	}
	return stage.Of(rec, sc)
}

func eventOf(s Step) int64 {
	if len(s.Events) == 0 {
		return -1
	}
	return s.Events[0]
}

// windowOfBeats is from shortly before the first beat until shortly after the last one; of a run without any, its begin.
func windowOfBeats(beats []stage.Beat, rec *history.Record) history.Interval {
	ttl := max(rec.Run.TTL, int64(100*time.Millisecond))
	if len(beats) == 0 {
		from := rec.Phases[history.PhaseWork]
		return history.Interval{From: from, To: min(from+3*ttl, max(endOf(rec), from+1))}
	}
	from, to := beats[0].At, beats[len(beats)-1].At
	room := max((to-from)/8, ttl/20)
	return history.Interval{From: max(from-room/2, 0), To: min(to+room, max(endOf(rec), to+1))}
}

// beater chooses the beats of a story.
type beater struct {
	r   *checker.Results
	rec *history.Record
	f   *checker.Finding

	me     string          // the client of the story
	mine   int64           // since when it has the lock
	over   bool            // its lease has ended
	struck map[string]bool // servers that a fault of a beat hit
	others []Step          // grants of others since it got the lock
	out    []stage.Beat
}

func (b *beater) add(s Step, word, title, text string) {
	b.out = append(b.out, stage.Beat{At: s.At, Word: word, Title: title, Text: text, Bad: s.Bad, Event: eventOf(s)})
}

// beats are the steps on which a story turns: the grant, the fault, the end of the lease, who worked meanwhile, the damage.
func (b *beater) beats(steps []Step) []stage.Beat {
	if clients := clientsOf(b.rec, b.f); len(clients) > 0 {
		b.me = clients[0]
	}
	switch {
	case b.f.Rule == "done-twice":
		return b.jobs(steps)
	case !b.rec.Run.Model.Locks():
		return b.attempts(steps)
	case b.f.Rule == ruleDeadlocked:
		for _, s := range steps {
			if s.Kind == StepWaits || s.Kind == StepGranted {
				word := map[StepKind]string{StepWaits: "waits", StepGranted: "acquires"}[s.Kind]
				b.add(s, s.Party+" "+word, s.Party+" "+word, capital(s.Text))
			}
		}
		return b.out[:min(len(b.out), maxBeats)]
	}
	refusals := slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Kind != StepRefused })
	for _, s := range steps {
		b.step(s, refusals)
	}
	b.meanwhile(Step{At: history.Forever})
	if b.f.Rule == "orphan" || b.f.Rule == "no-recovery" {
		b.add(Step{At: b.f.To, Bad: true}, "still waiting", "Nobody gets the lock", capital(b.f.Message)+".")
	}
	slices.SortStableFunc(b.out, func(x, y stage.Beat) int { return cmp.Compare(x.At, y.At) })
	for len(b.out) > maxBeats { // the first one and the damage stay
		i := len(b.out) - 1
		for i > 1 && b.out[i].Bad {
			i--
		}
		b.out = slices.Delete(b.out, i, i+1)
	}
	return b.out
}

func (b *beater) has(word string) bool {
	return slices.ContainsFunc(b.out, func(x stage.Beat) bool { return x.Word == word })
}

//nolint:gocyclo // a table of kinds of steps
func (b *beater) step(s Step, refusals []Step) {
	switch s.Kind {
	case StepGranted:
		if s.Party == b.me && !b.has("acquires") {
			b.mine = s.At
			b.add(s, "acquires", s.Party+" acquires", b.got(s))
		} else if s.Party != b.me {
			b.others = append(b.others, s)
		}
	case StepFault:
		b.fault(s)
	case StepLeaseOver:
		if s.Party == b.me && !b.over {
			b.over = true
			b.add(s, "lease ends", "The lease ends", "The store may give the lock to others."+b.belief(s.At, " cannot know."))
		}
	case StepRelease:
		if s.Bad {
			b.meanwhile(s)
			b.add(s, "releases", s.Party+" releases a lock that is not its own", capital(s.Text))
		}
	case StepTold:
		if s.Party == b.me {
			b.meanwhile(s)
			b.add(s, "is told", s.Party+" is told of the loss", capital(s.Text))
		}
	case StepWrite:
		if s.Party == b.me && b.over && !b.has("writes late") {
			b.meanwhile(s)
			b.add(s, "writes late", s.Party+" writes late", capital(s.Text))
		}
	case StepRole, StepDeath:
		if len(b.out) == 0 || s.Kind == StepDeath && b.struck[s.Party] {
			return // who led before is drawn, and the fault says whom it killed
		}
		b.add(s, map[StepKind]string{StepRole: "new role", StepDeath: "killed"}[s.Kind], capital(strings.TrimSuffix(s.Text, ".")), "")
	case StepLost, StepOverwritten:
		b.meanwhile(s)
		if s.Party == b.me { // its late write did it
			b.out = slices.DeleteFunc(b.out, func(x stage.Beat) bool { return x.Word == "writes late" })
		}
		text := b.damage()
		for _, refusal := range refusals {
			if refusal.Party == b.me && refusal.At >= s.At {
				text += " Then " + refusal.Text
				break
			}
		}
		b.add(s, "overwrites", s.Party+" overwrites what it never saw", text)
	case StepRefused:
		if lossOf(b.r, b.f) == (facts.Loss{}) && s.Party == b.me && !b.has("refused") {
			b.meanwhile(s)
			b.add(s, "refused", s.Party+" works late", capital(s.Text))
		}
	}
}

// got says what a grant gives.
func (b *beater) got(s Step) string {
	var what []string
	for _, g := range grantsOf(b.rec, b.f) {
		if g.Client != s.Party || !g.Granted() || g.From() != s.At {
			continue
		}
		if g.Token().Set {
			what = append(what, fmt.Sprintf("token %d", g.Token().V))
		}
		if due := g.DeadlineAt(g.From()); b.rec.Leased() && due.Set {
			what = append(what, "a lease of "+span(due.V-g.Sent()))
		}
	}
	if len(what) == 0 {
		return "The store gives it the lock."
	}
	return "It gets " + strings.Join(what, " and ") + "."
}

// belief is what the client of the story believed of its lock at a moment, for the end of a text; asleep, if any, is said of a
// client that a fault holds up. It returns nothing of a client that did not use the lock any more.
func (b *beater) belief(at int64, asleep string) string {
	for _, g := range grantsOf(b.rec, b.f) {
		if g.Client != b.me || !g.Granted() || g.From() > at {
			continue
		}
		if facts.Of(b.rec).Hold(g).To > at {
			if asleep != "" && slices.ContainsFunc(b.rec.Faults, func(in *history.Injection) bool {
				return in.Effective() && slices.Contains(in.Clients, b.me) && in.Began() <= at && at < in.Until()
			}) {
				return " " + b.me + asleep
			}
			return " " + b.me + " still believes that it owns it."
		}
		if slices.ContainsFunc(g.Releases, func(c *history.Call) bool { return c.Start() <= at && at < c.End() }) {
			return " The release of " + b.me + " is still on its way."
		}
	}
	return ""
}

// fault adds a fault, the first of each kind.
func (b *beater) fault(s Step) {
	in, _ := lists.Find(b.rec.Faults, func(in *history.Injection) bool { return in.Invoke != nil && in.Invoke.Index == eventOf(s) })
	if in == nil || b.has(in.Fault.Fault) {
		return
	}
	for _, node := range in.Nodes {
		b.struck[node] = true
	}
	b.out = append(b.out, struckBy(in, b.rec))
}

// struckBy is the beat of a fault: whom it struck, when, and what shows it.
func struckBy(in *history.Injection, rec *history.Record) stage.Beat {
	title := in.Fault.Fault
	if whom := listed(slices.Concat(in.Clients, in.Nodes), 2); whom != "" {
		title += " strikes " + whom
	}
	text, _, _ := strings.Cut(in.Proof, "; ")
	if trigger := checker.Trigger(in.Fault); trigger != "" {
		text = trigger + ": " + text
	}
	return stage.Beat{
		At: in.Began(), Word: in.Fault.Fault, Title: title, Text: capital(text), Event: in.Invoke.Index,
		Source: strings.Trim(sourceOf(in, rec), " ()"),
	}
}

// meanwhile adds the grants that others got before a step.
func (b *beater) meanwhile(until Step) {
	if len(b.others) == 0 {
		return
	}
	first, names := b.others[0], []string{}
	came := slices.DeleteFunc(slices.Clone(b.rec.Grants), func(g *history.Grant) bool {
		return !g.Granted() || g.Client == b.me || g.From() < b.mine || g.From() >= until.At || !b.against(g)
	})
	slices.SortStableFunc(came, func(x, y *history.Grant) int { return cmp.Compare(x.From(), y.From()) })
	n := len(came)
	for i, g := range came {
		if i == 0 && g.From() < first.At {
			first = granted(g)
		}
		names = lists.With(names, g.Client)
	}
	still := b.belief(first.At, "")
	if until.At == history.Forever || n <= 1 {
		b.add(first, "another owner", first.Party+" gets the lock", "Now the store has another owner."+still)
	} else {
		often := " " + times(int64(n))
		if n == len(names) {
			often = ""
		}
		b.add(first, "others work", "Others work", fmt.Sprintf("%s get%s the lock%s.%s", listed(names, 2),
			map[bool]string{true: "s"}[len(names) == 1], often, still))
	}
	b.others = nil
}

// against reports whether a grant cannot be held beside that of the client of the story.
func (b *beater) against(g *history.Grant) bool {
	of := grantsOf(b.rec, b.f)
	return len(of) > 0 && of[0].Lock == g.Lock && !b.rec.Run.Model.Together(of[0], g)
}

// damage is what became of the updates of others, in a sentence.
func (b *beater) damage() string {
	loss := lossOf(b.r, b.f)
	text := capital(lossSentence(loss)) + "."
	if of := b.victims(); loss.Lost == 1 && len(of) == 1 {
		text = of[0] + " is lost."
	}
	if back := loss.Overwritten - loss.Lost; loss.Lost > 0 && back > 0 {
		text = fmt.Sprintf("%s overwritten unseen: %d lost for good, %d brought back by later writes.",
			checker.Count(loss.Overwritten, "acknowledged update"), loss.Lost, back)
	}
	return text
}

// victims are the writes that the costliest finding says were overwritten, as "c3's write of 11".
func (b *beater) victims() (out []string) {
	d := b.r.LossOf(b.f)
	if d == nil {
		return nil
	}
	for _, i := range overwritten(d, b.rec) {
		if e := &b.rec.Events[i]; e.Type() == history.Invoke {
			out = append(out, fmt.Sprintf("%s's write of %d", e.Client(), e.New().Or(0)))
		}
	}
	return out
}

// titles say over each staircase what became of it.
func (b *beater) titles(of map[string]stage.Title, steps []Step) {
	loss := lossOf(b.r, b.f)
	for _, register := range []string{facts.RegPlain, facts.RegFenced} {
		if _, used := b.rec.Run.Registers[register]; !used {
			continue
		}
		where := map[string]string{facts.RegPlain: "No fence: ", facts.RegFenced: "With a fence: "}[register]
		damaged := slices.ContainsFunc(b.r.Checks[checkOf[register]].Findings, func(f checker.Finding) bool {
			return checker.SharedGrants(&f, b.f) > 0
		})
		refused := slices.ContainsFunc(steps, func(s Step) bool { return s.Kind == StepRefused })
		switch {
		case damaged && loss.Lost > 0:
			of[register] = stage.Title{Text: where + checker.Count(loss.Lost, "acknowledged update") + " gone" + unseen(loss), Bad: true}
		case damaged && loss.Overwritten > 0:
			text := checker.Count(loss.Overwritten, "update") + " overwritten unseen, brought back later"
			of[register] = stage.Title{Text: where + text, Bad: true}
		case register == facts.RegFenced && refused:
			of[register] = stage.Title{Text: where + "the late write bounces off; its token is outdated"}
		}
	}
}

func unseen(l facts.Loss) string {
	if back := l.Overwritten - l.Lost; back > 0 {
		return fmt.Sprintf("; %d more overwritten and brought back", back)
	}
	return ""
}

// checkOf is the check of a register.
var checkOf = map[string]string{facts.RegPlain: checker.DataPlain, facts.RegFenced: checker.DataFenced}
