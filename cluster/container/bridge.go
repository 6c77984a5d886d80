package container

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/cluster"
)

// The networks that the servers of a run may have: that of this host, or a bridge of their own.
const (
	NetworkHost   = "host"
	NetworkBridge = "bridge"
	networkNone   = "none" // for commands
)

// Networks are the words of --network.
func Networks() []string { return []string{NetworkHost, NetworkBridge} }

// bridge is a network of one run. Its servers reach our links at its gateway, which is an address of
// this host, and nothing else: neither each other nor the world.
type bridge struct {
	name    string
	gateway netip.Addr
	nodes   map[string]netip.Addr
}

// silent keeps the containers of a bridge from talking to each other past the links.
const silent = "com.docker.network.bridge.enable_icc"

const (
	firstNode   = 10 // the last part of the address of the first server
	subnetTries = 10
)

var _ cluster.Addresser = (*Provider)(nil)

// Addresses makes the network of the run, where it is to have one, and gives each server its address there.
func (p *Provider) Addresses(ctx context.Context, t cluster.Topology) (cluster.Addresses, error) {
	if p.o.Network != NetworkBridge || len(t.Nodes) == 0 {
		return cluster.Addresses{}, nil
	}
	d, err := usable()
	if err != nil {
		return cluster.Addresses{}, err
	}
	name, err := p.guarded("net")
	if err != nil {
		return cluster.Addresses{}, err
	}
	b := &bridge{name: name, nodes: map[string]netip.Addr{}}
	subnet, err := d.createBridge(ctx, name, labels(p.run))
	if err != nil {
		return cluster.Addresses{}, fmt.Errorf("network of the run: %w", errFirst(err))
	}
	b.gateway = subnet.Addr()
	found := cluster.Addresses{Ours: b.gateway.String(), Nodes: map[string]string{}}
	four := subnet.Masked().Addr().As4()
	for i, r := range t.Nodes {
		four[3] = byte(firstNode + i)
		b.nodes[r.Name] = netip.AddrFrom4(four)
		found.Nodes[r.Name] = b.nodes[r.Name].String()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bridge = b
	return found, nil
}

// createBridge makes a network and returns its gateway within its subnet. Docker knows which subnets
// are free, and gives containers addresses of our choice only in one of our choice: it is asked first.
func (d *daemon) createBridge(ctx context.Context, name string, labels map[string]string) (netip.Prefix, error) {
	var last error
	for range subnetTries { // another one may take the subnet in between
		at, err := d.freeSubnet(ctx, name, labels)
		if err != nil {
			return at, err
		}
		_, last = d.api.NetworkCreate(ctx, name, client.NetworkCreateOptions{
			Driver: "bridge", Internal: true, Labels: labels, Options: map[string]string{silent: "false"},
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
	for _, c := range found.Network.IPAM.Config {
		if c.Subnet.Addr().Is4() && c.Subnet.Bits() <= 24 {
			return netip.PrefixFrom(c.Subnet.Masked().Addr().Next(), c.Subnet.Bits()), nil
		}
	}
	return netip.Prefix{}, errors.New("Docker's default-address-pools have no subnet of IPv4 with 256 addresses") //nolint:staticcheck // a name
}

// settings are how a server is on the bridge.
func (b *bridge) settings(node string) map[string]*network.EndpointSettings {
	return map[string]*network.EndpointSettings{b.name: {IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: b.nodes[node]}}}
}

// start starts a container. One that was killed may have the address of its node for a moment longer.
func (d *daemon) start(ctx context.Context, id string) error {
	for {
		_, err := d.api.ContainerStart(ctx, id, client.ContainerStartOptions{})
		if err == nil || !strings.Contains(err.Error(), "Address already in use") {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(startAgain):
		}
	}
}

const startAgain = 20 * time.Millisecond

// removeNetworks removes the networks of a run and says how many there were; no container may be on them any
// more.
func (d *daemon) removeNetworks(ctx context.Context, run string) (int, error) {
	found, err := d.api.NetworkList(ctx, client.NetworkListOptions{Filters: make(client.Filters).Add("label", labelRun+"="+run)})
	if err != nil {
		return 0, errFirst(err)
	}
	var errs []error
	for _, n := range found.Items {
		if _, err := d.api.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{}); err != nil && !errdefs.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("network %s: %w", n.Name, errFirst(err)))
		}
	}
	return len(found.Items), errors.Join(errs...)
}
