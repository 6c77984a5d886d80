// Command certmagic is the lock of certmagic's FileStorage as an adapter of lockstorm: certmagic, the library by which Caddy gets
// its certificates, holds it while it asks for one. Its lock files count as stale 10 s after they were written or refreshed:
//
//	lockstorm run --backend exec:cmd=adapters/go/launch --ttl 10s --time 60s --nemesis client-kill -- certmagic
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

const module = "github.com/caddyserver/certmagic"

// stale is how long the library leaves a lock file alone that nobody refreshes: twice its lockFreshnessInterval.
const stale = 10 * time.Second

type adapter struct{ storage *certmagic.FileStorage }

func (a *adapter) About() lockstorm.Fields {
	return lockstorm.Fields{
		"name": "certmagic", "version": "1", "doc": "FileStorage of certmagic: lock files that the holder refreshes every 5 s",
		"library": module + " " + lockstorm.Version(module), "topologies": []string{"local"}, "ends": "lease", "waits": true,
		"no_try": true, "renews": true,
		"notes": "certmagic ignores --ttl, and treats a lock file as stale if it was not refreshed for 10 s. Run with --ttl 10s, " +
			"because lockstorm derives the durations of its faults from --ttl. A waiting client checks the lock file every second.",
	}
}

func (a *adapter) Open(_ *lockstorm.Program, r lockstorm.Request) error {
	a.storage = &certmagic.FileStorage{Path: r.Dir}
	return nil
}

func (a *adapter) Attempt(ctx context.Context, r lockstorm.Request) (lockstorm.Hold, lockstorm.Fields, error) {
	asked := lockstorm.Now()
	if err := a.storage.Lock(ctx, r.Lock); err != nil {
		if ctx.Err() != nil {
			return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrBusy, err)
		}
		return nil, nil, err
	}
	sent := max(asked, a.made(r.Lock))
	return &hold{a.storage, r.Lock}, lockstorm.Fields{
		"sent": sent, "ttl_ns": stale.Nanoseconds(),
		"deadline": sent + stale.Nanoseconds(),
	}, nil
}

// made is when the lock file was made, by what the library wrote into it. The wait for it may have been long.
func (a *adapter) made(lock string) int64 {
	text, err := os.ReadFile(filepath.Join(a.storage.Path, "locks", certmagic.StorageKeys.Safe(lock)+".lock"))
	var meta struct{ Created time.Time }
	if err != nil || json.Unmarshal(text, &meta) != nil {
		return 0
	}
	return lockstorm.Now() - time.Since(meta.Created).Nanoseconds()
}

type hold struct {
	storage *certmagic.FileStorage
	lock    string
}

// Release deletes the lock file, whosever it is.
func (h *hold) Release() error {
	err := h.storage.Unlock(context.Background(), h.lock)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", lockstorm.ErrNotHeld, err)
	}
	return err
}

func main() { lockstorm.Serve(&adapter{}) }
