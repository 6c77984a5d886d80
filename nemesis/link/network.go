// Package link is the network between the parties of a run. Every pair of parties that
// talk has a [Link] of its own, which can be cut, held, slowed or flapped; its bytes run
// through toxiproxy's toxics inside our process.
//
//	           Front                Link c1 -> redis-1
//	c1 --dial--> listener --who?--> toxics each way --dial--> redis-1
//
// A client has a private front for each server. The servers of a topology whose members
// talk to each other have one announced front each, which tells the callers apart by
// their source address: so replication can be cut while Sentinels still see the master.
//
// Accepting and dialling are ours, not toxiproxy's: its accept loop dials without a
// time-out, and its connections cannot be closed one by one.
package link

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

const dialTimeout = time.Second // of a link to its upstream

// Pair names a link: who calls whom.
type Pair struct{ From, To string }

// String is from->to.
func (p Pair) String() string { return p.From + "->" + p.To }

// Network is all links of a run. Close ends it.
type Network struct {
	server *toxiproxy.ApiServer

	mu        sync.Mutex
	links     map[Pair]*Link
	fronts    map[*front]string // to who is told its address; empty: everybody
	upstreams map[string]string // party -> where it really listens
	sources   map[string]string // source address -> party
	announced map[string]string // party -> announced address
}

// New is an empty network.
func New() *Network {
	register()
	return &Network{
		server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		links:  map[Pair]*Link{}, fronts: map[*front]string{}, upstreams: map[string]string{}, sources: map[string]string{}, announced: map[string]string{},
	}
}

// Announce opens the address by which the others know a server, and notes the source
// address from which it calls them. It stays the same wherever the server listens.
func (n *Network) Announce(party, source string) (string, error) {
	f, err := n.open("", func(caller net.Addr) *Link { return n.Link(n.caller(caller), party) })
	if err != nil {
		return "", fmt.Errorf("announce %s: %w", party, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sources[source], n.announced[party] = party, f.addr
	return f.addr, nil
}

// Stranger is the caller of an announced address that is no party of the run.
const Stranger = "stranger"

func (n *Network) caller(addr net.Addr) string {
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		return Stranger
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if party, ok := n.sources[host]; ok {
		return party
	}
	return Stranger
}

// Private opens an address that only `from` is told, by which it reaches `to`.
func (n *Network) Private(from, to string) (string, error) {
	l := n.Link(from, to)
	f, err := n.open(from, func(net.Addr) *Link { return l })
	if err != nil {
		return "", fmt.Errorf("link %v: %w", l.Pair, err)
	}
	l.setFront(f)
	return f.addr, nil
}

// Serve notes where a party really listens; links to it dial there from now on.
func (n *Network) Serve(party, addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.upstreams[party] = addr
}

func (n *Network) upstream(party string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.upstreams[party]
}

// Announced is the address under which a party is known to the others; empty where it
// has none.
func (n *Network) Announced(party string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.announced[party]
}

// Link is the link of a pair; it is made when it is first asked for.
func (n *Network) Link(from, to string) *Link {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := Pair{from, to}
	l := n.links[p]
	if l == nil {
		l = newLink(n, p)
		n.links[p] = l
	}
	return l
}

// Leave closes the private addresses of a party that is no more.
func (n *Network) Leave(party string) error {
	n.mu.Lock()
	var gone []*front
	for f, owner := range n.fronts {
		if owner == party && party != "" {
			gone = append(gone, f)
			delete(n.fronts, f)
		}
	}
	n.mu.Unlock()
	var errs []error
	for _, f := range gone {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// open listens on a free port of 127.0.0.1; with an owner, only it is told.
func (n *Network) open(owner string, route func(net.Addr) *Link) (*front, error) {
	f, err := openFront(route)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fronts[f] = owner
	return f, nil
}

// Close closes every front and every connection and waits until their goroutines end.
func (n *Network) Close() error {
	n.mu.Lock()
	fronts := slices.Collect(maps.Keys(n.fronts))
	links := slices.Collect(maps.Values(n.links))
	n.mu.Unlock()
	var errs []error
	for _, f := range fronts {
		errs = append(errs, f.close())
	}
	ctx, cancel := context.WithTimeout(context.Background(), healLimit)
	defer cancel()
	for _, l := range links {
		l.Reset()
		errs = append(errs, l.drained(ctx))
	}
	return errors.Join(errs...)
}
