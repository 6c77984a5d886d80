package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// instance is a server in a container.
type instance struct {
	p     *Provider
	d     *daemon
	c     started
	place cluster.Place
	pid   int
	done  chan struct{}

	pauses proc.Pauses
}

// newInstance follows a container that has begun: its log and its end.
func newInstance(ctx context.Context, p *Provider, d *daemon, c started, place cluster.Place) (*instance, error) {
	i := &instance{p: p, d: d, c: c, place: place, done: make(chan struct{})}
	state, err := d.api.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	if err == nil {
		i.pid = visible(state.Container.State.Pid)
		err = i.log()
	}
	if err != nil {
		p.remove(d, c.id)
		return nil, fmt.Errorf("container %s: %w", c.name, err)
	}
	p.work.Go(i.awaitEnd)
	return i, nil
}

// visible is a process whose sockets we can see; 0: it cannot be told from others.
func visible(pid int) int {
	if _, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd")); err != nil {
		return 0
	}
	return pid
}

// log copies what the container says into server.log, until it ends.
func (i *instance) log() error {
	out, err := os.OpenFile(filepath.Join(i.place.Dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	logs, err := i.d.api.ContainerLogs(i.p.life, i.c.id, client.ContainerLogsOptions{
		ShowStdout: true, ShowStderr: true,
		Follow: true,
	})
	if err != nil {
		return errors.Join(err, out.Close())
	}
	i.p.work.Go(func() {
		defer out.Close()  //nolint:errcheck // what could not be written is missed by who reads it
		defer logs.Close() //nolint:errcheck // it has ended
		if _, err := stdcopy.StdCopy(out, out, logs); err != nil {
			fmt.Fprintf(out, "lockstorm: cannot read the rest of the log of container %s: %v\n", i.c.name, err)
		}
	})
	return nil
}

// awaitEnd closes done when the container has ended. It keeps asking a daemon that does not answer, since the
// container may still run.
func (i *instance) awaitEnd() {
	defer close(i.done)
	for {
		_, err := i.d.wait(i.p.life, i.c.id)
		if err == nil || errdefs.IsNotFound(err) || i.p.life.Err() != nil {
			return
		}
		time.Sleep(askAgain)
	}
}

const askAgain = 100 * time.Millisecond

// Place is where it listens.
func (i *instance) Place() cluster.Place { return i.place }

// Pid is the server's process as this host sees it; 0 where it cannot look into it.
func (i *instance) Pid() int { return i.pid }

// Done is closed when the container has ended.
func (i *instance) Done() <-chan struct{} { return i.done }

// Kill ends the container with SIGKILL, paused or not, and waits until it is gone.
func (i *instance) Kill(ctx context.Context) error {
	_, err := i.d.api.ContainerKill(ctx, i.c.id, client.ContainerKillOptions{Signal: "SIGKILL"})
	if err != nil && !ended(err) {
		return fmt.Errorf("cannot kill container %s: %w", i.c.name, errFirst(err))
	}
	select {
	case <-i.done:
		i.p.remove(i.d, i.c.id)
		return nil
	case <-ctx.Done():
		return fmt.Errorf("container %s %w: %w", i.c.name, proc.ErrAlive, ctx.Err())
	}
}

// ended reports whether a call failed because the container runs no more, or is gone.
func ended(err error) bool { return errdefs.IsNotFound(err) || errdefs.IsConflict(err) }

// Terminate asks the server to end, a paused one too, and kills it when it has not by the end of ctx.
func (i *instance) Terminate(ctx context.Context) error {
	_, err := i.d.api.ContainerKill(ctx, i.c.id, client.ContainerKillOptions{Signal: "SIGTERM"})
	if err == nil {
		err = i.thaw(ctx)
	}
	if err != nil && !ended(err) && ctx.Err() == nil {
		return fmt.Errorf("cannot end container %s: %w", i.c.name, errFirst(err))
	}
	select {
	case <-i.done:
		i.p.remove(i.d, i.c.id)
		return nil
	case <-ctx.Done():
		killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
		defer cancel()
		return i.Kill(killing)
	}
}
