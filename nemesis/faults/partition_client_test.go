package faults

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// dial opens a connection by the way of a client.
func (l *lab) dial(client, node string) net.Conn {
	l.t.Helper()
	c, err := net.Dial("tcp", l.way(client, node))
	l.check(err)
	l.t.Cleanup(func() { c.Close() }) //nolint:errcheck // a test
	return c
}

// line reads one answer; within says how long it may take.
func (l *lab) line(c net.Conn, within time.Duration) (string, error) {
	l.t.Helper()
	l.check(c.SetReadDeadline(time.Now().Add(within)))
	buf := make([]byte, 256)
	n, err := c.Read(buf)
	return strings.TrimSpace(string(buf[:n])), err
}

func (l *lab) send(c net.Conn, words string) {
	l.t.Helper()
	_, err := c.Write([]byte(words + "\n"))
	l.check(err)
}

// open is a connection that has carried something.
func (l *lab) openConn(client, node string) net.Conn {
	l.t.Helper()
	c := l.dial(client, node)
	l.send(c, "ROLE")
	text, err := l.line(c, testLimit)
	if err != nil || text != "+master 0" {
		l.t.Fatalf("%s to %s: %q, %v", client, node, text, err)
	}
	return c
}

// silence is long enough for an answer that is not held up.
const silence = 50 * time.Millisecond

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// A cut closes what is open, refuses what is new, and harms nobody else.
func TestPartitionClientCut(t *testing.T) {
	l := newLab(t, clustertest.Several(2), 2)
	c := l.openConn("c1", "store-1")
	e := l.must("partition-client", nemesis.Target{Clients: l.Clients()[:1], Nodes: l.Nodes()[:1]})
	if e.Proof != "c1->store-1: new connections are refused (number of connections that lockstorm closed: 1)" {
		t.Errorf("proof %q", e.Proof)
	}
	if _, err := l.line(c, testLimit); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the open connection: %v", err)
	}
	if _, err := net.Dial("tcp", l.way("c1", "store-1")); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a new connection: %v", err)
	}
	if !l.reaches("c1", "store-2") || !l.reaches("c2", "store-1") {
		t.Error("others are cut off, too")
	}
	if text := l.heal(e); text != "links restored: 1" || !l.reaches("c1", "store-1") {
		t.Errorf("healed: %q", text)
	}
}

// Two cuts of one link: it carries again with the second heal.
func TestPartitionClientTwice(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	both := nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()}
	first, second := l.must("partition-client", both), l.must("partition-client", both)
	l.heal(first)
	if l.reaches("c1", "store-1") {
		t.Error("it carries while the other fault lasts")
	}
	l.heal(second)
	if !l.reaches("c1", "store-1") {
		t.Error("it does not carry again")
	}
}

// What a black hole swallows is gone; connections stay open and silent until its heal.
func TestPartitionClientBlackHole(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	c := l.openConn("c1", "store-1")
	e := l.must("partition-client:mode=blackhole", nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()})
	l.says(e.Proof, "c1->store-1 drops all data, on every open connection (1) and on every new connection")
	fresh := l.dial("c1", "store-1")
	for _, conn := range []net.Conn{c, fresh} {
		l.send(conn, "SETNX k c1")
		if _, err := l.line(conn, silence); !isTimeout(err) {
			t.Errorf("it is not silent: %v", err)
		}
	}
	l.heal(e)
	for _, conn := range []net.Conn{c, fresh} {
		if text, err := l.line(conn, testLimit); err == nil {
			t.Errorf("after the heal comes %q", text)
		}
	}
	if l.has(1, "k") || !l.reaches("c1", "store-1") {
		t.Error("what was swallowed has arrived, or the link does not carry")
	}
}

// What is held arrives at the heal, in order, by the connections that there were.
func TestPartitionClientHold(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	c := l.openConn("c1", "store-1")
	e := l.must("partition-client:mode=hold,way=to", nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()})
	l.says(e.Proof, "c1->store-1 holds all data back, on every open connection (1)")
	l.send(c, "SETNX k first")
	l.send(c, "SETNX k second")
	if _, err := l.line(c, silence); !isTimeout(err) || l.has(1, "k") {
		t.Errorf("it is not held: %v", err)
	}
	l.heal(e)
	l.await("delivery", func() bool { return l.has(1, "k") })
	var got string
	for !strings.Contains(got, "busy") {
		text, err := l.line(c, testLimit)
		l.check(err)
		got += text + " "
	}
	if got = strings.Join(strings.Fields(got), " "); got != "+OK -busy" {
		t.Errorf("answers %q, want that of the first and then that of the second", got)
	}
}

// Only answers are held: the request is carried out at once.
func TestPartitionClientHoldsAnswers(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	c := l.openConn("c1", "store-1")
	e := l.must("partition-client:mode=hold,way=from", nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()})
	l.send(c, "SETNX k c1")
	l.await("request", func() bool { return l.has(1, "k") })
	if _, err := l.line(c, silence); !isTimeout(err) {
		t.Errorf("the answer is not held: %v", err)
	}
	l.heal(e)
	if text, err := l.line(c, testLimit); err != nil || text != "+OK" {
		t.Errorf("the answer is %q, %v", text, err)
	}
}

// What comes late comes late, by the latency at least, until the heal.
func TestPartitionClientLatency(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	e := l.must("partition-client:mode=latency,latency=60ms,jitter=0s,way=to",
		nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()})
	l.says(e.Proof, "c1->store-1 delays all data by 60ms +- 0s, on every open connection (0) and on every new connection")
	sent := l.Now()
	if !l.reaches("c1", "store-1") {
		t.Error("it does not carry")
	}
	if took := time.Duration(l.Now() - sent); took < 60*time.Millisecond {
		t.Errorf("the answer came after %v", took)
	}
	l.heal(e)
	l.await("fast answer", func() bool {
		sent := l.Now()
		return l.reaches("c1", "store-1") && time.Duration(l.Now()-sent) < 60*time.Millisecond
	})
}

// A proof stays readable, however many links there are.
func TestLongProofs(t *testing.T) {
	l := newLab(t, clustertest.Several(3), 3)
	e := l.must("partition-client", nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()})
	l.says(e.Proof, "c1->store-1: ", "; and 3 more links")
	l.says(l.heal(e), "links restored: 9")
}

// A length that cannot be read breaks nothing.
func TestPartitionClientInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	for _, name := range []string{paramLatency, paramJitter} {
		own := map[string]string{paramMode: modeLatency, paramLatency: "1ms", paramJitter: "1ms"}
		own[name] = "long"
		e, err := injectPartitionClient(l.ctx, l, nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes(), Params: own})
		l.fails(e, err, name+"=long is not a length")
	}
	if !l.reaches("c1", "store-1") {
		t.Error("the link does not carry")
	}
}

func TestPartitionClientPlans(t *testing.T) {
	cannot(t, partitionClient().Fault, map[string]func(*nemesis.Setting){withoutServer: noServer})
	planned(t, map[string]string{
		"partition-client:mode=hold,way=from,nodes=master,clients=half": "",
		"partition-client:mode=latency,latency=0.5ttl,jitter=0s":        "",
		"partition-client:mode=melt":                                    "mode=melt: choose cut, blackhole, loss, hold or latency",
		"partition-client:way=up":                                       "way=up: choose both, to or from",
		"partition-client:latency=10us":                                 "latency=10us is too short: the minimum is 1 ms",
		"partition-client:latency=x":                                    "latency=x is not a length",
		"partition-client:mode=latency,jitter=x":                        "jitter=x is not a length",
	})
	if link.Both != "both" || link.To != "to" || link.From != "from" {
		t.Error("the words of way are not those of the docs")
	}
}

// What is lost arrives when it is sent again, by the connection that there was.
func TestPartitionClientLoss(t *testing.T) {
	if link.CanLose() != nil {
		return // TestNoLoss is about such a host
	}
	l := newLab(t, clustertest.Single(), 1)
	c := l.openConn("c1", "store-1")
	e := l.must("partition-client:mode=loss", nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()})
	l.says(e.Proof, "c1->store-1 loses every packet, on every open connection (1) and on every new connection; a test connection "+
		"got no answer")
	l.send(c, "SETNX k c1")
	if _, err := l.line(c, silence); !isTimeout(err) || l.has(1, "k") {
		t.Errorf("it is not lost: %v", err)
	}
	text := l.heal(e)
	l.says(text, "links restored: 1; packets lost: ")
	if strings.Contains(text, "; 0 packets") {
		t.Error(text)
	}
	if text, err := l.line(c, testLimit); err != nil || text != "+OK" {
		t.Errorf("the answer is %q, %v", text, err)
	}
}

// A host that lets nobody filter says so, and offers another way.
func TestNoLoss(t *testing.T) {
	for _, spec := range []string{
		"partition-client:mode=loss", "quorum-loss:mode=loss", "leader-isolate:mode=loss",
		"partition-replication:mode=loss",
	} {
		in := wide(spec)
		in.Setting.NoLoss = "not permitted"
		if _, err := nemesis.NewPlan(all(), in); err == nil || !strings.Contains(err.Error(), "mode=loss: not permitted") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
