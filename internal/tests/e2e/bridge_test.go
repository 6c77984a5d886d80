//go:build series

package e2e

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// On a bridge of their own, servers have connections with nobody but us: the kernel says so of every one of
// them, while they replicate and watch each other, and lets no dialling through past the links.
func TestContainersOnABridgeTalkThroughLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(binary, "run", "--network", "bridge", "--backend", "redis-sentinel", "--time", "5m", "--out", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
			cmd.Wait()                       //nolint:errcheck // it was interrupted
		}
	}
	defer stop()
	waitForGrant(t, dir)
	var gateway netip.Addr
	nodes := map[string]netip.Addr{} // by the container that holds the address, whose network the server is in
	seen := 0
	for _, name := range labelled(t) {
		if !strings.Contains(name, "-net-redis-") && !strings.Contains(name, "-net-sentinel-") {
			continue
		}
		fields := strings.Fields(docker(t, "inspect", "-f", "{{.State.Pid}} {{range $name, $n := "+
			".NetworkSettings.Networks}}{{$n.IPAddress}} {{$name}}{{end}}", name))
		if len(fields) != 3 {
			t.Fatalf("%s: %v", name, fields)
		}
		nodes[name] = netip.MustParseAddr(fields[1])
		gateway = netip.MustParseAddr(docker(t, "network", "inspect", "-f", "{{range .IPAM.Config}}{{.Gateway}}{{end}}", fields[2]))
		for _, peer := range connected(t, fields[0]) {
			seen++
			if peer != gateway && peer != nodes[name] {
				t.Errorf("%s at %v has a connection with %v", name, nodes[name], peer)
			}
		}
	}
	if len(nodes) != 6 || seen < 12 {
		t.Errorf("%d servers with %d connections", len(nodes), seen)
	}
	past(t, nodes)
	strangers(t, gateway)
	stop()
	nothingInDocker(t, dir)
}

// past dials from where every server is all of them, where they listen; nothing may answer but a server's own
// address.
func past(t *testing.T, nodes map[string]netip.Addr) {
	t.Helper()
	ports := map[string][]uint16{}
	for other, at := range nodes {
		ports[other] = listening(t, docker(t, "inspect", "-f", "{{.State.Pid}}", other), at)
	}
	for name := range nodes {
		var script strings.Builder
		for other, at := range nodes {
			patience := 2 // seconds: nothing answers
			if other == name {
				patience = 20 // a busy host may take long to start a shell
			}
			for _, port := range ports[other] {
				fmt.Fprintf(&script, "(timeout %d bash -c 'exec 3<>/dev/tcp/%v/%d' && echo %s) &\n", patience, at, port, other)
			}
		}
		script.WriteString("wait\n")
		out, err := exec.Command("docker", "exec", name, "bash", "-c", script.String()).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != name {
			t.Errorf("%s reaches %q past all links, and not just itself (%v)", name, got, err)
		}
	}
}

// strangers dials every link between servers from this host, which is no server: each hangs up at once.
func strangers(t *testing.T, gateway netip.Addr) {
	t.Helper()
	local, _ := tcp(t, "self", stateListen)
	links := 0
	for _, at := range local {
		if at.Addr() != gateway {
			continue
		}
		links++
		c, err := net.Dial("tcp", at.String())
		if errors.Is(err, syscall.ECONNRESET) {
			continue // it hung up before we knew that it had taken the call
		}
		if err != nil {
			t.Error(err)
			continue
		}
		err = c.SetDeadline(time.Now().Add(5 * time.Second))
		if err == nil {
			_, err = c.Write([]byte("PING\r\n"))
		}
		if n, rerr := c.Read(make([]byte, 10)); n > 0 || os.IsTimeout(rerr) {
			t.Errorf("a stranger gets %d bytes at %v (%v, %v)", n, at, err, rerr)
		}
		c.Close() //nolint:errcheck // it was hung up on
	}
	if links < 6 {
		t.Errorf("%d links listen at the gateway", links)
	}
}

// States of TCP in /proc/net/tcp.
const (
	stateEstablished = "01"
	stateListen      = "0A"
)

// tcp are the addresses of both ends of the sockets that a process's network has in a state.
func tcp(t *testing.T, pid, state string) (local, remote []netip.AddrPort) {
	t.Helper()
	b, err := os.ReadFile("/proc/" + pid + "/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 3 && f[3] == state {
			local, remote = append(local, address(t, f[1])), append(remote, address(t, f[2]))
		}
	}
	return local, remote
}

// address reads one as the kernel prints it: the bytes of the host backwards, and the port.
func address(t *testing.T, text string) netip.AddrPort {
	t.Helper()
	host, port, _ := strings.Cut(text, ":")
	h, err := hex.DecodeString(host)
	if err != nil {
		t.Fatal(err)
	}
	p, err := hex.DecodeString(port)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{h[3], h[2], h[1], h[0]}), uint16(p[0])<<8|uint16(p[1]))
}

func connected(t *testing.T, pid string) (peers []netip.Addr) {
	t.Helper()
	_, remote := tcp(t, pid, stateEstablished)
	for _, r := range remote {
		peers = append(peers, r.Addr())
	}
	return peers
}

func listening(t *testing.T, pid string, at netip.Addr) (ports []uint16) {
	t.Helper()
	local, _ := tcp(t, pid, stateListen)
	for _, l := range local {
		if l.Addr() == at {
			ports = append(ports, l.Port())
		}
	}
	if len(ports) != 1 {
		t.Errorf("process %s listens at %v on the ports %v", pid, at, ports)
	}
	return ports
}
