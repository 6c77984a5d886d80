package redis_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/cluster"
)

// On this host servers that call each other are told from which address, and take no callers from elsewhere; with
// an address of their own they need neither, which also old versions can do.
func TestConfigByAddress(t *testing.T) {
	for _, top := range redis.Topologies() {
		places, _ := cluster.Sketch(top, "/x", 17000)
		for i, r := range top.Nodes {
			for _, own := range []bool{false, true} {
				places[i].OwnAddress = own
				text, err := places[i].ExpandAll([]string{r.Files["redis.conf"]})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := strings.Contains(text[0], "bind-source-addr 127.0.0."), !own && r.Peering != cluster.NoPeers; got != want {
					t.Errorf("%s of %s, own address %v: told its source: %v", r.Name, top.Name, own, got)
				}
				if got := strings.Contains(text[0], "protected-mode no"); got != own {
					t.Errorf("%s of %s, own address %v: open to others: %v", r.Name, top.Name, own, got)
				}
			}
			if said := r.Hint("*** FATAL CONFIG FILE ERROR ***\n>>> 'bind-source-addr 127.0.0.11'\nBad directive"); !strings.Contains(said,
				"--network bridge") {
				t.Errorf("%s: the hint is %q", r.Name, said)
			}
			if said := r.Hint("Address already in use"); said != "" {
				t.Errorf("%s: the hint is %q", r.Name, said)
			}
		}
	}
}
