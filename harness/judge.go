package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/reports"
)

// Files of a run directory.
const (
	planFile    = "plan.json"
	ResultsFile = "results.json"
	ReportFile  = "report.html"
	JUnitFile   = "junit.xml"
)

func makeDirs(dir string) error {
	for _, d := range []string{history.LogDir, nodesDir} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// Judged is a history with its results.
type Judged struct {
	Results *checker.Results
	Record  *history.Record

	renderers  []Renderer
	backends   *backends.Catalogue
	topologies *cluster.Catalogue
}

// JudgeFile judges a history file and writes nothing.
func JudgeFile(cat *Catalogue, path string) (*Judged, error) {
	h, err := history.ReadFile(path)
	if err != nil {
		return nil, Usage(err)
	}
	return judge(cat, h)
}

// JudgeDir judges a run directory: its history or, if the controller died before it was made, its logs, which are
// merged first. It rewrites results.json and the reports; if that fails, it returns the judgement beside the error.
func JudgeDir(cat *Catalogue, dir string) (*Judged, error) {
	path := history.FileIn(dir)
	h, err := history.ReadFile(path)
	var writeErr error
	note := ""
	if errors.Is(err, fs.ErrNotExist) {
		if h, err = history.MergeDir(dir); err == nil {
			writeErr = writeHistory(h, path)
		}
	} else if err == nil && !h.Whole() {
		note = besideLogs(dir, h)
	}
	if err != nil {
		return nil, Usage(err)
	}
	j, err := judge(cat, h)
	if err != nil {
		return nil, err
	}
	if note != "" {
		j.Results.Notes = append(j.Results.Notes, note)
	}
	return j, errors.Join(writeErr, j.write(dir))
}

// besideLogs says where a history that is not whole differs from the logs that it was made of, and how to
// make it anew; empty where they agree, or are gone.
func besideLogs(dir string, h *history.History) string {
	logs, err := history.MergeDir(dir)
	if err != nil {
		return ""
	}
	has, had := h.Parties(), logs.Parties()
	var differ []string
	for _, party := range slices.Sorted(maps.Keys(had)) {
		if has[party] != had[party] {
			differ = append(differ, fmt.Sprintf("%s has %d events in the history, but %d events in the logs", party, has[party],
				had[party]))
		}
	}
	switch {
	case len(differ) == 0 && !logs.Whole():
		return ""
	case !logs.Whole():
		return fmt.Sprintf("%s and the logs in %s/ disagree (%s), and the logs are incomplete, so it cannot be rebuilt from them",
			history.File, history.LogDir, strings.Join(differ, "; "))
	case len(differ) == 0:
		differ = []string{"some lines have different contents"}
	}
	return fmt.Sprintf("%s and the logs in %s/ disagree (%s), and the logs are complete: to rebuild it, remove %s and run "+
		"`lockstorm check` on the directory",
		history.File, history.LogDir, strings.Join(differ, "; "), filepath.Join(dir, history.File))
}

// ReadResults reads the saved results of a run directory.
func ReadResults(dir string) (*checker.Results, error) {
	r, err := checker.ReadResults(filepath.Join(dir, ResultsFile))
	if err != nil {
		return nil, Usage(err)
	}
	return r, nil
}

// writeHistory writes a merged history, unless logs were damaged: lines that could not
// be read would be gone from it, and the next judge would not know.
func writeHistory(h *history.History, path string) error {
	if len(h.Damage) > 0 {
		return nil
	}
	return h.WriteFile(path)
}

func judge(cat *Catalogue, h *history.History) (*Judged, error) {
	in, err := checker.NewInput(h)
	if err != nil {
		return nil, Usage(fmt.Errorf("%s: %w", h.Sources[0], err))
	}
	j := &Judged{
		Results: checker.Judge(in, cat.Checks), Record: in.Record, renderers: cat.Renderers, backends: cat.Backends,
		topologies: cat.Topologies,
	}
	prove(j.Results, j.Record)
	return j, nil
}

func (j *Judged) write(dir string) error {
	if err := sign(j.Results, history.FileIn(dir)); err != nil {
		return Environment(err)
	}
	if err := j.Results.WriteFile(filepath.Join(dir, ResultsFile)); err != nil {
		return Environment(err)
	}
	return j.Render(dir)
}

// Render writes the reports of a judged run directory.
func (j *Judged) Render(dir string) error {
	own := lists.Map(j.renderers, func(r Renderer) error {
		return files.Write(filepath.Join(dir, r.File), func(w io.Writer) error { return r.Write(w, j.Results, j.Record) })
	})
	err := errors.Join(errors.Join(own...),
		files.Write(filepath.Join(dir, ReportFile), func(w io.Writer) error {
			return reports.HTML(w, j.Results, j.Record, j.about(dir))
		}),
		files.Write(filepath.Join(dir, JUnitFile), func(w io.Writer) error { return reports.JUnit(w, j.Results) }),
	)
	if err != nil {
		return Environment(fmt.Errorf("cannot write the reports: %w", err))
	}
	return nil
}

// judgeInto merges the logs of a run that has just ended and judges them.
func judgeInto(out *RunOutcome, cat *Catalogue, dir string) error {
	h, err := history.MergeDir(dir)
	if err != nil {
		return Environment(err)
	}
	if err := writeHistory(h, filepath.Join(dir, history.File)); err != nil {
		return Environment(err)
	}
	j, err := judge(cat, h)
	if err != nil {
		return err
	}
	if out.Trouble != nil {
		j.Results.Notes = append(j.Results.Notes, "the run did not finish: "+strings.ReplaceAll(out.Trouble.Error(), "\n", "; "))
	}
	if out.Worked > 0 {
		j.Results.Notes = append(j.Results.Notes, fmt.Sprintf("the clients stopped working after %v: by then the record showed what "+
			"the run was made for", out.Worked.Round(10*time.Millisecond)))
	}
	out.Results, out.Record = j.Results, j.Record
	return j.write(dir)
}
