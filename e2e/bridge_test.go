//go:build containers

package e2e

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// On a bridge of their own, servers have connections with nobody but us: the kernel says so of every one of
// them, while they replicate and watch each other, and lets none through that one would dial.
func TestContainersOnABridgeTalkThroughLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(binary, "run", "--network", "bridge", "--backend", "redis-sentinel", "--time", "20s", "--out", dir)
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
	awaitAcquire(t, dir)
	nodes := map[string]netip.Addr{}
	seen := 0
	for _, name := range labelled(t) {
		if !strings.Contains(name, "-redis-") && !strings.Contains(name, "-sentinel-") {
			continue
		}
		fields := strings.Fields(docker(t, "inspect", "-f", "{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}} {{.Gateway}}{{end}}", name))
		if len(fields) < 2 {
			t.Fatalf("%s: %v", name, fields)
		}
		nodes[name] = netip.MustParseAddr(fields[1])
		ours := nodes[name].As4()
		ours[3] = 1
		for _, peer := range connected(t, fields[0]) {
			seen++
			if peer != netip.AddrFrom4(ours) && peer != nodes[name] {
				t.Errorf("%s at %v has a connection with %v", name, nodes[name], peer)
			}
		}
	}
	if len(nodes) != 6 || seen < 12 {
		t.Errorf("%d servers with %d connections", len(nodes), seen)
	}
	past(t, nodes)
	stop()
	nothingInDocker(t, dir)
}

// awaitAcquire waits until a client of a run acquires.
func awaitAcquire(t *testing.T, dir string) {
	t.Helper()
	history := filepath.Join(dir, "logs", "c1.jsonl")
	for end := time.Now().Add(time.Minute); ; {
		if b, err := os.ReadFile(history); err == nil && strings.Contains(string(b), `"acquire"`) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("no client begins")
		}
		<-time.After(10 * time.Millisecond)
	}
}

// past has every server dial another one where it listens; nothing may answer.
func past(t *testing.T, nodes map[string]netip.Addr) {
	t.Helper()
	var before string
	for name := range nodes {
		if before != "" {
			pid := docker(t, "inspect", "-f", "{{.State.Pid}}", before)
			for _, port := range listening(t, pid) {
				dial := fmt.Sprintf("exec 3<>/dev/tcp/%v/%d", nodes[before], port)
				if out, err := exec.Command("docker", "exec", name, "timeout", "1", "bash", "-c", dial).CombinedOutput(); err == nil {
					t.Errorf("%s reaches port %d of %s past all links: %s", name, port, before, out)
				}
			}
		}
		before = name
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

func listening(t *testing.T, pid string) (ports []uint16) {
	t.Helper()
	local, _ := tcp(t, pid, stateListen)
	for _, l := range local {
		ports = append(ports, l.Port())
	}
	if len(ports) == 0 {
		t.Errorf("process %s listens nowhere", pid)
	}
	return ports
}
