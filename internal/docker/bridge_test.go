package docker

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/network"

	"github.com/lockstorm/lockstorm/cluster"
)

// The subnet is one of IPv4 that has room, wherever Docker begins it.
func TestGatewayIn(t *testing.T) {
	pool := func(text string) network.IPAMConfig { return network.IPAMConfig{Subnet: netip.MustParsePrefix(text)} }
	for _, c := range []struct {
		pools []network.IPAMConfig
		want  string
	}{
		{[]network.IPAMConfig{pool("172.18.0.0/16")}, "172.18.0.1/16"},
		{[]network.IPAMConfig{pool("fd00::/64"), pool("10.1.2.0/24")}, "10.1.2.1/24"},
		{[]network.IPAMConfig{pool("10.1.2.128/25")}, ""},
		{nil, ""},
	} {
		got, err := gatewayIn(c.pools)
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), "default-address-pools") {
				t.Errorf("%v: %v, %v", c.pools, got, err)
			}
			continue
		}
		if err != nil || got.String() != c.want {
			t.Errorf("%v: %v, %v", c.pools, got, err)
		}
	}
}

// Every server has an address of its own, and none has ours.
func TestPlace(t *testing.T) {
	b := &bridge{nodes: map[string]netip.Addr{}}
	b.place(netip.MustParsePrefix("172.18.0.1/16"), cluster.Topology{Nodes: []cluster.Recipe{{Name: "store-1"}, {Name: "store-2"}}})
	a := b.addresses()
	if a.Ours != "172.18.0.1" || len(a.Nodes) != 2 || a.Nodes["store-1"] != "172.18.0.10" || a.Nodes["store-2"] != "172.18.0.11" {
		t.Errorf("%+v", a)
	}
	if e := b.settings("store-2")[b.name].IPAMConfig.IPv4Address; e.String() != "172.18.0.11" {
		t.Errorf("%v", e)
	}
}
