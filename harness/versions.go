package harness

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/companion"
)

// versions returns the versions of what a run of the provider uses; a [cluster.Versioner] fetches what is missing for
// that. With an error it returns what is known without the servers.
func (r *resolved) versions(ctx context.Context, p cluster.Provider) (map[string]string, error) {
	v := map[string]string{"lockstorm": r.Version, "go": runtime.Version()}
	maps.Copy(v, r.backend.Versions)
	if p == nil {
		return v, nil
	}
	if p, ok := p.(cluster.Versioner); ok {
		found, err := p.Versions(ctx, r.topology)
		maps.Copy(v, found)
		return v, err
	}
	for _, n := range r.topology.Nodes {
		switch {
		case p.Name() == cluster.EmbeddedName && n.Embedded != nil:
			v["server"] = n.EmbeddedVersion
		case p.Name() == cluster.EmbeddedName && v["server"] == "":
			text, err := companion.Version(ctx, n.Beside[0])
			if err != nil {
				return v, err
			}
			v["server"] = text
		case p.Name() == cluster.ProcessName && v[filepath.Base(n.Binary)] == "" && len(n.Version) > 0:
			if text, err := n.VersionLine(ctx); err == nil {
				v[filepath.Base(n.Binary)] = text
			}
		}
	}
	return v, ctx.Err()
}

// versionsLimit is for the answers of all servers that are asked for their versions although no run is made.
const versionsLimit = 10 * time.Second

// versionsHere are the versions of a run that would be made now. Nothing is fetched for them: servers that cannot be
// asked are left out.
func (r *resolved) versionsHere(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, versionsLimit)
	defer cancel()
	p := r.provider
	if f, ok := p.(cluster.Fetcher); ok && f.Here(r.topology) != nil {
		p = nil
	}
	defer closeProvider(p)     //nolint:errcheck // nothing was started
	v, _ := r.versions(ctx, p) // what cannot be asked is missing
	return v
}

// Differs lists the versions in which a trial that was read differs from this host now: it asks the servers. It
// returns nothing once ctx has ended.
func (t *Trial) Differs(ctx context.Context) (out []string) {
	here := t.r.versionsHere(ctx)
	if ctx.Err() != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.Versions)) {
		if was, now := t.Versions[name], here[name]; now != was && was != "" {
			out = append(out, fmt.Sprintf("the version of %s has changed, so the outcome may differ: %s in the saved run, %s now",
				name, was, cmp.Or(now, "missing")))
		}
	}
	return out
}
