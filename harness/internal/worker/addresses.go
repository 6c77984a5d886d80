package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/lockstorm/lockstorm/cluster"
)

// AddressBook knows how this client reaches the servers now.
type AddressBook struct {
	mu    sync.Mutex
	addrs map[string]string
	names map[string]string // announced address -> node

	wire wire
}

// Announce notes the addresses under which servers speak of each other.
func (a *AddressBook) Announce(nodes []cluster.Ref) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = map[string]string{}
	for _, n := range nodes {
		if n.Announced != "" {
			a.names[n.Announced] = n.Name
		}
	}
}

// Set notes where nodes are now, for this client.
func (a *AddressBook) Set(addrs map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.addrs == nil {
		a.addrs = map[string]string{}
	}
	for node, addr := range addrs {
		a.addrs[node] = addr
	}
}

// Addr is where a server is now, for this client; empty: it is not known.
func (a *AddressBook) Addr(node string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.addrs[node]
}

// Dial connects to a server by its name, or by its announced address: then that is what
// the connection says of its other end, as clients compare it with what is announced.
func (a *AddressBook) Dial(ctx context.Context, node string) (net.Conn, error) {
	a.mu.Lock()
	name, byAddress := a.names[node]
	if !byAddress {
		name = node
	}
	addr, ok := a.addrs[name]
	a.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("there is no server %q", node)
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if !byAddress {
		return a.wire.counted(c), nil
	}
	tcp, ok := c.(*net.TCPConn)
	seen, err := net.ResolveTCPAddr("tcp", node)
	if !ok || err != nil {
		return nil, errors.Join(fmt.Errorf("dial %s: %T is not a TCP connection", node, c), err, c.Close())
	}
	return announcedConn{tcp, seen}, nil
}

// announcedConn is a connection to a server that is known by another address. It is a
// TCP connection in all else: clients look whether it is still good.
type announcedConn struct {
	*net.TCPConn
	remote net.Addr
}

// RemoteAddr is the announced address.
func (c announcedConn) RemoteAddr() net.Addr { return c.remote }
