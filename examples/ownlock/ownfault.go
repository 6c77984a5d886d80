package ownlock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/points"
)

// StaleFile is the name of the fault, for --nemesis.
const StaleFile = "stale-file"

// The fault's own parameter, and what it may say.
const (
	paramSeen   = "seen"
	seenNothing = "nothing"
	seenCopy    = "copy"
)

// Faults are the faults for the catalogue.
func Faults() []nemesis.Spec {
	return []nemesis.Spec{{
		Name: StaleFile, Doc: "replaces the lock's file by another file for a while, as when a file system is unmounted and mounted again",
		Proven: "The name of the lock's file leads to another file (another inode) than before.",
		End:    "lockstorm puts the old file back, and checks that the name leads to the old file again.",
		Family: history.FamilyStore,
		Whom:   nemesis.Elsewhere, // neither clients nor servers: it finds the files itself
		Params: append(nemesis.CommonParams("1.5ttl", "3ttl"), nemesis.StayParam(), catalog.Param{
			Name: paramSeen, Default: seenNothing,
			Doc: "content of the other file: nothing: the file is empty; copy: the content of the lock's file, as on a replica that lags behind",
		}),
		Check: checkSeen,
		// It hurts most while somebody holds the lock.
		Strikes: func(int, []string) string { return points.Acquired },
		Fault:   staleFile{},
	}}
}

// checkSeen says what is wrong with the parameter, before anything is started.
func checkSeen(own catalog.Values, _ nemesis.Input) error {
	if s := own[paramSeen]; s != seenNothing && s != seenCopy {
		return fmt.Errorf("%s=%s: choose %s or %s", paramSeen, s, seenNothing, seenCopy)
	}
	return nil
}

// staleFile puts another file in the place of the lock's:
//
//	L1.lease       --> inode 7 --> inode 8 (empty, or a copy) --> inode 7
//	L1.lease.away                  inode 7
type staleFile struct{}

var _ nemesis.Fault = staleFile{}

// Available says with which locks it can work: those whose files it knows.
func (staleFile) Available(s nemesis.Setting) error {
	if ours := []string{Name, Blind}; !slices.Contains(ours, s.Backend) {
		return fmt.Errorf("this fault does not know the lock files of backend %s: use one of %s", s.Backend, strings.Join(ours, ", "))
	}
	return nil
}

// Inject swaps the file of the lock whose client stands at the point, or those of all locks. What
// was swapped is put back also if another one fails: the heal is returned beside the error.
func (staleFile) Inject(_ context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var lock string // empty: all
	if t.Hit != nil {
		lock = t.Hit.Lock
	}
	var all swaps
	for _, name := range w.Keys(lock) {
		s, err := swap(filepath.Join(w.Dir(), name), t.Params[paramSeen] == seenCopy)
		if errors.Is(err, os.ErrNotExist) {
			continue // nobody ever took this lock: it has nothing to lose
		}
		if err != nil {
			return nemesis.Effect{Heal: all.heal}, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nemesis.Effect{}, errors.New("no lock file exists, because no client has acquired a lock yet")
	}
	return nemesis.Effect{Proof: all.proof(), Heal: all.heal}, nil
}

// swapped is a file that stands in the place of another one.
type swapped struct {
	path     string
	old, now os.FileInfo
}

type swaps []swapped

// swap puts another file in the place of one. The name leads to one of the two at any moment: whoever
// opened it between two renames would have made a third one.
func swap(path string, copied bool) (s swapped, err error) {
	s.path = path
	if s.old, err = os.Stat(path); err != nil {
		return s, err
	}
	var content []byte
	if copied {
		if content, err = os.ReadFile(path); err != nil {
			return s, err
		}
	}
	if err = os.WriteFile(path+".new", content, 0o600); err != nil {
		return s, err
	}
	if err = os.Link(path, path+".away"); err != nil {
		return s, err
	}
	if err = os.Rename(path+".new", path); err != nil {
		return s, err
	}
	if s.now, err = os.Stat(path); err == nil && os.SameFile(s.old, s.now) {
		err = fmt.Errorf("the replacement failed: %s is still the same file", path)
	}
	return s, err
}

// proof says what was observed.
func (all swaps) proof() string {
	var names []string
	for _, s := range all {
		names = append(names, fmt.Sprintf("the name %s leads to another file now, of %d bytes", filepath.Base(s.path), s.now.Size()))
	}
	return strings.Join(names, "; ")
}

// heal puts the old files back, all of them, whatever fails, and sees that they are there.
func (all swaps) heal(context.Context) (string, error) {
	var errs []error
	for _, s := range all {
		err := os.Rename(s.path+".away", s.path)
		back, statErr := os.Stat(s.path)
		if err = errors.Join(err, statErr); err == nil && !os.SameFile(s.old, back) {
			err = fmt.Errorf("the old file was not put back: %s is another file", s.path)
		}
		errs = append(errs, err)
	}
	return fmt.Sprintf("old files restored: %d", len(all)), errors.Join(errs...)
}
