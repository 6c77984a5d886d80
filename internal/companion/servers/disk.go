package servers

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/companion/disk"
)

// ageEvery is how often the disk writes what is old.
const ageEvery = time.Second

// serveDisk is the disk of a server, over its folder.
func serveDisk(dir string) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // lockstorm has to end first
	out := json.NewEncoder(os.Stdout)
	d, err := mountDisk(dir)
	if err != nil {
		return errors.Join(err, out.Encode(companion.DiskAnswer{Error: err.Error()}))
	}
	if err := out.Encode(companion.DiskAnswer{}); err != nil {
		return err
	}
	go func() {
		for range time.Tick(ageEvery) {
			if err := d.Age(); err != nil {
				os.Stderr.WriteString(err.Error() + "\n") //nolint:errcheck // there is nobody else to tell
			}
		}
	}()
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
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

// mountDisk mounts it over the folder. Its programs may have many files, and each is open here.
func mountDisk(dir string) (*disk.Disk, error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	files.Cur = files.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	d, err := disk.Open(dir, time.Now)
	if err == nil {
		_, err = disk.Mount(d, dir)
	}
	return d, err
}
