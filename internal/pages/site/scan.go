package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Entry is a run or a suite in the list.
type Entry struct {
	Path    string    `json:"path"`
	Kind    string    `json:"kind"`    // run or suite
	Verdict string    `json:"verdict"` // pass, violation, inconclusive; running; interrupted
	Name    string    `json:"name"`    // the lock, or the name of a suite
	Faults  string    `json:"faults,omitempty"`
	What    string    `json:"what"` // workload and seed; of a suite what came of its cells
	When    time.Time `json:"when"` // when it was judged; of what runs, when it last did something
	Took    string    `json:"took,omitempty"`
	Suite   string    `json:"suite,omitempty"` // the suite that a run is of
}

// Href leads to its page; what has none yet to its folder.
func (e Entry) Href() string { return "/" + urlPath(e.Path) + "/" }

// Bounds of a scan.
const (
	maxEntries = 50_000
	maxDepth   = 8
	headSize   = 8 << 10
	quiet      = 30 * time.Second // who has not written for so long does not run any more
)

// scanner finds runs and suites. Of each it reads the first lines of its results, once.
type scanner struct {
	root *os.Root

	mu      sync.Mutex
	known   map[string]known
	entries []Entry
	at      time.Time     // of the last scan
	cost    time.Duration // of the last scan
	cut     bool          // there are more than are listed
}

// known is what was read of a file that has not changed since.
type known struct {
	changed time.Time
	size    int64
	entry   Entry
}

func newScanner(root *os.Root) *scanner { return &scanner{root: root, known: map[string]known{}} }

// all are the runs and suites, the latest first. It scans again when the last scan is older than a second, and than ten times
// what it took.
func (s *scanner) all(now time.Time) (entries []Entry, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.at) < max(time.Second, 10*s.cost) && !s.at.IsZero() {
		return s.entries, s.cut
	}
	began := time.Now()
	f := &find{scanner: s, now: now, seen: map[string]known{}}
	f.folder(".", "", 0)
	slices.SortFunc(f.entries, func(a, b Entry) int { return cmp.Or(b.When.Compare(a.When), cmp.Compare(a.Path, b.Path)) })
	s.entries, s.cut, s.known, s.at, s.cost = f.entries, f.cut, f.seen, now, time.Since(began)
	return s.entries, s.cut
}

// find is one scan.
type find struct {
	*scanner
	now     time.Time
	entries []Entry
	seen    map[string]known
	cut     bool
}

// folder looks at a folder: it is a run or a suite, or contains some. It skips whatever goes away meanwhile.
func (f *find) folder(name, suite string, depth int) {
	if depth > maxDepth || len(f.entries) >= maxEntries {
		f.cut = true
		return
	}
	if e, is := f.suite(name); is {
		f.entries = append(f.entries, e)
		suite = name
	} else if e, is := f.run(name, suite); is {
		f.entries = append(f.entries, e)
		return
	}
	dir, err := f.root.Open(name)
	if err != nil {
		return
	}
	children, err := dir.ReadDir(-1)
	dir.Close() //nolint:errcheck // it was only read
	if err != nil {
		return
	}
	for _, c := range children {
		if c.IsDir() { // a link is none
			f.folder(path.Join(name, c.Name()), suite, depth+1)
		}
	}
}

// suite is the entry of a suite.
func (f *find) suite(name string) (Entry, bool) {
	defined, err := f.root.Lstat(path.Join(name, suiteFile))
	if err != nil {
		return Entry{}, false
	}
	e, done := f.head(name, "suite")
	if !done {
		e = Entry{Verdict: f.going(defined.ModTime(), name), Name: path.Base(name), What: "no results yet", When: defined.ModTime()}
	}
	e.Path, e.Kind = name, "suite"
	return e, true
}

// run is the entry of a run.
func (f *find) run(name, suite string) (Entry, bool) {
	e, done := f.head(name, "run")
	if !done {
		trial, err := f.root.Lstat(path.Join(name, trialFile))
		if err != nil {
			return Entry{}, false
		}
		last := trial.ModTime()
		if logs, err := fs.ReadDir(f.root.FS(), path.Join(name, logsDir)); err == nil {
			for _, l := range logs {
				if info, err := l.Info(); err == nil && info.ModTime().After(last) {
					last = info.ModTime()
				}
			}
		}
		e = f.planned(name)
		e.Verdict, e.When, e.Took = f.going(last, name), last, seconds(last.Sub(trial.ModTime()))
	}
	e.Path, e.Kind, e.Suite = name, "run", suite
	return e, true
}

// going says whether what has no results yet still runs.
func (f *find) going(last time.Time, name string) string {
	for _, part := range []string{"runs", logsDir} {
		if info, err := f.root.Lstat(path.Join(name, part)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	if f.now.Sub(last) > quiet {
		return "interrupted"
	}
	return "running"
}

// head reads what the list shows of results: they begin with it.
func (f *find) head(name, kind string) (Entry, bool) {
	file := path.Join(name, resultsFile)
	info, err := f.root.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return Entry{}, false
	}
	if k, had := f.known[file]; had && k.changed.Equal(info.ModTime()) && k.size == info.Size() {
		f.seen[file] = k
		return k.entry, true
	}
	text, ok := f.begin(file)
	if !ok {
		return Entry{}, false
	}
	e := Entry{When: info.ModTime()}
	if kind == "suite" {
		e.suiteHead(fields(text))
	} else {
		e.runHead(fields(text))
	}
	f.seen[file] = known{info.ModTime(), info.Size(), e}
	return e, true
}

func (f *find) begin(file string) ([]byte, bool) {
	r, err := f.root.Open(file)
	if err != nil {
		return nil, false
	}
	defer r.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(r, headSize))
	return text, err == nil
}

// planned is what a run that has no results yet is about.
func (f *find) planned(name string) (e Entry) {
	text, ok := f.begin(path.Join(name, trialFile))
	if !ok {
		return e
	}
	var config map[string]json.RawMessage
	if json.Unmarshal(fields(text)["config"], &config) == nil {
		e.runHead(config)
	}
	return e
}

// fields are the first members of a JSON object, as far as the text has them whole.
func fields(text []byte) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return out
	}
	for {
		key, err := dec.Token()
		name, is := key.(string)
		var value json.RawMessage
		if err != nil || !is || dec.Decode(&value) != nil {
			return out
		}
		out[name] = value
	}
}

func (e *Entry) runHead(of map[string]json.RawMessage) {
	var backend, workload string
	var nemesis []string
	var seed json.Number
	var took time.Duration
	take(of, map[string]any{
		"backend": &backend, "workload": &workload, "nemesis": &nemesis, "seed": &seed,
		"duration_ns": &took, "verdict": &e.Verdict,
	})
	e.Name, e.Faults, e.What = backend, strings.Join(nemesis, " + "), workload+", seed "+seed.String()
	e.Verdict = cmp.Or(map[string]string{"fail": "violation", "unknown": "inconclusive"}[e.Verdict], e.Verdict)
	if took > 0 {
		e.Took = seconds(took)
	}
}

func (e *Entry) suiteHead(of map[string]json.RawMessage) {
	code := -1
	take(of, map[string]any{"exit_code": &code, "name": &e.Name, "verdict": &e.What})
	e.Verdict = cmp.Or(map[int]string{0: "pass", 2: "inconclusive"}[code], "violation")
}

// take reads members; what is not as it should be is not shown.
func take(of map[string]json.RawMessage, into map[string]any) {
	for name, to := range into {
		if raw, has := of[name]; has {
			_ = json.Unmarshal(raw, to)
		}
	}
}

// seconds is a length for people.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
