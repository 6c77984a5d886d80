// Package link is the network between the parties of a run. Every pair of parties that
// talk has a [Link] of its own, which can be cut, held, slowed or flapped; its bytes run
// through toxiproxy's toxics inside our process.
//
//	           Front                Link c1 -> store-1
//	c1 --dial--> listener --who?--> toxics each way --dial--> store-1
//
// A client has a private front for each server. The servers of a topology whose members
// talk to each other have one announced front each, which tells the callers apart by
// their source address, or by whose socket calls: so replication can be cut while supervisors
// still see the master.
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
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/sockets"
)

const dialTimeout = time.Second // of a link to its upstream

// Pair names a link: who calls whom, and at which port. The main port has no name.
type Pair struct{ From, To, Port string }

// String is from->to, or from->to/port.
func (p Pair) String() string {
	text := p.From + "->" + p.To
	if p.Port != "" {
		text += "/" + p.Port
	}
	return text
}

// at names a port of a party.
type at struct{ party, port string }

// Network is all links of a run. Close ends it.
type Network struct {
	server *toxiproxy.ApiServer

	mu        sync.Mutex
	links     map[Pair]*Link
	fronts    map[*front]string // to who is told its address; empty: everybody
	upstreams map[at]string     // where a port really is
	sources   map[string]string // source address -> party
	pids      map[string]int    // party -> its process
	refused   atomic.Int64      // callers that were nobody's
	watches   atomic.Pointer[[]*Watch]
}

// New is an empty network.
func New() *Network {
	register()
	return &Network{
		server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		links:  map[Pair]*Link{}, fronts: map[*front]string{}, upstreams: map[at]string{}, sources: map[string]string{},
		pids: map[string]int{},
	}
}

// Announce opens the one address by which all others know a port of a server, on one of our hosts'
// addresses that they reach, and notes the source address from which it calls them. It stays the same wherever the server is.
// With no source, callers are told apart by whose socket calls: that of the process of a party (see Runs); one that is nobody's
// is refused, and may call again.
func (n *Network) Announce(host, party, port, source string) (string, error) {
	who := n.bySource
	if source == "" {
		who = n.bySocket
	}
	f, err := n.open(host, "", func(c net.Conn) *Link {
		caller := who(c)
		if caller == "" || caller == Stranger && exposed(host) {
			n.refused.Add(1)
			return nil
		}
		return n.link(Pair{caller, party, port})
	})
	if err != nil {
		return "", fmt.Errorf("cannot open the proxy through which other servers reach %s: %w", party, err)
	}
	if source != "" {
		n.Calls(party, source)
	}
	return f.addr, nil
}

// Calls notes the address of its own from which a party calls.
func (n *Network) Calls(party, source string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sources[source] = party
}

// exposed reports whether others than this host can dial an address of ours: then only parties may.
func exposed(host string) bool {
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback()
}

// Greet rewrites what one party says first to another at a port that is between the two: some
// say by which address they want to be called back, which would lead past all links.
func (n *Network) Greet(from, to, port string, g Greeting) {
	l := n.link(Pair{from, to, port})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.greets = g
}

// Runs notes which process a party is, for addresses whose callers are told apart by that.
func (n *Network) Runs(party string, pid int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pids[party] = pid
}

// Stranger is the caller of an announced address that is no party of the run.
const Stranger = "stranger"

// bySource is who calls, by the address that it calls from.
func (n *Network) bySource(c net.Conn) string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
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

// bySocket is who calls, by the process whose socket it is; empty where that is nobody's.
func (n *Network) bySocket(c net.Conn) string {
	n.mu.Lock()
	parties := map[int]string{}
	for party, pid := range n.pids {
		parties[pid] = party
	}
	n.mu.Unlock()
	from, okFrom := c.RemoteAddr().(*net.TCPAddr)
	to, okTo := c.LocalAddr().(*net.TCPAddr)
	if !okFrom || !okTo {
		return ""
	}
	pid, _ := sockets.Caller(from, to, slices.Collect(maps.Keys(parties)))
	return parties[pid]
}

// Refused is how many callers were refused because they were nobody's.
func (n *Network) Refused() int64 { return n.refused.Load() }

// Between opens an address that only `from` is told, by which it reaches a port of `to`: on one of our
// addresses that it reaches.
func (n *Network) Between(host, from, to, port string) (string, error) {
	l := n.link(Pair{from, to, port})
	f, err := n.open(host, from, func(c net.Conn) *Link {
		if exposed(host) && n.bySource(c) != from {
			n.refused.Add(1)
			return nil
		}
		return l
	})
	if err != nil {
		return "", fmt.Errorf("link %v: %w", l.Pair, err)
	}
	l.setFront(f)
	return f.addr, nil
}

// Serve notes where a port of a party really is; links to it dial there from now on.
func (n *Network) Serve(party, port, addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.upstreams[at{party, port}] = addr
}

func (n *Network) upstream(p Pair) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.upstreams[at{p.To, p.Port}]
}

// Link is the link from one party to the main port of another; it is made when it is first
// asked for.
func (n *Network) Link(from, to string) *Link { return n.link(Pair{From: from, To: to}) }

// Links are the links from one party to every port of another that serves, the main one
// first: what a partition between them breaks.
func (n *Network) Links(from, to string) []*Link {
	n.mu.Lock()
	var ports []string
	for a := range n.upstreams {
		if a.party == to && a.port != "" {
			ports = append(ports, a.port)
		}
	}
	n.mu.Unlock()
	slices.Sort(ports)
	links := []*Link{n.Link(from, to)}
	for _, port := range ports {
		links = append(links, n.link(Pair{from, to, port}))
	}
	return links
}

func (n *Network) link(p Pair) *Link {
	n.mu.Lock()
	defer n.mu.Unlock()
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
	return errors.Join(lists.Map(gone, (*front).close)...)
}

// open listens on a free port of an address; with an owner, only it is told.
func (n *Network) open(host, owner string, route func(net.Conn) *Link) (*front, error) {
	f, err := openFront(host, route)
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
	errs := lists.Map(fronts, (*front).close)
	ctx, cancel := context.WithTimeout(context.Background(), healLimit)
	defer cancel()
	for _, l := range links {
		l.Reset()
		errs = append(errs, l.drained(ctx))
	}
	return errors.Join(errs...)
}
