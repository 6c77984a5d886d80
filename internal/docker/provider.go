// Package docker runs the servers of a topology as Docker containers, by the recipes of the process provider: the
// same program with the same arguments, in an image of its store.
//
//	recipe -> image (here, pulled or built) -> create (testcontainers) -> start -> Instance
//	                                              |
//	                    label of the run -> Sweep: the provider's Close, or a child that outlives us
//
// A container shares the host's network, so that links work as for processes: addresses on 127.0.0.1, callers told
// apart by source or socket. Where it must not, servers are on a bridge of the run, with an address each, and links
// listen at its gateway. The node's folder is mounted into the container, and the program runs as lockstorm's user,
// so that we can remove all of its files.
package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/shell"
)

// Options are those of a provider.
type Options struct {
	cluster.ContainerOptions
	// Warden returns a command whose process calls [Ward]; it is called before the first container is started. nil: a
	// killed run leaves its containers behind.
	Warden func(run string) (*exec.Cmd, error)
}

// Provider is the container provider of one run; Close ends it.
type Provider struct {
	o   Options
	run string

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // removals, logs, and waits for ends

	mu     sync.Mutex
	guard  *Guard
	count  int
	open   []string // names whose call to the daemon has not ended: it may be carried out when we are gone
	bridge *bridge  // nil: this host's network
	errs   []error  // of removals
}

// New returns a provider that has started nothing yet.
func New(o Options) *Provider {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	p := &Provider{o: o, run: newRun()}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// Name returns "container".
func (*Provider) Name() string { return cluster.ContainerName }

// Available returns nil if Docker can run every node. Missing images are fetched later.
func (p *Provider) Available(t cluster.Topology) error {
	for _, r := range t.Nodes {
		if r.Image == "" {
			return fmt.Errorf("lockstorm knows no container image for server %s of topology %s: use --provider process", r.Name, t.Name)
		}
	}
	if len(t.Nodes) == 0 {
		return nil
	}
	_, err := usable()
	return err
}

// Here returns nil if every image is on this host already.
func (p *Provider) Here(t cluster.Topology) error {
	d, err := usable()
	if err != nil {
		return err
	}
	defer d.rest()
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	for _, r := range t.Nodes {
		i, err := r.ContainerImage()
		if err == nil {
			_, err = d.here(ctx, p.o.Images, i)
		}
		if errors.Is(err, errNotHere) {
			return fmt.Errorf("%w (a run with --provider container pulls or builds missing images)", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Versions fetches the images and returns them, with the versions that their programs report.
func (p *Provider) Versions(ctx context.Context, t cluster.Topology) (map[string]string, error) {
	d, err := usable()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, r := range t.Nodes {
		if out[r.Binary] != "" {
			continue
		}
		img, err := p.image(ctx, d, r)
		if err != nil {
			return nil, err
		}
		out["image "+r.Image] = img.String()
		if out[r.Binary], err = p.version(ctx, d, r, img); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *Provider) image(ctx context.Context, d *daemon, r cluster.Recipe) (image, error) {
	i, err := r.ContainerImage()
	if err != nil {
		return image{}, err
	}
	return d.get(ctx, p.o.Images, i, p.o.Say)
}

// versions are what images said of theirs, by image and command.
var versions sync.Map

// version is the first line that a program prints of its version.
func (p *Provider) version(ctx context.Context, d *daemon, r cluster.Recipe, img image) (string, error) {
	key := fmt.Sprint(img.id, r.Binary, r.Version)
	if v, ok := versions.Load(key); ok {
		return v.(string), nil
	}
	dir, err := os.MkdirTemp("", "lockstorm-version-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	said, err := p.once(ctx, d, r, img, cluster.Place{Dir: dir}, append([]string{r.Binary}, r.Version...))
	if err != nil {
		return "", fmt.Errorf("image %s: %w", img.ref, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	versions.Store(key, line)
	return line, nil
}

// Prepare copies the template of the recipe into the node's folder, and runs its commands there, in
// containers of the same image.
func (p *Provider) Prepare(ctx context.Context, r cluster.Recipe, place cluster.Place) error {
	if r.Template == nil && len(r.Prepare) == 0 {
		return nil
	}
	err := p.prepare(ctx, r, place)
	if err != nil {
		return fmt.Errorf("cannot prepare %s: %w", r.Name, err)
	}
	return nil
}

func (p *Provider) prepare(ctx context.Context, r cluster.Recipe, place cluster.Place) error {
	d, err := usable()
	if err != nil {
		return err
	}
	img, err := p.image(ctx, d, r)
	if err != nil {
		return err
	}
	if r.Template != nil {
		made, err := r.MakeTemplate(img.id, func(dir string) error {
			return p.all(ctx, d, r, img, r.Template.Make, cluster.Place{Dir: dir})
		})
		if err == nil {
			err = copyAll(ctx, made, filepath.Join(place.Dir, r.Template.Dir))
		}
		if err != nil {
			return err
		}
	}
	return p.all(ctx, d, r, img, r.Prepare, place)
}

// copyAll copies a folder with its owners and rights, which servers insist on.
func copyAll(ctx context.Context, from, to string) error {
	said, err := exec.CommandContext(ctx, "cp", "-a", from, to).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cannot copy %s: %w: %s", from, err, bytes.TrimSpace(said))
	}
	return nil
}

// all runs commands one after the other, in one container.
func (p *Provider) all(ctx context.Context, d *daemon, r cluster.Recipe, img image, commands [][]string,
	place cluster.Place,
) error {
	var lines []string
	place.Inside = inside
	for _, command := range commands {
		words, err := place.ExpandAll(command)
		if err != nil {
			return err
		}
		lines = append(lines, shell.Join(words...))
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := p.once(ctx, d, r, img, place, []string{"sh", "-ec", strings.Join(lines, "\n")})
	return err
}

// Launch starts a container of the node's image; its output goes to server.log in the node's folder.
func (p *Provider) Launch(ctx context.Context, _ cluster.Topology, r cluster.Recipe, place cluster.Place) (cluster.Instance,
	error,
) {
	d, err := usable()
	if err != nil {
		return nil, err
	}
	if place, err = place.WithPorts(r); err != nil {
		return nil, err
	}
	place.Inside = inside
	if err := cluster.WriteFiles(r, place); err != nil {
		return nil, err
	}
	args, err := place.ExpandAll(r.Args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	img, err := p.image(ctx, d, r)
	if err != nil {
		return nil, err
	}
	network, err := p.network(ctx, d, r, img, place)
	if err != nil {
		return nil, err
	}
	c, err := p.begin(ctx, d, r, img, place, append([]string{r.Binary}, args...), network, nil)
	if err != nil {
		return nil, err
	}
	return newInstance(ctx, p, d, c, place)
}

// remove takes a container away, now or by Close.
func (p *Provider) remove(d *daemon, id string) {
	p.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
		defer cancel()
		if err := d.remove(ctx, id); err != nil {
			p.mu.Lock()
			p.errs = append(p.errs, err)
			p.mu.Unlock()
		}
	})
}

// Close removes what is left of the run, and ends the warden. The warden goes on if that fails, or if the daemon may
// still carry out a call that was given up.
func (p *Provider) Close() error {
	defer p.end()
	p.mu.Lock()
	guard, count, open := p.guard, p.count, slices.Clone(p.open)
	p.mu.Unlock()
	if count == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
	defer cancel()
	d, err := usable()
	if err == nil {
		_, err = d.sweep(ctx, p.run)
	}
	if err != nil {
		p.end()
		err = fmt.Errorf("containers of the run may still exist (lockstorm doctor lists such containers, and doctor --clean removes "+
			"them): %w", err)
	}
	p.work.Wait()
	if d != nil {
		err = errors.Join(err, d.api.Close()) // its idle connections; it can be asked again
	}
	if guard == nil && len(open) > 0 {
		err = errors.Join(err, Sweep(context.Background(), p.run, open))
	}
	return errors.Join(append(p.errs, err, guard.Release(err == nil && len(open) == 0))...)
}
