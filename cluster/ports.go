package cluster

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
)

// Ports of servers are below those that the kernel gives to connections: one that is free now could
// else be taken by a connection before its server has started.
const (
	lowestPort  = 10240
	highestPort = 32000 // the kernel's own begin at 32768, unless it was told otherwise
	freeTries   = 200
)

// ports counts those that were tried, in this process.
var ports atomic.Int64

// freePort finds a port of this host that is free now: other runs on it look elsewhere first. A server with
// an address of its own can have it as well.
func freePort() (int, error) {
	for range freeTries {
		n := int64(os.Getpid())*97 + ports.Add(1)
		port, err := bindable(lowestPort + int(n%(highestPort-lowestPort)))
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return port, err
		}
	}
	return bindable(0)
}

func bindable(port int) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(Loopback, strconv.Itoa(port)))
	if err != nil {
		return 0, fmt.Errorf("cannot find a free port: %w", err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
