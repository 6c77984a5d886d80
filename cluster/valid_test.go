package cluster_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
)

// A wrong topology is refused when it is added to a catalogue, with a sentence.
func TestWrongTopologies(t *testing.T) {
	embedded := func(context.Context, string) error { return nil }
	for want, top := range map[string]cluster.Topology{
		`two nodes of the topology are named "store-1"`:                        twice(),
		`node "Store": the name of a node may contain only lower case letters`: one(func(r *cluster.Recipe) { r.Name = "Store" }),
		`node "": the name of a node may contain only lower case letters`:      one(func(r *cluster.Recipe) { r.Name = "" }),
		"the fields `Binary` and `Embedded` are empty":                         one(func(r *cluster.Recipe) { r.Binary = "" }),
		"the field `Ready` is missing":                                         one(func(r *cluster.Recipe) { r.Ready = nil }),
		"the field `EmbeddedVersion` is empty":                                 one(func(r *cluster.Recipe) { r.Embedded = embedded }),
		"only one of the fields FailOver":                                      {Name: "test", Doc: "d", FailOver: time.Second},
		"the field Prepare or Template contains an empty command": one(func(r *cluster.Recipe) {
			r.Prepare = [][]string{{}}
		}),
		`two ports of the node are named "peers"`: one(func(r *cluster.Recipe) {
			r.Ports = []cluster.Port{{Name: "peers"}, {Name: "peers"}}
		}),
		"a port in the field Ports has no name": one(func(r *cluster.Recipe) {
			r.Ports = []cluster.Port{{}}
		}),
		`"{{.Port": `: one(func(r *cluster.Recipe) {
			r.Args = []string{"{{.Port"}
		}),
		`file conf: `: one(func(r *cluster.Recipe) {
			r.Files = map[string]string{"conf": "{{end}}"}
		}),
		`"{{else}}": `: one(func(r *cluster.Recipe) {
			r.Prepare = [][]string{{"sh", "{{else}}"}}
		}),
	} {
		if err := top.Valid(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
			continue
		}
		if said := added(top); !strings.Contains(said, want) || !strings.HasPrefix(said, `catalogue: topology "test`) {
			t.Errorf("the catalogue says %q, want %q", said, want)
		}
	}
	for _, top := range []cluster.Topology{
		clustertest.Single(), clustertest.Replicated(3, 3),
		{Name: "local", Doc: "no server"},
		ported(),
	} {
		if said := added(top); said != "" {
			t.Errorf("%s: %s", top.Name, said)
		}
	}
}

func twice() cluster.Topology {
	t := clustertest.Single()
	t.Nodes = append(t.Nodes, t.Nodes[0])
	return t
}

// added is with what a catalogue refuses a topology; empty: it takes it.
func added(t cluster.Topology) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = p.(string)
		}
	}()
	catalog.New("topology", t)
	return ""
}

// Without any optional field a topology is started by the provider that can.
func TestChooseAProvider(t *testing.T) {
	b := newBench(t)
	providers := []cluster.Provider{b.p, cluster.Embedded{}}
	real := clustertest.Single()
	if p, err := cluster.Choose(cluster.Auto, real, providers); err != nil || p.Name() != cluster.ProcessName {
		t.Errorf("provider %v, %v", p, err)
	}
	only := one(func(r *cluster.Recipe) {
		r.Binary, r.Embedded, r.EmbeddedVersion = "", func(context.Context, string) error { return nil }, "1"
	})
	if p, err := cluster.Choose(cluster.Auto, only, providers); err != nil || p.Name() != cluster.EmbeddedName {
		t.Errorf("provider %v, %v", p, err)
	}
	missing := one(func(r *cluster.Recipe) { r.Binary, r.Package = "no-such-program", "no-such-package" })
	for want, c := range map[string]struct {
		name string
		top  cluster.Topology
	}{
		`unknown provider "moon": choose one of auto, process, embedded`:                                 {"moon", real},
		"embedded: no embedded server for store-1 of test-1: use another --provider (docs/providers.md)": {cluster.EmbeddedName, real},
		"process: server store-1 of topology test-1 cannot run as a process of its own, only inside lockstorm: use --provider " +
			"embedded": {cluster.ProcessName, only},
		"no-such-program is not on PATH (Debian: apt-get install no-such-package); embedded: no": {cluster.Auto, missing},
	} {
		if _, err := cluster.Choose(c.name, c.top, providers); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
