package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/internal/proc"
)

// Pause freezes every process of the container, and returns once the kernel says so. The text is the
// proof. A container that is paused several times goes on with the last resume.
func (i *instance) Pause(ctx context.Context) (string, error) {
	return i.pauses.Begin(func(running bool) (string, error) {
		if running {
			if _, err := i.d.api.ContainerPause(ctx, i.c.id, client.ContainerPauseOptions{}); err != nil {
				if i.gone() {
					return "", fmt.Errorf("container %s: %w", i.c.name, proc.ErrGone)
				}
				return "", fmt.Errorf("cannot pause container %s: %w", i.c.name, errFirst(err))
			}
		}
		return i.await(ctx, "paused", true)
	})
}

// Resume lets the container go on, and returns once nothing of it is frozen.
func (i *instance) Resume(ctx context.Context) (string, error) {
	return i.pauses.End("container "+i.c.name, func() (string, error) {
		if _, err := i.d.api.ContainerUnpause(ctx, i.c.id, client.ContainerUnpauseOptions{}); err != nil && !ended(err) {
			return "", fmt.Errorf("cannot resume container %s: %w", i.c.name, errFirst(err))
		}
		return i.await(ctx, "running", false)
	})
}

// thaw lets a paused container go on, for its end.
func (i *instance) thaw(ctx context.Context) error {
	return i.pauses.Over(func() error {
		_, err := i.d.api.ContainerUnpause(ctx, i.c.id, client.ContainerUnpauseOptions{})
		return err
	})
}

func (i *instance) gone() bool {
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}

// await waits until both the daemon and, where it can be asked, the kernel say what they should.
func (i *instance) await(ctx context.Context, what string, paused bool) (string, error) {
	for {
		if i.gone() {
			return "", fmt.Errorf("container %s: %w", i.c.name, proc.ErrGone)
		}
		state, err := i.d.api.ContainerInspect(ctx, i.c.id, client.ContainerInspectOptions{})
		if err != nil {
			return "", fmt.Errorf("container %s: %w", i.c.name, errFirst(err))
		}
		frozen, kernel, err := frozen(i.pid)
		asked := err == nil
		if s := state.Container.State; s.Paused == paused && s.Running && (!asked || frozen == paused) {
			if !asked {
				kernel = "according to Docker"
			}
			return fmt.Sprintf("%s (container %s, pid %d, %s)", what, i.c.name, i.pid, kernel), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("container %s is not %s: %w", i.c.name, what, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

const pollEvery = 2 * time.Millisecond

// Where the kernel shows the groups of processes by which containers are frozen.
const (
	cgroups   = "/sys/fs/cgroup"
	freezerV1 = "freezer"
)

var errNoFreezer = errors.New("cannot find the cgroup of the container's process")

// frozen asks the kernel whether the group of a container's process is frozen; the text says with how
// many processes.
func frozen(pid int) (bool, string, error) {
	if pid == 0 {
		return false, "", errNoFreezer
	}
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return false, "", err
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch {
		case part[1] == freezerV1:
			return frozenBy(filepath.Join(cgroups, freezerV1, part[2]), "freezer.state", isFrozenV1)
		case part[0] == "0" && part[1] == "":
			return frozenBy(filepath.Join(cgroups, part[2]), "cgroup.events", isFrozenV2)
		}
	}
	return false, "", errNoFreezer
}

func isFrozenV1(state string) bool  { return state == "FROZEN" }
func isFrozenV2(events string) bool { return strings.Contains(events, "frozen 1") }

func frozenBy(group, file string, is func(string) bool) (bool, string, error) {
	state, err := os.ReadFile(filepath.Join(group, file))
	procs, errProcs := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	if err = errors.Join(err, errProcs); err != nil {
		return false, "", err
	}
	n := len(strings.Fields(string(procs)))
	if is(strings.TrimSpace(string(state))) {
		return true, fmt.Sprintf("processes in the container's cgroup: %d; the kernel reports that this cgroup is frozen", n), nil
	}
	return false, fmt.Sprintf("processes in the container's cgroup: %d; the kernel reports that this cgroup is not frozen", n), nil
}
