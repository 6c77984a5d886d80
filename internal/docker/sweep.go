package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	dockercontainer "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/cluster"
)

// Labels of everything that a run makes in Docker.
const (
	labelRun     = "lockstorm.run"     // which run
	labelOwner   = "lockstorm.owner"   // the process that made it: see [owner]
	labelHost    = "lockstorm.host"    // in which namespace of processes of which boot that is
	labelMachine = "lockstorm.machine" // on which machine; absent where it has no name
)

const removeLimit = 30 * time.Second

// newRun is a name that no other run has.
func newRun() string { return strings.ToLower(rand.Text()[:10]) }

// guarded is the name of a new container or network, which something outlives us to remove: it knows that
// the name is about to come into being until made is called.
func (p *Provider) guarded(node string) (name string, made func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.guard == nil && p.o.Warden != nil {
		cmd, err := p.o.Warden(p.run)
		if err == nil {
			p.guard, err = StartGuard(cmd)
		}
		if err != nil {
			return "", nil, fmt.Errorf("cannot start the guard process, which removes the containers if lockstorm is killed: %w", err)
		}
	}
	p.count++
	name = fmt.Sprintf("lockstorm-%s-%s-%d", p.run, node, p.count)
	if err := p.guard.tell(opening + name); err != nil {
		return "", nil, fmt.Errorf("the guard process, which removes the containers if lockstorm is killed, has exited: %w", err)
	}
	guard := p.guard
	p.open = append(p.open, name)
	return name, func() {
		p.mu.Lock()
		p.open = slices.DeleteFunc(p.open, func(o string) bool { return o == name })
		p.mu.Unlock()
		guard.tell(closing + name) //nolint:errcheck // without it the guard only waits longer
	}, nil
}

// uncut is the context of a call that makes something: a call that was cut off might be carried out when nobody
// looks for what it makes any more.
func uncut(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), makeLimit)
}

// makeLimit is for the daemon to make a container or a network, which takes it milliseconds; seconds, where
// several runs share two busy processors.
const makeLimit = 20 * time.Second

// remove takes a container and its volumes away, running or not.
func (d *daemon) remove(ctx context.Context, id string) error {
	_, err := d.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	if errdefs.IsConflict(err) { // somebody else removes it already
		w := d.api.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: dockercontainer.WaitConditionRemoved})
		select {
		case <-w.Result:
			return nil
		case again := <-w.Error:
			if errdefs.IsNotFound(again) {
				return nil
			}
			return errors.Join(errFirst(err), again)
		}
	}
	return errFirst(err)
}

// sweep removes every container of a run, and then its networks, and names them.
func (d *daemon) sweep(ctx context.Context, run string) (gone []string, err error) {
	found, err := d.api.ContainerList(ctx, client.ContainerListOptions{
		All:     true,
		Filters: make(client.Filters).Add("label", labelRun+"="+run),
	})
	if err != nil {
		return nil, errFirst(err)
	}
	errs := make([]error, len(found.Items))
	var wg sync.WaitGroup
	for i, c := range found.Items {
		if !holds(c.HostConfig.NetworkMode) {
			wg.Go(func() { errs[i] = d.remove(ctx, c.ID) })
		}
	}
	wg.Wait()
	for i, c := range found.Items { // one after the other: see [Provider.network]
		if holds(c.HostConfig.NetworkMode) {
			errs[i] = d.remove(ctx, c.ID)
		}
	}
	for _, c := range found.Items {
		gone = append(gone, containerName(c.Names))
	}
	networks, err := d.removeNetworks(ctx, run)
	return append(gone, networks...), errors.Join(append(errs, err)...)
}

const (
	sweepEvery = 100 * time.Millisecond
	sweepCalm  = 2 * time.Second // for as long nothing more may appear
	sweepLimit = time.Minute     // for all of it, with a daemon that is restarted meanwhile
)

// Sweep removes everything of a run whose lockstorm was killed, also what is still being made: open are the names
// that a call to the daemon was about to make. Such a call is carried out in makeLimit, or never.
func Sweep(ctx context.Context, run string, open []string) error {
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	began, calm := time.Now(), time.Now()
	var d *daemon
	var err error
	for {
		if d == nil {
			d, err = dial()
		}
		if err == nil {
			var gone []string
			if gone, err = d.sweep(ctx, run); len(gone) > 0 {
				calm = time.Now()
			}
			open = slices.DeleteFunc(open, func(name string) bool { return slices.Contains(gone, name) })
		}
		if err != nil { // a daemon that is restarted comes back
			d, calm = nil, time.Now()
		}
		if waited := len(open) == 0 || time.Since(began) > makeLimit+sweepCalm; waited && time.Since(calm) >= sweepCalm {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(sweepEvery):
		}
	}
}

// containerName is the name of a container as it was made.
func containerName(names []string) string { return strings.TrimPrefix(strings.Join(names, ","), "/") }

// Leftovers returns the runs that have containers or networks here but no living lockstorm on this host.
func Leftovers(ctx context.Context) ([]cluster.Leftover, error) {
	d, err := connect()
	if err != nil {
		return nil, err
	}
	found, err := d.api.ContainerList(ctx, client.ContainerListOptions{
		All:     true,
		Filters: make(client.Filters).Add("label", labelRun),
	})
	if err != nil {
		return nil, errFirst(err)
	}
	networks, err := d.api.NetworkList(ctx, client.NetworkListOptions{Filters: make(client.Filters).Add("label", labelRun)})
	if err != nil {
		return nil, errFirst(err)
	}
	var out leftovers
	for _, c := range found.Items {
		if l := out.of(c.Labels); l != nil {
			l.Containers = append(l.Containers, containerName(c.Names))
		}
	}
	for _, n := range networks.Items {
		if l := out.of(n.Labels); l != nil {
			l.Networks = append(l.Networks, n.Name)
		}
	}
	return out, nil
}

type leftovers []cluster.Leftover

// of is the run of something with labels; nil where its lockstorm lives.
func (all *leftovers) of(labels map[string]string) *cluster.Leftover {
	f := fateOf(labels, here(), owner)
	if f == lives {
		return nil
	}
	run := labels[labelRun]
	i := slices.IndexFunc(*all, func(l cluster.Leftover) bool { return l.Run == run })
	if i < 0 {
		i = len(*all)
		*all = append(*all, cluster.Leftover{Run: run, Dead: true})
	}
	(*all)[i].Dead = (*all)[i].Dead && f == dead
	return &(*all)[i]
}

// Clean removes the leftovers of dead runs of this host and returns them.
func Clean(ctx context.Context) (cleaned []cluster.Leftover, err error) {
	all, err := Leftovers(ctx)
	if err != nil {
		return nil, err
	}
	d, err := connect()
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if !l.Dead {
			continue
		}
		if _, err := d.sweep(ctx, l.Run); err != nil {
			return cleaned, fmt.Errorf("run %s: %w", l.Run, err)
		}
		cleaned = append(cleaned, l)
	}
	return cleaned, nil
}
