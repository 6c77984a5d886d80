package harness

import (
	"maps"
	"path/filepath"
	"runtime"

	"github.com/lockstorm/lockstorm/cluster"
)

// versions says what takes part, as far as it can be known before anything is fetched.
func versions(r *resolved) map[string]string {
	v := map[string]string{"lockstorm": r.Version, "go": runtime.Version()}
	maps.Copy(v, r.backend.Versions)
	if found, err := askVersions(r.provider, r.topology); err == nil {
		maps.Copy(v, found)
		return v
	}
	for _, n := range r.topology.Nodes {
		switch {
		case r.provider.Name() == cluster.EmbeddedName:
			v["server"] = n.EmbeddedVersion
		case r.provider.Name() == cluster.ProcessName && v[filepath.Base(n.Binary)] == "" && len(n.Version) > 0:
			if text, err := n.VersionLine(); err == nil {
				v[filepath.Base(n.Binary)] = text
			}
		}
	}
	return v
}
