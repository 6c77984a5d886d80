package reports

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/proof"
	"github.com/lockstorm/lockstorm/internal/shell"
	"github.com/lockstorm/lockstorm/reports/internal/stage"
)

//go:embed page.gohtml style.css stage.css timeline.js search.js stage.js
var assets embed.FS

// page is read when the first page is written: a run's workers are the same program, and write none.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.gohtml").Funcs(template.FuncMap{
		"sec": moment, "ms": span,
		"join": strings.Join, "cut": func(s string) string { return cut(s, maxSentence) },
		"len64": func(from, to int64) int64 { return to - from },
		"noted": noted, "more": moreText, "count": checker.Count[int],
		"inc":  func(i int) int { return i + 1 },
		"us":   us,
		"data": scripted,
		"svg":  func(s *stage.Stage, width int) template.HTML { return template.HTML(s.SVG(width)) }, //nolint:gosec // escaped there
	}).ParseFS(assets, "page.gohtml"))
})

// scripted is the data of a script, whatever names a record has: Visible would spoil it with escapes that JSON does not know.
func scripted(v any) (template.JS, error) {
	b, err := json.Marshal(v) // which escapes what could end its element
	shown := func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}
	return template.JS(strings.Map(shown, string(b))), err //nolint:gosec // JSON
}

// Context has the facts for a page that are not in the record: they come from the catalogue, or from the place of the
// page.
type Context struct {
	WithTokens string // a backend of the same store with fencing tokens, which would measure what a fence saves
	OnDisk     string // a topology of the lock that has data on disk before it acknowledges it, if that of the run has not
	Rate       string // how often the outcome showed again, if known
	Trail      []Link // links to the suite of the run and to its neighbours
	Replayable bool   // the run's directory has its trial
	Logs       []LogLine
}

// maxSentence is how much of a sentence a page shows, which may name a lock of three thousand characters.
const maxSentence = 600

// LogLine is a line of a server's log, with its time in the run.
type LogLine struct {
	At     int64
	Server string
	Text   string
}

// maxTold is how many incidents a page tells step by step.
const maxTold = 6

// maxLogLines is how many lines of the servers a page shows.
const maxLogLines = 60

// near are the lines of all servers within the window of an incident, in order of time, and how many more there are.
func near(lines []LogLine, h *happening) (out []LogLine, more int) {
	for _, l := range lines {
		if h.window.From <= l.At && l.At <= h.window.To {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b LogLine) int { return cmp.Compare(a.At, b.At) })
	if more = max(len(out)-maxLogLines, 0); more > 0 {
		out = out[:maxLogLines]
	}
	return out, more
}

// Link is a link from a page; without Href it is only text.
type Link struct{ Text, Href string }

// pageData is what the page shows.
type pageData struct {
	Results  *checker.Results
	Style    template.CSS
	Early    template.JS // of the stage, which runs before the rest is read
	Script   template.JS
	Policy   string
	data     func() (string, error) // of the timeline, as JSON, once it is made
	Headline string
	Chip     chip
	Tested   []string
	Title    string
	Screen   screen
	Stage    *stage.Stage // nil: nothing was granted
	Verified string       // what was checked of this verdict, and by what; empty: nothing
	About    Context
	Command  string // without anybody's path
	Replay   string
	Facts    [][2]string
	Story    *Story

	Told          []toldIncident // the first of the incidents
	MoreIncidents int
	Logs          []LogLine // of the servers, around the first of the incidents
	MoreLogs      int
	Survived      tale
	Checks        []checkRow
	Evidence      *evidence
	Stats         [][2]string
	Waits         template.HTML // how long clients waited, over the run; empty: there were few grants
	Faults        folded[faultRow]
	Notes         folded[string] // on the record
}

// toldIncident is an incident that the page tells step by step.
type toldIncident struct {
	tale

	Kinds, As   string // of an incident of several findings, and which of them is told
	Head, Cause string
	Proof       *proofShown
	Ledger      []ledgerRow
	MoreLedger  int
}

// HTML writes one self-contained page that loads nothing from a network: the verdict in plain words, the story and
// picture of the incident that ranks first, an interactive timeline, the findings with their events. Without scripts
// it shows the same, without movement. Its length is bounded, whatever the length of the record: it counts what it
// does not show.
func HTML(w io.Writer, r *checker.Results, rec *history.Record, about Context) error {
	d := pageOf(r, rec, about)
	var b bytes.Buffer
	if err := page().Execute(&b, d); err != nil {
		return err
	}
	data, err := d.data()
	if err != nil {
		return err
	}
	// The data is ours, harmless already, and by far the longest part.
	before, after, _ := strings.Cut(b.String(), dataMark)
	for _, part := range []string{Visible(before, "\n\t"), data, Visible(after, "\n\t")} {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// dataMark is where in the template the data of the timeline goes, which is made meanwhile. What comes from a record cannot hold
// it: its quotes are escaped.
const dataMark = `"timeline-data"`

// pageOf returns all that the page shows.
func pageOf(r *checker.Results, rec *history.Record, about Context) *pageData {
	r = once(r)
	style, early, script := asset("style.css", "stage.css"), asset("stage.js"), asset("timeline.js", "search.js")
	story := tell(r, rec)
	all := story.Happened
	told := all[:min(len(all), maxTold)]
	if r.Verdict == checker.Pass {
		told = nil // what passes is noted, and in the timeline
	}
	d := &pageData{
		Results: r, Style: template.CSS(style), Early: template.JS(early), Script: template.JS(script), //nolint:gosec // our own files
		Policy:   policy(style, early, script),
		Headline: Headline(r), About: about, Command: withoutPath(r.Command), Story: story,
		MoreIncidents: story.More + len(all) - len(told),
	}
	d.data = meanwhile(func() (string, error) {
		data, err := json.Marshal(dataOf(rec, all, foundIn(r))) // which escapes what could end its element
		return string(data), err
	})
	var first *happening
	if len(all) > 0 {
		first = all[0]
	}
	ev := evidenceOf(r, rec, told, story.Survived)
	d.Screen, d.Facts, d.Checks, d.Evidence = screenOf(r, rec, first, about), whatRan(r, rec), checkRows(r, ev, all), ev
	d.Stats, d.Faults, d.Notes = statRows(r), fold(faultRows(r, rec), openFaults, maxFaults), fold(r.Notes, maxNotes, maxNotes)
	d.Waits = template.HTML(stage.Waits(rec, endOf(rec), stage.Whole)) //nolint:gosec // escaped there
	if about.Replayable {
		program, _ := programOf(d.Command)
		d.Replay = cmp.Or(program, "lockstorm") + " replay DIR"
	}
	if len(told) > 0 {
		d.Logs, d.MoreLogs = near(about.Logs, told[0])
	}
	d.tell(rec, told, ev)
	if story.Survived != nil {
		d.Survived = ev.tale("w", story.Survived.Steps)
	}
	d.Verified = d.verified()
	if len(told) == 0 {
		first = nil
	}
	d.Chip, d.Tested, d.Title = chipOf(r, first), tested(r), d.Screen.Verdict
	switch {
	case first != nil && r.Verdict == checker.Fail:
		d.Title = headlineOfPage(r, rec, first)
	case story.Survived != nil:
		d.Title = cmp.Or(survivedHeadline(story.Survived, rec), d.Title)
	}
	d.Stage = stageOf(r, rec, first, story.Survived)
	return d
}

// asset is the text of some of our own files, one after the other.
func asset(names ...string) (all string) {
	for _, name := range names {
		b, err := assets.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		all += string(b)
	}
	return all
}

// meanwhile begins to make something, and returns what waits for it.
func meanwhile(f func() (string, error)) func() (string, error) {
	wait := sync.OnceValues(f)
	go wait() //nolint:errcheck // whoever waits is told
	return wait
}

// tell tells the first of the incidents step by step, each with its proof and its ledger.
func (d *pageData) tell(rec *history.Record, told []*happening, ev *evidence) {
	if len(told) == 0 {
		return
	}
	record, registers := proof.New(rec), newLedger(rec)
	for i, h := range told {
		one := toldIncident{
			tale: ev.tale(fmt.Sprintf("s%d", i), h.steps), Head: headlineOf(h.first()), Kinds: h.kinds, As: toldAs(h),
			Cause: causeText(h.first()), Proof: proofOf(record, h),
		}
		one.Ledger, one.MoreLedger = registers.of(h)
		d.Told = append(d.Told, one)
	}
}

// verified says what was checked: the events that prove the violation that is told, or the checks that a run passed.
func (d *pageData) verified() string {
	if len(d.Told) > 0 {
		if p := d.Told[0].Proof; p != nil {
			return "verified by " + checker.Count(len(p.Events), "event")
		}
		return ""
	}
	var passed []string
	for _, c := range d.Checks {
		if c.Result.Required && c.Result.Verdict == checker.Pass {
			passed = append(passed, c.Name)
		}
	}
	if d.Results.Verdict != checker.Pass || len(passed) == 0 {
		return ""
	}
	slices.SortStableFunc(passed, func(a, b string) int { return cmp.Compare(checker.RankOfCheck(a), checker.RankOfCheck(b)) })
	return "checked: " + listed(passed, 3)
}

// policy lets the page run its own script and style, and nothing that a record smuggles in; it may load nothing.
func policy(style, early, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(early) + " " + hash(script) +
		"; base-uri 'none'; form-action 'none'"
}

// withoutPath is a command whose program is named without the folder where somebody keeps it.
func withoutPath(command string) string {
	program, rest := programOf(command)
	if i := strings.LastIndex(program, "/"); filepath.IsAbs(strings.TrimPrefix(program, "'")) {
		program = shell.Quote(strings.TrimSuffix(program[i+1:], "'"))
	}
	return program + rest
}

var firstWord = regexp.MustCompile(`^('[^']*'|\\.|[^ '\\])*`)

// programOf parts the first word of a command, as shell.Quote writes it, from the rest.
func programOf(command string) (program, rest string) {
	program = firstWord.FindString(command)
	return program, command[len(program):]
}

// The part of a page that Retrail writes anew; nothing in it has elements of its kind.
const trailFrom, trailTo = `<div id="trail">`, `</div>`

// maxPage bounds a page that is read again, in bytes.
const maxPage = 64 << 20

// Retrail updates the links of a run (about.Trail) and how often its outcome showed again (about.Rate) in the page at
// path. When the page was made, the runs after it did not exist.
func Retrail(path string, about Context) error {
	old, err := files.Read(path, maxPage)
	if err != nil {
		return err
	}
	from := bytes.Index(old, []byte(trailFrom)) // names from a record are escaped: the first is the page's own
	if from < 0 {
		return fmt.Errorf("cannot update the links from the report %s to the previous and the next run: another version of lockstorm "+
			"wrote this report, in another format", path)
	}
	to := bytes.Index(old[from:], []byte(trailTo))
	if to < 0 {
		return fmt.Errorf("the report %s is truncated", path)
	}
	var b bytes.Buffer
	b.Write(old[:from])
	if err := page().ExecuteTemplate(&b, "trail", about); err != nil {
		return err
	}
	b.Write(old[from+to+len(trailTo):])
	return files.WriteBytes(path, b.Bytes())
}
