package harness

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/reports"
)

// about is what the page of a run says beside its record: which backend would measure a fence, and where the run
// belongs.
func (j *Judged) about(dir string) reports.Context {
	c := reports.Context{Trail: Trail(dir), Logs: serverLogs(dir, j.Record.Run.Started)}
	if _, err := os.Stat(filepath.Join(dir, TrialFile)); err == nil {
		c.Replayable = true
	}
	if j.backends == nil {
		return c
	}
	name, _ := catalog.Split(j.Results.Backend)
	b, err := j.backends.Get(name)
	if err != nil {
		return c
	}
	c.OnDisk = j.onDisk(b)
	if b.Tokens || len(b.Topologies) == 0 {
		return c
	}
	for _, other := range j.backends.All() {
		if other.Tokens && other.Model.Kind == b.Model.Kind && slices.Contains(other.Topologies, b.Topologies[0]) {
			c.WithTokens = other.Name
			break
		}
	}
	return c
}

// onDisk is a topology like that of the run, but for that its servers have their data on disk before they acknowledge it; empty
// where the run's do, or there is none.
func (j *Judged) onDisk(b backends.Spec) string {
	of, err := j.topologies.Get(j.Results.Topology)
	if err != nil || !of.Volatile && !of.Unsynced {
		return ""
	}
	for _, name := range b.Topologies {
		t, err := j.topologies.Get(name)
		if err == nil && !t.Volatile && !t.Unsynced && len(t.Nodes) == len(of.Nodes) && t.Nodes[0].Name == of.Nodes[0].Name {
			return name
		}
	}
	return ""
}

// Trail returns links from a run of a suite (SUITE/runs/CELL/seed-N) to its suite and to the runs of its cell that
// exist already. For any other run it is empty.
func Trail(dir string) []reports.Link {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	seed := filepath.Base(full)
	at := strings.LastIndex(full, string(filepath.Separator)+"runs"+string(filepath.Separator))
	if at < 0 || !strings.HasPrefix(seed, "seed-") {
		return nil
	}
	cell := filepath.ToSlash(filepath.Dir(full[at+len("/runs/"):]))
	up := strings.Repeat("../", strings.Count(cell, "/")+3)
	links := []reports.Link{
		{Text: "suite " + filepath.Base(full[:at]), Href: up + "index.html"},
		{Text: cell, Href: up + "index.html#" + cell},
	}
	others, err := filepath.Glob(filepath.Join(filepath.Dir(full), "seed-*"))
	if err != nil {
		return links // a name that is no pattern: no neighbours
	}
	// seed-10 is after seed-2
	slices.SortFunc(others, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, other := range others {
		if name := filepath.Base(other); name != seed {
			links = append(links, reports.Link{Text: name, Href: "../" + name + "/" + ReportFile})
		} else {
			links = append(links, reports.Link{Text: name})
		}
	}
	return links
}
