package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/suite"
)

// Init is the file that `lockstorm init` writes: about the locks that a catalogue has beside those of
// lockstorm, or, where it has none, about two of those.
func Init(b *suite.Collection, program string) ([]byte, error) {
	own := ownBackends(b.Catalogue)
	if len(own) == 0 && len(b.First) == 0 {
		return nil, errors.New("this program contains neither a lock of its own nor an example suite, so `init` cannot write a " +
			"suite file")
	}
	if len(own) == 0 {
		return b.First, nil
	}
	all := []string{"none", "client-pause", "client-kill", "partition-client", "server-restart"}
	faults := lists.Filter(all, func(n string) bool {
		return bearsAll(b, own, n) && (n != "server-restart" || !forgets(b.Catalogue, own))
	})
	return initOwn(program, own, faults, pointsOf(b.Catalogue, own))
}

// point is a named step of a lock.
type point struct{ Backend, Name string }

func pointsOf(cat *harness.Catalogue, backends []string) (out []point) {
	for _, name := range backends {
		if b, err := cat.Backends.Get(name); err == nil {
			for _, p := range b.Points {
				out = append(out, point{name, p.Name})
			}
		}
	}
	return out
}

// initOwn is the file about some locks, the faults that all of them can have, and their points.
func initOwn(program string, own, faults []string, points []point) ([]byte, error) {
	t, err := template.ParseFS(embedded, "init-own.yaml")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Program": program, "Backends": strings.Join(own, ", "), "First": own[0], "Nemeses": strings.Join(faults, ", "),
		"Paused": slices.Contains(faults, "client-pause"), "Points": points,
		"Struck": slices.DeleteFunc(slices.Clone(faults), func(n string) bool { return n == "none" }),
	})
	return b.Bytes(), err
}

// forgets reports whether a restart of the servers loses the locks of any of the backends, however right they are.
func forgets(cat *harness.Catalogue, backends []string) bool {
	return slices.ContainsFunc(backends, func(name string) bool {
		b, err := cat.Backends.Get(name)
		if err != nil || len(b.Topologies) == 0 {
			return false
		}
		t, err := cat.Topologies.Get(b.Topologies[0])
		return err == nil && t.Volatile
	})
}

func ownBackends(cat *harness.Catalogue) []string {
	return slices.DeleteFunc(slices.Clone(cat.Backends.Names()), func(n string) bool { return slices.Contains(cat.Stock, n) })
}

// bearsAll reports whether a fault can strike each of the backends.
func bearsAll(b *suite.Collection, backends []string, fault string) bool {
	f, err := Read("init.yaml", fmt.Appendf(nil, "axes: {backend: [%s], nemesis: [%s]}\n", strings.Join(backends, ", "), fault))
	if err != nil {
		return false
	}
	_, err = f.Cells(b)
	return err == nil
}
