package zookeeper

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

// The server knows which sessions are on a client's connections; the one that is ended is that client's, and no other one.
func TestSessionsOfAClient(t *testing.T) {
	b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), Single))
	server := b.Cluster.Servers()[0]
	a := newAdmin(server.Addr).(admin)
	conns := map[string]*zk.Conn{}
	events := map[string]<-chan zk.Event{}
	for _, client := range []string{"c1", "c2"} {
		addr, err := b.Net.Between("127.0.0.1", client, server.Name(), "")
		if err != nil {
			t.Fatal(err)
		}
		c, seen, err := zk.Connect([]string{addr}, 5*time.Second, zk.WithLogger(silent{}))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[client], events[client] = c, seen
		if _, _, err := c.Exists("/"); err != nil { // it is connected
			t.Fatal(err)
		}
	}
	sessions := func(client string) []string {
		found, err := a.SessionsFrom(b.Ctx, b.Net.Link(client, server.Name()).Sources())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for client, c := range conns {
		if got, want := sessions(client), []string{fmt.Sprintf("%#x", c.SessionID())}; !slices.Equal(got, want) {
			t.Errorf("the sessions of %s are %v, want %v", client, got, want)
		}
	}
	if got := sessions("c3"); len(got) > 0 {
		t.Errorf("sessions %v of nobody", got)
	}
	if err := a.EndSession(b.Ctx, sessions("c1")[0]); err != nil {
		t.Fatal(err)
	}
	b.Await("the client of the ended session is told", func() bool { return (<-events["c1"]).State == zk.StateExpired })
	if s := conns["c2"].State(); s != zk.StateHasSession {
		t.Errorf("the other client is %v", s)
	}
}
