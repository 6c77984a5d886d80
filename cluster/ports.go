package cluster

import (
	"errors"
	"fmt"
	"net"
	"os"
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

// freePort finds a port of 127.0.0.1 that is free now: other runs on this host look elsewhere
// first.
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
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
