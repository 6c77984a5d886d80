package cluster_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
)

// alive reports whether a process is there and is no zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	text, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// ported is two stores that know each other's ports pairwise. The second port of each is
// served by the test itself: what counts is how a peer reaches it.
func ported() cluster.Topology {
	t := clustertest.Several(2)
	for i := range t.Nodes {
		r := &t.Nodes[i]
		r.Peering = cluster.Pairwise
		r.Ports = []cluster.Port{{Name: "elections", Peering: cluster.Pairwise}, {Name: "metrics"}}
		peer := t.Nodes[1-i].Name
		r.Files = map[string]string{"conf": fmt.Sprintf(
			"{{.PortNamed \"elections\"}} {{.PortNamed \"metrics\"}} {{.PortOf %[1]q}} {{.PeerPort %[1]q \"elections\"}}", peer)}
	}
	return t
}

// ports are those of conf: elections, metrics, and the peer's main one and elections, as this
// server reaches them.
func (b *bench) ports(node string) (p [4]int) {
	b.t.Helper()
	text, err := os.ReadFile(b.path(node, "conf"))
	if err == nil {
		_, err = fmt.Sscan(string(text), &p[0], &p[1], &p[2], &p[3])
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// says listens at an address and greets whoever comes.
func (b *bench) says(addr, text string) {
	b.t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		b.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(c, text)
			c.Close() //nolint:errcheck // a test
		}
	}()
	b.t.Cleanup(func() {
		l.Close() //nolint:errcheck // a test
		<-done
	})
}

// hears is the greeting at an address; empty where nobody greets.
func hears(addr string) string {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return ""
	}
	defer c.Close() //nolint:errcheck // a test
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return ""
	}
	line, _ := bufio.NewReader(c).ReadString('\n') // empty when it fails
	return strings.TrimSpace(line)
}

// Each of two servers calls the other's two ports through links of its own. A cut of one
// direction stops that pair alone, and breaks all of its ports.
func TestPairwisePeers(t *testing.T) {
	b := newBench(t)
	b.start(ported())
	one, two := b.ports("store-1"), b.ports("store-2")
	b.says(local(one[0]), "elections of store-1")
	b.says(local(two[0]), "elections of store-2")
	check := func(when string, oneToTwo, twoToOne bool) {
		t.Helper()
		for _, c := range []struct {
			from   string
			ports  [4]int
			peer   string
			passes bool
		}{{"store-1", one, "store-2", oneToTwo}, {"store-2", two, "store-1", twoToOne}} {
			if _, err := clustertest.Ask(b.ctx, local(c.ports[2]), "PID"); (err == nil) != c.passes {
				t.Errorf("%s, %s asks %s: %v", when, c.from, c.peer, err)
			}
			if heard := hears(local(c.ports[3])); (heard == "elections of "+c.peer) != c.passes {
				t.Errorf("%s, %s hears %q from %s", when, c.from, heard, c.peer)
			}
		}
	}
	check("before", true, true)
	links := b.net.Links("store-1", "store-2")
	mends := cut(t, links)
	check("while store-1 -> store-2 is cut", false, true)
	for _, mend := range mends {
		if err := mend(); err != nil {
			t.Fatal(err)
		}
	}
	check("after", true, true)
	names := fmt.Sprint(links)
	if want := "[store-1->store-2 store-1->store-2/elections store-1->store-2/metrics]"; names != want {
		t.Errorf("links %s, want %s", names, want)
	}
}

func cut(t *testing.T, links []*link.Link) (mends []func() error) {
	t.Helper()
	for _, l := range links {
		_, mend, err := l.Cut()
		if err != nil {
			t.Fatal(err)
		}
		mends = append(mends, mend)
	}
	return mends
}

// A restarted server that moves is reached by its peers at the address that they know.
func TestPeersFollowAMove(t *testing.T) {
	b := newBench(t)
	c := b.start(ported())
	s := c.Servers()[1]
	peer := local(b.ports("store-1")[2])
	before := s.Addr()
	if err := s.Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.says(before, "-somebody else")
	if _, err := s.Restart(b.ctx); err != nil {
		t.Fatal(err)
	}
	direct, err := clustertest.Ask(b.ctx, s.Addr(), "PID")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := clustertest.Ask(b.ctx, peer, "PID"); err != nil || got != direct {
		t.Errorf("store-1 reaches pid %s, %v; want %s", got, err, direct)
	}
}

// Announced servers share one address each; the link knows who calls.
func TestAnnouncedPeers(t *testing.T) {
	b := newBench(t)
	c := b.start(clustertest.Replicated(3, 0))
	master := c.Servers()[0]
	if master.Announced() == "" || master.Announced() == master.Addr() {
		t.Fatalf("store-1 is announced at %q and listens at %s", master.Announced(), master.Addr())
	}
	if err := store(t, master).Set(b.ctx, "k", "me"); err != nil {
		t.Fatal(err)
	}
	has := func(i int, key string) bool {
		found, err := store(t, c.Servers()[i]).Has(b.ctx, []string{key})
		return err == nil && len(found) == 1
	}
	b.await("replication", func() bool { return has(1, "k") && has(2, "k") })
	mends := cut(t, b.net.Links("store-2", "store-1"))
	if err := store(t, master).Set(b.ctx, "late", "me"); err != nil {
		t.Fatal(err)
	}
	b.await("replication of the other", func() bool { return has(2, "late") })
	if has(1, "late") {
		t.Error("store-2 has what the master was told while it was cut off")
	}
	if err := mends[0](); err != nil {
		t.Fatal(err)
	}
	b.await("replication again", func() bool { return has(1, "late") })
}

// Peers need a network.
func TestPeersWithoutANetwork(t *testing.T) {
	b := newBench(t)
	if _, err := cluster.Start(b.ctx, clustertest.Replicated(2, 0), b.p, b.dir, cluster.Options{}); err == nil {
		t.Error("peers were started that cannot reach each other")
	} else {
		mustSay(t, err.Error(), "listen on the addresses through which other servers connect to server store-1: the field "+
			"Options.Network is not set")
	}
	c, err := cluster.Start(b.ctx, clustertest.Single(), b.p, b.dir, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(b.ctx); err != nil {
		t.Error(err)
	}
}

// away is a provider whose servers have addresses of their own.
type away struct {
	cluster.ProcessProvider

	fails error
}

func (a away) Addresses(_ context.Context, t cluster.Topology) (cluster.Addresses, error) {
	found := cluster.Addresses{Ours: "127.0.1.99", Nodes: map[string]string{}}
	for i, r := range t.Nodes {
		found.Nodes[r.Name] = fmt.Sprintf("127.0.1.%d", i+1)
	}
	return found, a.fails
}

// Servers with addresses of their own listen there and call from there; each reaches the links to its peers where
// its provider says, and Ready need not see whose socket it is.
func TestOwnAddresses(t *testing.T) {
	b := newBench(t)
	top := clustertest.Several(2)
	for i := range top.Nodes {
		r := &top.Nodes[i]
		r.Peering = cluster.BySocket
		r.Files = map[string]string{"conf": "{{.Host}} {{.Source}} {{.PeerHost}} {{.OwnAddress}}"}
		ready := r.Ready
		r.Ready = func(ctx context.Context, addr string, pid int) error {
			if pid != 0 {
				return fmt.Errorf("process %d must be seen", pid)
			}
			return ready(ctx, addr, pid)
		}
	}
	c, err := cluster.Start(b.ctx, top, away{ProcessProvider: b.p}, b.dir, b.options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(b.ctx); err != nil {
			t.Error(err)
		}
	})
	for i, s := range c.Servers() {
		own := fmt.Sprintf("127.0.1.%d", i+1)
		text, err := os.ReadFile(b.path(s.Name(), "conf"))
		if want := own + " " + own + " 127.0.1.99 true"; err != nil || string(text) != want {
			t.Errorf("%q, want %q (%v)", text, want, err)
		}
		if !strings.HasPrefix(s.Addr(), own+":") || !strings.HasPrefix(s.Announced(), "127.0.1.99:") {
			t.Errorf("%s is at %s, and known as %s", s.Name(), s.Addr(), s.Announced())
		}
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.1.2")}}
	conn, err := d.Dial("tcp", c.Servers()[0].Announced())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // a test
	b.await("call from store-2 to store-1", func() bool { return b.net.Link("store-2", "store-1").Open() == 1 })
}

// Where no addresses can be had, nothing is started.
func TestNoAddresses(t *testing.T) {
	b := newBench(t)
	none := errors.New("no subnet is free")
	if _, err := cluster.Start(b.ctx, clustertest.Several(2), away{b.p, none}, b.dir, b.options()); !errors.Is(err, none) {
		t.Errorf("error %v", err)
	}
}
