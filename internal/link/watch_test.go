package link

import (
	"bufio"
	"testing"
	"time"
)

// A message stands on its way for as long as who watches wants it, in the direction that is watched; the others go on, and so do
// all when nobody watches any more.
func TestWatch(t *testing.T) {
	n, s, l, addr := lab(t)
	c := dial(t, addr)
	mustAsk(t, c, "before")
	for _, replies := range []bool{false, true} {
		stands, free := make(chan Pair, 1), make(chan struct{})
		stop := n.Watch(Watch{Of: func(p Pair) bool { return p == l.Pair }, Passing: func(m Message) {
			if m.Reply != replies || m.Connection == nil || len(m.Data) == 0 {
				return
			}
			stands <- m.Pair
			<-free
		}})
		other := n.Watch(Watch{
			Of:      func(Pair) bool { return false },
			Passing: func(Message) { t.Error("a link of others was watched") },
		})
		said := map[bool]string{false: "asked", true: "answered"}[replies]
		if _, err := c.Write([]byte(said + "\n")); err != nil {
			t.Fatal(err)
		}
		if p := <-stands; p != l.Pair {
			t.Errorf("a message of %v stands", p)
		}
		if replies {
			eventually(t, "the server has heard it", func() bool { return s.all() == "before asked answered" })
		} else if heard := s.all(); heard != "before" {
			t.Errorf("the server has heard %q, and the message stands", heard)
		}
		stop()
		other()
		close(free)
		if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if got, err := bufio.NewReader(c).ReadString('\n'); err != nil || got != said+"\n" {
			t.Errorf("the answer is %q (%v)", got, err)
		}
	}
	mustAsk(t, c, "nobody watches")
}
