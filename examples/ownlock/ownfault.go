package ownlock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// StaleFile is the name of the fault, for --nemesis.
const StaleFile = "stale-file"

// The fault's own parameter, and its possible values.
const (
	paramSeen   = "seen"
	seenNothing = "nothing"
	seenCopy    = "copy"
)

// Faults describes the fault for the catalogue.
func Faults() []nemesis.Spec {
	return []nemesis.Spec{{
		Name: StaleFile, Doc: "replaces the lock's file for a while, as a file system that is mounted anew",
		Proven: "The name of the lock's file now leads to a different file (a different inode).",
		End:    "lockstorm puts the old file back, and checks that the name leads to the old file again.",
		Family: history.FamilyStore,
		Whom:   nemesis.OwnTargets, // the fault affects neither clients nor servers: it finds the files itself
		Params: append(nemesis.CommonParams("1.5ttl", "3ttl"), nemesis.StayParam(), nemesis.Param{
			Name: paramSeen, Default: seenNothing,
			Doc: "content of the other file (nothing: the file is empty; copy: the content of the lock's file, as on a replica that " +
				"lags behind)",
		}),
		Check: checkSeen,
		// By default the fault acts just after a client has acquired the lock, when it can do most harm.
		Strikes: func(int, []string) string { return history.AtAcquired },
		Fault:   staleFile{},
	}}
}

// checkSeen refuses a wrong value of the parameter before the run starts.
func checkSeen(own nemesis.Values, _ nemesis.Input) error {
	if s := own[paramSeen]; s != seenNothing && s != seenCopy {
		return fmt.Errorf("%s=%s: choose %s or %s", paramSeen, s, seenNothing, seenCopy)
	}
	return nil
}

// staleFile replaces the lock's file by another file, and later puts the old file back:
//
//	L1.lease       --> inode 7 --> inode 8 (empty, or a copy) --> inode 7
//	L1.lease.away                  inode 7
type staleFile struct{}

var _ nemesis.Fault = staleFile{}

// Available refuses locks whose files this fault does not know.
func (staleFile) Available(s nemesis.Setting) error {
	if ours := []string{Name, Blind}; !slices.Contains(ours, s.Backend) {
		return fmt.Errorf("this fault does not know the lock files of backend %s: choose one of the backends %s", s.Backend,
			strings.Join(ours, ", "))
	}
	return nil
}

// Inject replaces the file of the lock that the client at the point uses. If the fault acts at a random time, and
// not at a point, Inject replaces the files of all locks. If a replacement fails, Inject returns the error, and also a heal
// function that restores the files that were already replaced.
func (staleFile) Inject(_ context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var lock string // the empty name means all locks
	if t.Hit != nil {
		lock = t.Hit.Lock
	}
	var all swaps
	for _, name := range w.Keys(lock) {
		s, err := swap(filepath.Join(w.Dir(), name), t.Params[paramSeen] == seenCopy)
		if errors.Is(err, os.ErrNotExist) {
			continue // no client has acquired this lock yet, so it has no file
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

// swapped describes one replaced file.
type swapped struct {
	path     string
	old, now os.FileInfo
}

type swaps []swapped

// swap replaces a file by another file in one step (rename), so that the name always leads to one of the two files. If the
// name were missing for a moment, a client could create a third file.
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
		err = fmt.Errorf("the lock file %s was not replaced: it is still the same file (the same inode)", path)
	}
	return s, err
}

// proof describes the observed effect.
func (all swaps) proof() string {
	var names []string
	for _, s := range all {
		names = append(names, fmt.Sprintf("the name %s now leads to another file (size: %d bytes)", filepath.Base(s.path),
			s.now.Size()))
	}
	return strings.Join(names, "; ")
}

// heal puts all old files back, even if one of them fails, and checks that the names lead to the old files again.
func (all swaps) heal(context.Context) (string, error) {
	var errs []error
	for _, s := range all {
		err := os.Rename(s.path+".away", s.path)
		back, statErr := os.Stat(s.path)
		if err = errors.Join(err, statErr); err == nil && !os.SameFile(s.old, back) {
			err = fmt.Errorf("the old file was not put back: %s is not the old file", s.path)
		}
		errs = append(errs, err)
	}
	return fmt.Sprintf("old files restored: %d", len(all)), errors.Join(errs...)
}
