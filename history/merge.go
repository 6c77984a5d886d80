package history

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/files"
)

// Names of the logs' folder and of the merged history inside a run directory.
const (
	LogDir = "logs"
	File   = "history.jsonl"
)

// MergeDir reads every log of a run directory and merges them by time. It never changes the order within a log, not
// even where times run backwards: the judge must see that.
func MergeDir(dir string) (*History, error) {
	paths, err := filepath.Glob(filepath.Join(dir, LogDir, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("cannot list the logs of the run: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s has neither %s nor logs in %s/: it is not a run directory", dir, File, LogDir)
	}
	slices.Sort(paths)
	var logs []*History
	for _, p := range paths {
		h, err := ReadFile(p)
		if errors.Is(err, ErrNoHistory) {
			h = &History{Torn: p + ": the log is empty: the process that should write this log died before it recorded an event"}
		} else if err != nil {
			return nil, err
		}
		logs = append(logs, h)
	}
	return Merge(logs)
}

// Merge joins logs by time into one history and numbers the events. Of equal times, invokes come first.
func Merge(logs []*History) (*History, error) {
	out := &History{sums: map[string]uint32{}, files: map[string]string{}}
	var heads mergeHeap
	var torn []string
	total := 0
	for i, l := range logs {
		out.Damage = append(out.Damage, l.Damage...)
		maps.Copy(out.sums, l.sums)
		maps.Copy(out.files, l.files)
		out.Sources = append(out.Sources, l.Sources...)
		if l.Torn != "" {
			torn = append(torn, l.Torn)
		}
		if len(l.Events) > 0 {
			heads = append(heads, mergeHead{events: l.Events, log: i})
			total += len(l.Events)
		}
	}
	if total == 0 {
		return nil, ErrNoHistory
	}
	out.Torn = strings.Join(torn, "; ")
	out.Events = make([]Event, 0, total)
	heap.Init(&heads)
	for len(heads) > 0 {
		e := heads[0].events[0]
		e.Index = int64(len(out.Events))
		out.Events = append(out.Events, e)
		if heads[0].events = heads[0].events[1:]; len(heads[0].events) == 0 {
			heap.Pop(&heads)
		} else {
			heap.Fix(&heads, 0)
		}
	}
	out.compareMerged()
	return out, nil
}

// WriteFile writes the history as JSON lines, so that a reader never sees half of it.
func (h *History) WriteFile(path string) error {
	return files.Write(path, func(w io.Writer) error {
		var line []byte
		for i := range h.Events {
			line = append(h.Events[i].AppendJSON(line[:0], true), '\n')
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
}

type mergeHead struct {
	events []Event
	log    int
}

// mergeHeap orders the logs by their first event.
type mergeHeap []mergeHead

func (h mergeHeap) Len() int      { return len(h) }
func (h mergeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *mergeHeap) Push(x any)   { *h = append(*h, x.(mergeHead)) }

func (h mergeHeap) Less(i, j int) bool {
	a, b := &h[i].events[0], &h[j].events[0]
	return cmp.Or(
		cmp.Compare(a.Time, b.Time),
		cmp.Compare(callFirst(a), callFirst(b)),
		cmp.Compare(h[i].log, h[j].log),
	) < 0
}

func (h *mergeHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

func callFirst(e *Event) int {
	if e.Type() == Invoke {
		return 0
	}
	return 1
}
