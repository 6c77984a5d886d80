package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/compose"
	"github.com/lockstorm/lockstorm/internal/cluster/external"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// Means are what the providers of a run start servers with. The zero value is enough to ask them what is available.
type Means struct {
	Starter *proc.Starter
	Images  compose.Choices
	Network string // of containers
	Servers external.Servers
	Access  external.Access
	Say     func(string) // reports slow steps
}

// Providers returns the ways to start servers, in the order in which auto tries them.
func (c *Catalogue) Providers(m Means) []cluster.Provider {
	return []cluster.Provider{
		cluster.ProcessProvider{Starter: m.Starter},
		c.containers(cluster.ContainerOptions{Images: m.Images, Network: m.Network, Say: m.Say}),
		cluster.Embedded{Starter: m.Starter, Command: embeddedCommand},
		external.New(m.Servers, m.Access),
	}
}

// ProviderNames returns the words of --provider.
func ProviderNames() []string {
	return []string{cluster.Auto, cluster.ProcessName, cluster.ContainerName, cluster.EmbeddedName, cluster.ExternalName}
}

// contained is nil for a run with containers, and makes one of it where the user has left that open; flag
// makes sense for no other.
func (r *resolved) contained(flag string) error {
	if r.Provider == cluster.Auto {
		r.Provider = cluster.ContainerName
	}
	if r.Provider != cluster.ContainerName {
		return fmt.Errorf("%s needs --provider %s, not %s", flag, cluster.ContainerName, r.Provider)
	}
	return nil
}

// networkFor reads --network.
func (r *resolved) networkFor() error {
	if r.Network == "" {
		return nil
	}
	if err := oneOf("--network", r.Network, cluster.Networks()...); err != nil {
		return err
	}
	if len(r.topology.Nodes) == 0 {
		return fmt.Errorf("--network: topology %s has no servers: leave out --network", r.Topology)
	}
	return r.contained("--network")
}

// imagesFor reads --image, and says what of it makes no sense for the run.
func (r *resolved) imagesFor() (err error) {
	if len(r.Images) == 0 {
		return nil
	}
	if err := r.contained("--image"); err != nil {
		return err
	}
	if r.images, err = compose.ParseChoices(r.Images, r.ownImages()...); err != nil {
		return fmt.Errorf("--image: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.images)) {
		if !r.topology.Any(func(n cluster.Recipe) bool { return n.Image == name }) {
			return fmt.Errorf("--image %s=%s: no server of topology %s uses this image: leave out this --image", name, r.images[name],
				r.Topology)
		}
	}
	return nil
}

// ownImages are the images that the topology brings itself.
func (r *resolved) ownImages() (names []string) {
	for _, n := range r.topology.Nodes {
		if n.OwnImage.Name != "" {
			names = append(names, n.OwnImage.Name)
		}
	}
	return names
}

// serversFor reads --servers and how they are entered.
func (r *resolved) serversFor() (err error) {
	if r.Provider == cluster.Auto && len(r.Servers) > 0 {
		r.Provider = cluster.ExternalName
	}
	if r.Provider != cluster.ExternalName {
		if len(r.Servers) > 0 {
			return fmt.Errorf("--servers needs --provider %s, not %s", cluster.ExternalName, r.Provider)
		}
		return nil
	}
	if r.servers, err = external.ParseServers(r.Servers); err != nil {
		return fmt.Errorf("--servers: %w", err)
	}
	if len(r.topology.Nodes) == 0 {
		return fmt.Errorf("--provider %s: topology %s has no servers: leave out --provider", cluster.ExternalName, r.Topology)
	}
	r.access, err = external.FromEnv()
	return err
}

// means are what the run's providers start servers with.
func (r *resolved) means(s *proc.Starter, say func(string)) Means {
	return Means{Starter: s, Images: r.images, Network: r.Network, Servers: r.servers, Access: r.access, Say: say}
}

// tenants are the servers that are shared with others, by name.
func (s *session) tenants() map[string]cluster.Tenant {
	if s.cluster == nil || !cluster.Foreign(s.provider) {
		return nil
	}
	out := map[string]cluster.Tenant{}
	for _, n := range s.cluster.Servers() {
		if t, ok := cluster.As[cluster.Tenant](n); ok {
			out[n.Name()] = t
		}
	}
	return out
}

// tenantLimit is for one answer of a server that is not ours.
const tenantLimit = 10 * time.Second

// moveIn refuses servers that have something under the name of the run already.
func (s *session) moveIn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tenantLimit)
	defer cancel()
	for name, t := range s.tenants() {
		found, err := t.Of(ctx, s.runID())
		if err != nil {
			return fmt.Errorf("cannot check whether server %s already has keys with this run's name: %w", name, err)
		}
		if len(found) > 0 {
			return fmt.Errorf("server %s already has %d keys with this run's name, such as %s, and nothing was changed: start the "+
				"run again, for each run has a new name", name, len(found), found[0])
		}
	}
	return nil
}

// moveOut deletes what the run has left on servers that are not ours.
func (s *session) moveOut(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tenantLimit)
	defer cancel()
	var errs []error
	for name, t := range s.tenants() {
		if _, err := t.Clear(ctx, s.runID()); err != nil {
			errs = append(errs, fmt.Errorf("keys with %s in their names may remain on %s: %w", s.runID(), name, err))
		}
	}
	return errors.Join(errs...)
}

// closeProvider ends what a provider has open, if anything.
func closeProvider(p cluster.Provider) error {
	if c, ok := p.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// fetch gets what the provider has to fetch before servers are started, and has the record say what takes part.
func (s *session) fetch(ctx context.Context, provider cluster.Provider) (err error) {
	t := *s.trial // others may run it, too
	if t.Versions, err = s.r.versions(ctx, provider); err != nil {
		return err
	}
	s.trial = &t
	return t.WriteFile(filepath.Join(s.dir, TrialFile))
}
