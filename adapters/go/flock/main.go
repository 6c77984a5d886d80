// Command flock is flock(2) as an adapter of lockstorm in Go: a lock that is right, a control of the other adapters in Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

type adapter struct{ dir string }

func (a *adapter) About() lockstorm.Fields {
	return lockstorm.Fields{
		"name": "flock", "version": "1", "doc": "flock(2) on a file, called from Go", "topologies": []string{"local"},
		"ends":  "process",
		"calls": []string{"ask"},
	}
}

func (a *adapter) Open(_ *lockstorm.Program, r lockstorm.Request) error {
	a.dir = r.Dir
	return nil
}

// Attempt is one try. A lock that is not ours is closed again, so that it frees nothing later.
func (a *adapter) Attempt(_ context.Context, r lockstorm.Request) (lockstorm.Hold, lockstorm.Fields, error) {
	sent := lockstorm.Now()
	file, err := os.OpenFile(filepath.Join(a.dir, r.Lock+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrNotSent, err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = lockstorm.ErrBusy
		}
		return nil, nil, err
	}
	return hold{file}, lockstorm.Fields{"sent": sent}, nil
}

type hold struct{ file *os.File }

func (h hold) Release() error { return h.file.Close() }

// Held locks what is locked already, which changes nothing.
func (h hold) Held() (bool, error) {
	err := syscall.Flock(int(h.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return err == nil, nil
}

func main() { lockstorm.Serve(&adapter{}) }
