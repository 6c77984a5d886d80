package harness

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"github.com/lockstorm/lockstorm/cluster"
)

// versions says what takes part.
func versions(r *resolved) map[string]string {
	v := map[string]string{"lockstorm": r.Version, "go": runtime.Version()}
	for _, n := range r.topology.Nodes {
		if r.provider.Name() == cluster.EmbeddedName {
			v["server"] = n.EmbeddedVersion
			continue
		}
		if _, known := v[n.Binary]; known {
			continue
		}
		if text, err := BinaryVersion(n); err == nil {
			v[n.Binary] = text
		}
	}
	return v
}

// BinaryVersion is the first line that a recipe's binary prints of its version.
func BinaryVersion(r cluster.Recipe) (string, error) {
	path, err := r.Find()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(path, r.Version...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", r.Binary, strings.Join(r.Version, " "), err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line, nil
}
