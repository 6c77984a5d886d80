package ownlock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// What a fileLock answers. After any other error nobody knows whether the record was
// changed.
var (
	errHeld      = errors.New("the lease of another client is still running")
	errLost      = errors.New("the record in the lock's file names another owner")
	errGuarded   = errors.New("another client is changing the record in the lock's file")
	errUntouched = errors.New("the record in the lock's file was not changed")
)

// fileLock is the lock itself: what you have already, in whatever form. This one is a
// record in a file that says who owns the lock and until when. Whoever changes it guards
// it with flock(2) for that moment:
//
//	guard   |-flock-|                                |-flock-|
//	record  | look: free? write mine  ...            | look: mine? write a free one
//	lease           |<------------- ttl --------------------->| then anybody may take it
//
// The file is never removed: who then opened another one of the same name would share no
// guard with those who wait at the old one.
type fileLock struct {
	path string
	now  func() int64 // one clock for all owners, ns
}

// record is the content of the file. Where that is empty nobody ever took the lock.
type record struct {
	Owner   string `json:"owner"` // empty: free
	Expires int64  `json:"expires"`
	Token   int64  `json:"token"` // of the last grant: it outlives the owner, so that it only grows
}

// take makes owner the owner until expires and returns the fencing token. free is called
// once the lock was seen to be free, with the guard held.
func (l fileLock) take(owner string, sent int64, ttl time.Duration, free func()) (token int64, err error) {
	err = l.change(func(r *record) error {
		if r.Owner != "" && l.now() < r.Expires {
			return errHeld
		}
		free()
		token = r.Token + 1
		*r = record{Owner: owner, Expires: sent + ttl.Nanoseconds(), Token: token}
		return nil
	})
	return token, err
}

// release frees the lock of owner, and nobody else's.
func (l fileLock) release(owner string) error {
	return l.change(func(r *record) error {
		if r.Owner != owner {
			return errLost
		}
		r.Owner = ""
		return nil
	})
}

// releaseBlindly frees the lock whoever owns it: the bug to be found. It looks right as
// long as everybody releases in time.
func (l fileLock) releaseBlindly(string) error {
	return l.change(func(r *record) error {
		if r.Owner == "" {
			return errLost
		}
		r.Owner = ""
		return nil
	})
}

// change replaces the record by what f makes of it, with nobody in between: two who find
// the same expired lease must not both replace it. It never waits for the guard, because
// its holder may be stopped for long; the kernel drops the guard of one that dies.
func (l fileLock) change(f func(*record) error) error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", errUntouched, err)
	}
	defer file.Close() //nolint:errcheck // nothing is buffered, and the guard ends in any case
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errGuarded
	case err != nil:
		return fmt.Errorf("%w: flock: %w", errUntouched, err)
	}
	r, err := read(file)
	if err != nil {
		return fmt.Errorf("%w: %w", errUntouched, err)
	}
	if err := f(&r); err != nil {
		return err
	}
	return write(file, r)
}

// recordSize is the length of every record, padded: a new one covers the old one whole.
const recordSize = 256

func read(file *os.File) (r record, err error) {
	b := make([]byte, recordSize)
	n, err := file.ReadAt(b, 0)
	if n == 0 && errors.Is(err, io.EOF) {
		return record{}, nil
	}
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// write is one write(2) within one page, which SIGKILL does not tear. To rename a new
// file over the old one would be atomic too, but then a busy disk decides how long the
// guard is held. Nothing is synced: this lock does not outlive a power cut.
func write(file *os.File, r record) error {
	b, err := json.Marshal(r)
	if err == nil && len(b) > recordSize {
		err = fmt.Errorf("the record has %d bytes, but at most %d are allowed", len(b), recordSize)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUntouched, err)
	}
	_, err = file.WriteAt(append(b, bytes.Repeat([]byte{' '}, recordSize-len(b))...), 0)
	return err
}
