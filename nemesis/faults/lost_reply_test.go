package faults

import (
	"errors"
	"io"
	"testing"

	"github.com/lockstorm/lockstorm/internal/tests/clustertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// The server does what it was asked for, and its answer is lost with the connection. The
// client that stands at the point is let go first; refusals come through.
func TestLostReply(t *testing.T) {
	l := newLab(t, clustertest.Single(), 1)
	l.check(l.store(1).Set(l.ctx, "taken", "another"))
	c := l.openConn("c1", "store-1")
	gone := make(chan struct{})
	answers := make(chan error, 2)
	go func() {
		<-gone
		for _, request := range []string{"SETNX taken c1\n", "SETNX k c1\n"} {
			if _, err := c.Write([]byte(request)); err != nil {
				answers <- err
				return
			}
			_, err := c.Read(make([]byte, 64))
			answers <- err
		}
	}()
	hit := &nemesis.Hit{Client: l.client(1), Point: "before-acquire", Go: func() { close(gone) }}
	e := l.must("lost-reply", nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes(), Hit: hit})
	l.says(e.Proof, `lockstorm dropped the answer "+OK" on the link c1->store-1, and closed the connection`)
	if err := <-answers; err != nil {
		t.Errorf("the refusal was lost: %v", err)
	}
	if err := <-answers; !errors.Is(err, io.EOF) {
		t.Errorf("the connection ended with %v", err)
	}
	if !l.has(1, "k") {
		t.Error("nothing was done")
	}
	if text := l.heal(e); text != "links restored: 1" || !l.reaches("c1", "store-1") {
		t.Errorf("healed: %q", text)
	}
}

// An answer that does not come cannot be lost; a server whose refusals nobody knows is left
// alone.
func TestLostReplyInTheWay(t *testing.T) {
	l := newLab(t, clustertest.Replicated(1, 1), 1)
	l.givesUp("lost-reply", nemesis.Target{Clients: l.Clients(), Nodes: l.Nodes()[:1]}, "lost-reply found no answer to drop: "+
		"until the time limit the servers sent only refusals, or no answer at all")
	if !l.reaches("c1", "store-1") {
		t.Error("an answer after the heal is lost")
	}
	for name, n := range map[string]nemesis.Node{"supervisor-1": l.node(2), "rock": bare{"rock"}} {
		e, err := l.inject("lost-reply", nemesis.Target{Clients: l.Clients(), Nodes: []nemesis.Node{l.node(1), n}})
		l.fails(e, err, "server "+name+", whose refusals lockstorm cannot recognize")
		if !l.reaches("c1", "store-1") {
			t.Error("the answer of another server is lost")
		}
	}
}

func TestLostReplyPlans(t *testing.T) {
	cannot(t, lostReply().Fault, map[string]func(*nemesis.Setting){
		withoutServer: noServer,
		"this fault drops the next answer that is not a refusal, but for topology t lockstorm does not know which answers are " +
			"refusals": func(s *nemesis.Setting) { s.Answers = false },
	})
	planned(t, map[string]string{
		"lost-reply:at=waiting": "", "lost-reply:at=random,clients=all": "",
		"lost-reply:mode=cut": `no parameter "mode"`,
	})
}
