package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/lockstorm/lockstorm/internal/companion"
)

// ageEvery is how often the disk writes what is old.
const ageEvery = time.Second

// Serve mounts a disk over a folder, in the mount namespace of this process, and does what [companion.Disk] is asked for.
func Serve(dir string) error {
	return serve(dir, time.Now, func(k *kernel) fuse.RawFileSystem { return k })
}

func serve(dir string, now func() time.Time, change func(*kernel) fuse.RawFileSystem) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // lockstorm has to end first
	out := json.NewEncoder(os.Stdout)
	d, err := open(dir, now, change)
	if err != nil {
		return errors.Join(err, out.Encode(companion.DiskAnswer{Error: err.Error()}))
	}
	if err := out.Encode(companion.DiskAnswer{}); err != nil {
		return err
	}
	go func() {
		for range time.Tick(ageEvery) {
			if err := d.Age(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}()
	in := json.NewDecoder(os.Stdin)
	for {
		var c companion.DiskCall
		if err := in.Decode(&c); errors.Is(err, io.EOF) {
			return d.Sync()
		} else if err != nil {
			return err
		}
		var a companion.DiskAnswer
		if c.Keeps == "" {
			err = d.Sync()
		} else {
			a.Loss, err = d.Cut(c.Keeps, c.Draw, c.Words)
		}
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil || c.Keeps != "" {
			return err
		}
	}
}

// open mounts the disk. Programs may have many files, and each is open here, too.
func open(dir string, now func() time.Time, change func(*kernel) fuse.RawFileSystem) (*Disk, error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	files.Cur = files.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	d, err := Open(dir, now)
	if err == nil {
		err = mount(change(newKernel(d)), dir)
	}
	return d, err
}
