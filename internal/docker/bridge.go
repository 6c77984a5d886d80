package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/cluster"
)

const networkNone = "none" // of commands

// bridge is a network of one run. Each server has an address there that outlives it: a container that does
// nothing holds it, so that a server which was killed refuses connections, as a process does, and is no
// host that has vanished. Its servers reach our links at its gateway, which is an address of
// this host. They reach neither each other nor the world, where Docker manages the host's iptables, as it
// does by default.
type bridge struct {
	name    string
	gateway netip.Addr
	nodes   map[string]netip.Addr

	mu      sync.Mutex
	holders map[string]string // containers by node
}

// betweenContainers says whether the containers of a bridge may talk to each other: ours would do it past the
// links.
const betweenContainers = "com.docker.network.bridge.enable_icc"

const (
	firstNode   = 10 // the last part of the address of the first server
	subnetTries = 10
)

var _ cluster.Addresser = (*Provider)(nil)

// Addresses makes the network of the run, if it needs one, and gives each server its address there.
func (p *Provider) Addresses(ctx context.Context, t cluster.Topology) (cluster.Addresses, error) {
	if p.o.Network != cluster.NetworkBridge || len(t.Nodes) == 0 {
		return cluster.Addresses{}, nil
	}
	d, err := usable()
	if err != nil {
		return cluster.Addresses{}, err
	}
	name, made, err := p.guarded("net")
	if err != nil {
		return cluster.Addresses{}, err
	}
	b := &bridge{name: name, nodes: map[string]netip.Addr{}, holders: map[string]string{}}
	making, cancel := uncut(ctx)
	defer cancel()
	subnet, err := d.createBridge(making, name, labels(p.run))
	if making.Err() == nil { // else the daemon may still carry it out
		made()
	}
	if err != nil {
		return cluster.Addresses{}, fmt.Errorf("cannot create the Docker network of the run: %w", errFirst(err))
	}
	b.place(subnet, t)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bridge = b
	return b.addresses(), nil
}

// place gives each server an address: the gateway is the one of the prefix.
func (b *bridge) place(subnet netip.Prefix, t cluster.Topology) {
	b.gateway = subnet.Addr()
	four := subnet.Masked().Addr().As4()
	for i, r := range t.Nodes {
		four[3] = byte(firstNode + i)
		b.nodes[r.Name] = netip.AddrFrom4(four)
	}
}

func (b *bridge) addresses() cluster.Addresses {
	a := cluster.Addresses{Ours: b.gateway.String(), Nodes: map[string]string{}}
	for name, at := range b.nodes {
		a.Nodes[name] = at.String()
	}
	return a
}

// createBridge makes a network and returns its gateway within its subnet. Docker knows which subnets are free, but
// gives containers addresses of our choice only in a subnet of our choice, so we ask it for a free one first.
func (d *daemon) createBridge(ctx context.Context, name string, labels map[string]string) (netip.Prefix, error) {
	var last error
	for range subnetTries { // another one may take the subnet in between
		at, err := d.freeSubnet(ctx, name, labels)
		if err != nil {
			return at, err
		}
		_, last = d.api.NetworkCreate(ctx, name, client.NetworkCreateOptions{
			Driver: "bridge", Internal: true, Labels: labels, Options: map[string]string{betweenContainers: "false"},
			IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: at.Masked(), Gateway: at.Addr()}}},
		})
		if last == nil || !strings.Contains(last.Error(), "overlaps") {
			return at, last
		}
	}
	return netip.Prefix{}, last
}

func (d *daemon) freeSubnet(ctx context.Context, name string, labels map[string]string) (netip.Prefix, error) {
	made, err := d.api.NetworkCreate(ctx, name, client.NetworkCreateOptions{Driver: "bridge", Internal: true, Labels: labels})
	if err != nil {
		return netip.Prefix{}, err
	}
	found, err := d.api.NetworkInspect(ctx, made.ID, client.NetworkInspectOptions{})
	_, gone := d.api.NetworkRemove(ctx, made.ID, client.NetworkRemoveOptions{})
	if err := errors.Join(err, gone); err != nil {
		return netip.Prefix{}, err
	}
	return gatewayIn(found.Network.IPAM.Config)
}

// gatewayIn is the first address of a subnet that has room for our servers, within it.
func gatewayIn(pools []network.IPAMConfig) (netip.Prefix, error) {
	for _, c := range pools {
		if c.Subnet.Addr().Is4() && c.Subnet.Bits() <= 24 {
			return netip.PrefixFrom(c.Subnet.Masked().Addr().Next(), c.Subnet.Bits()), nil
		}
	}
	return netip.Prefix{}, errors.New("--network bridge needs an IPv4 subnet with 256 addresses, but Docker's " +
		"default-address-pools contain none: add one to Docker's configuration")
}

// settings are how a server is on the bridge.
func (b *bridge) settings(node string) ends {
	return ends{b.name: {IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: b.nodes[node]}}}
}

// network is that of a node's server: this host's, or the one that the node's holder has, which is made when
// the node is started first.
func (p *Provider) network(ctx context.Context, d *daemon, r cluster.Recipe, img image, place cluster.Place) (string, error) {
	p.mu.Lock()
	b := p.bridge
	p.mu.Unlock()
	if b == nil {
		return cluster.NetworkHost, nil
	}
	// One after the other: once, of six that came and went at the same time, Docker (20.10) went on counting one,
	// and held the network for in use until it was started again.
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.holders[r.Name] == "" {
		holder := cluster.Recipe{Name: holderPrefix + r.Name, Image: r.Image, OwnImage: r.OwnImage, Contained: r.Contained}
		c, err := p.begin(ctx, d, holder, img, place, []string{"sleep", "infinity"}, b.name, b.settings(r.Name))
		if err != nil {
			return "", err
		}
		b.holders[r.Name] = c.id
	}
	return "container:" + b.holders[r.Name], nil
}

// holds reports whether a container has an address on a bridge of ours, by its network.
func holds(mode string) bool {
	return mode != cluster.NetworkHost && mode != networkNone && !strings.HasPrefix(mode, "container:")
}

// holderPrefix is before the node in the names of containers that hold its address.
const holderPrefix = "net-"

// removeNetworks removes the networks of a run and names them; no container may be on them any more.
func (d *daemon) removeNetworks(ctx context.Context, run string) (gone []string, err error) {
	found, err := d.api.NetworkList(ctx, client.NetworkListOptions{Filters: make(client.Filters).Add("label", labelRun+"="+run)})
	if err != nil {
		return nil, errFirst(err)
	}
	var errs []error
	for _, n := range found.Items {
		gone = append(gone, n.Name)
		if _, err := d.api.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{}); err != nil && !errdefs.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("network %s: %w", n.Name, errFirst(err)))
		}
	}
	return gone, errors.Join(errs...)
}
