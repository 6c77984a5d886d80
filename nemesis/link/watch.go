package link

import "slices"

// Watch is told of the messages of links, and keeps each of them until it returns: what a party has sent by then goes on later, in order.
type Watch struct {
	Of      func(p Pair) bool // the links that it is about
	Replies bool              // what servers send; else what their callers send
	Passing func(p Pair)
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
func (n *Network) passes(p Pair, reply bool) {
	for _, w := range n.watching() {
		if w.Replies == reply && w.Of(p) {
			w.Passing(p)
		}
	}
}
