package link

import "slices"

// Watch is told of the messages of links, and keeps each of them until it returns: what a party has sent by then goes on later,
// in order.
type Watch struct {
	Of      func(p Pair) bool // the links that it is about
	Passing func(m Message)
}

// Message is what was read at once: mostly a request, or an answer.
type Message struct {
	Pair
	Reply      bool   // a server sent it; else its caller
	Connection any    // the same for all messages of a connection
	Data       []byte // until Passing returns
}

// Watch begins to tell of messages, until the function that it returns is called.
func (n *Network) Watch(w Watch) (stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	one := &w
	n.setWatches(append(slices.Clone(n.watching()), one))
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.setWatches(slices.DeleteFunc(slices.Clone(n.watching()), func(w *Watch) bool { return w == one }))
	}
}

func (n *Network) watching() []*Watch {
	if all := n.watches.Load(); all != nil {
		return *all
	}
	return nil
}

func (n *Network) setWatches(all []*Watch) {
	if len(all) == 0 {
		n.watches.Store(nil)
		return
	}
	n.watches.Store(&all)
}

// passes tells of a message. With nobody who watches it costs one atomic load.
func (n *Network) passes(e *end, data []byte) {
	for _, w := range n.watching() {
		if l := e.pipe.link; w.Of(l.Pair) {
			w.Passing(Message{Pair: l.Pair, Reply: e == e.pipe.server, Connection: e.pipe, Data: data})
		}
	}
}
