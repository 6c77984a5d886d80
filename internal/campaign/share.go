package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/internal/explore/search"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// corpus is what the searches of a cell learn together, on whatever machine they are: each has an object in the object store,
// which it replaces when it has learnt something, and reads those of the others that have changed.
type corpus struct {
	c      *Campaign
	name   string   // of the object of this search
	others []string // objects
	read   map[string]string
	taken  map[string]int // entries of an object that were read
	given  int
}

// corpusOf is the name of the object of a task's search.
func corpusOf(t Task) string { return "corpus/" + t.ID() }

// share makes the searches of a suite learn from each other.
func (c *Campaign) share(s *gate.Suite, of Task) {
	s.Share = func(cell plan.Cell, _ uint64) search.Share {
		out := &corpus{c: c, name: corpusOf(of), read: map[string]string{}, taken: map[string]int{}}
		for _, seed := range cell.Seeds {
			if seed != of.Seed {
				out.others = append(out.others, corpusOf(Task{of.Cell, seed}))
			}
		}
		return out
	}
}

// Others reads what has changed. A search that was begun again has an object that begins again.
func (s *corpus) Others(ctx context.Context) (all []*search.Entry, err error) {
	for _, name := range s.others {
		info, err := s.c.runs.GetInfo(ctx, name)
		switch {
		case errors.Is(err, jetstream.ErrObjectNotFound): // it has not begun
			continue
		case err != nil:
			return all, err
		case info.Digest == s.read[name]:
			continue
		}
		b, err := s.c.runs.GetBytes(ctx, name)
		if err != nil {
			return all, err
		}
		var entries []*search.Entry
		if err := json.Unmarshal(b, &entries); err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		if len(entries) < s.taken[name] {
			s.taken[name] = 0
		}
		all = append(all, entries[s.taken[name]:]...)
		s.read[name], s.taken[name] = info.Digest, len(entries)
	}
	return all, nil
}

// Give replaces the object of this search.
func (s *corpus) Give(ctx context.Context, mine []*search.Entry) error {
	if len(mine) == s.given {
		return nil
	}
	b, err := json.Marshal(mine)
	if err == nil {
		_, err = s.c.runs.PutBytes(ctx, s.name, b)
	}
	if err == nil {
		s.given = len(mine)
	}
	return err
}
