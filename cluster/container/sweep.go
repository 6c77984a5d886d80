package container

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	dockercontainer "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Labels of everything that a run makes in Docker.
const (
	labelRun   = "lockstorm.run"   // which run
	labelOwner = "lockstorm.owner" // the process that made it: see [owner]
	labelHost  = "lockstorm.host"  // in which namespace of processes of which boot that is
)

const removeLimit = 30 * time.Second

// newRun is a name that no other run has.
func newRun() string { return strings.ToLower(rand.Text()[:10]) }

// labels are those of what this process makes for a run.
func labels(run string) map[string]string {
	return map[string]string{labelRun: run, labelOwner: owner(os.Getpid()), labelHost: host()}
}

// owner is a process that cannot be taken for another one: its id, and when it was started.
func owner(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const began = 22 - 3 // field 22 of all, the third of which comes first here
	if len(fields) <= began || fields[0] == "Z" || fields[0] == "X" {
		return "" // it has ended
	}
	return fmt.Sprintf("%d-%s", pid, fields[began])
}

// host is where ids of processes mean what they mean here.
var host = sync.OnceValue(func() string {
	boot, errBoot := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pids, errPids := os.Readlink("/proc/self/ns/pid")
	if errors.Join(errBoot, errPids) != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(boot)) + " " + pids
})

// bootOf is the boot of a host.
func bootOf(host string) string {
	boot, _, _ := strings.Cut(host, " ")
	return boot
}

// guarded is the name of a new container or network, which something outlives us to remove.
func (p *Provider) guarded(node string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.guard == nil && p.o.Warden != nil {
		g, err := p.o.Warden(p.run)
		if err != nil {
			return "", fmt.Errorf("start what removes containers when lockstorm is killed: %w", err)
		}
		p.guard = g
	}
	p.count++
	return fmt.Sprintf("lockstorm-%s-%s-%d", p.run, node, p.count), nil
}

// uncut is the context of a call that makes something: a call that was cut off might be carried out when nobody
// looks for what it makes any more.
func uncut(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), makeLimit)
}

// makeLimit is for the daemon to make a container or a network, which takes it milliseconds.
const makeLimit = 10 * time.Second

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

// sweep removes every container of a run, and then its networks, and says how many there were.
func (d *daemon) sweep(ctx context.Context, run string) (int, error) {
	found, err := d.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", labelRun+"="+run)})
	if err != nil {
		return 0, errFirst(err)
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
	networks, err := d.removeNetworks(ctx, run)
	return len(found.Items) + networks, errors.Join(append(errs, err)...)
}

const (
	sweepEvery = 100 * time.Millisecond
	sweepCalm  = 2 * time.Second // for as long nothing more may appear: a call to the daemon may have been on its way
)

// Sweep removes everything of a run whose lockstorm was killed, also what still comes into being.
func Sweep(ctx context.Context, run string) error {
	d, err := connect()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	for calm := time.Now(); time.Since(calm) < sweepCalm; {
		n, err := d.sweep(ctx, run)
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if n > 0 || err != nil {
			calm = time.Now()
		}
		select {
		case <-ctx.Done():
		case <-time.After(sweepEvery):
		}
	}
	return nil
}

// Leftover is a run whose lockstorm is dead, or not to be seen from here.
type Leftover struct {
	Run        string   `json:"run"`
	Containers []string `json:"containers,omitempty"` // by name
	Networks   []string `json:"networks,omitempty"`   // by name
	Dead       bool     `json:"dead"`                 // its lockstorm is no more; else nobody here can tell
}

// Leftovers are the runs of which containers or networks are here and no living lockstorm of this host is.
func Leftovers(ctx context.Context) ([]Leftover, error) {
	d, err := connect()
	if err != nil {
		return nil, err
	}
	found, err := d.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", labelRun)})
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
			l.Containers = append(l.Containers, strings.TrimPrefix(strings.Join(c.Names, ","), "/"))
		}
	}
	for _, n := range networks.Items {
		if l := out.of(n.Labels); l != nil {
			l.Networks = append(l.Networks, n.Name)
		}
	}
	return out, nil
}

type leftovers []Leftover

// of is the run of something with labels; nil where its lockstorm lives.
func (all *leftovers) of(labels map[string]string) *Leftover {
	run, at := labels[labelRun], labels[labelHost]
	dead := at == host() && !alive(labels[labelOwner]) || bootOf(at) != bootOf(host()) // a boot ends all
	if at == host() && !dead {
		return nil
	}
	i := slices.IndexFunc(*all, func(l Leftover) bool { return l.Run == run })
	if i < 0 {
		i = len(*all)
		*all = append(*all, Leftover{Run: run, Dead: dead})
	}
	return &(*all)[i]
}

// alive reports whether the process of a label lives.
func alive(label string) bool {
	id, _, _ := strings.Cut(label, "-")
	pid, err := strconv.Atoi(id)
	return err == nil && owner(pid) == label
}

// Clean removes what dead runs of this host have left, and says what.
func Clean(ctx context.Context) (cleaned []Leftover, err error) {
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
