package cluster

import (
	"context"
	"fmt"
)

// Loopback is the address to listen on unless another one is given.
const Loopback = "127.0.0.1"

// Addresser is a provider that may give servers addresses of their own, on a network of the run.
type Addresser interface {
	// Addresses returns where the servers of a topology will be, and where they reach links; none: on this host, like
	// everything else.
	Addresses(ctx context.Context, t Topology) (Addresses, error)
}

// Addresses are the addresses on a network of the run.
type Addresses struct {
	Nodes map[string]string // where a server listens, and from where it calls others
	Ours  string            // where the links between servers listen
}

// settle says where each server is, and from where it calls its peers.
func (c *Cluster) settle(ctx context.Context) error {
	var own Addresses
	if a, ok := c.Provider.(Addresser); ok {
		var err error
		if own, err = a.Addresses(ctx, c.Topology); err != nil {
			return err
		}
	}
	for i, s := range c.servers {
		s.place.Host, s.place.Source, s.place.PeerHost = Loopback, sourceOf(i), Loopback
		if host, ok := own.Nodes[s.Name()]; ok {
			s.place.Host, s.place.Source, s.place.PeerHost, s.place.OwnAddress = host, host, own.Ours, true
		}
	}
	return nil
}

// sourceOf is the address of this host from which a node calls its peers.
func sourceOf(i int) string { return fmt.Sprintf("127.0.0.%d", 11+i) }
