package control

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// SendLimit is how long the other side may take for a message before it counts as lost.
const SendLimit = 20 * time.Second

// ErrDeaf says that the other side runs, but reads nothing.
var ErrDeaf = errors.New("the client does not read what lockstorm tells it")

// Outbox sends messages in order, from a goroutine of its own: who has something to tell never waits. To a client
// that is stopped nothing is sent; what it should know is on its way when it goes on.
type Outbox struct {
	ch    *Channel
	limit time.Duration
	ended chan struct{} // its goroutine

	mu     sync.Mutex
	change *sync.Cond
	queue  []Message
	held   int
	closed bool
	err    error
}

// NewOutbox begins to send; Close ends it, and the channel with it.
func NewOutbox(ch *Channel, limit time.Duration) *Outbox {
	o := &Outbox{ch: ch, limit: limit, ended: make(chan struct{})}
	o.change = sync.NewCond(&o.mu)
	go o.run()
	return o
}

// Send takes a message on its way. The error is why earlier ones could not be sent.
func (o *Outbox) Send(m Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && o.closed {
		o.err = io.ErrClosedPipe
	}
	if o.err == nil {
		o.queue = append(o.queue, m)
		o.change.Signal()
	}
	return o.err
}

// Disarm takes back an arm. told is false where the client had not been told of it: then it need not know.
func (o *Outbox) Disarm(id int) (told bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, m := range o.queue {
		if m.Op == Arm && m.ID == id {
			o.queue = append(o.queue[:i], o.queue[i+1:]...)
			return false
		}
	}
	if o.err == nil && !o.closed {
		o.queue = append(o.queue, Message{Op: Disarm, ID: id})
		o.change.Signal()
	}
	return true
}

// Hold keeps back what is sent from now on, until as many calls of Release follow.
func (o *Outbox) Hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held++
}

// Release ends one Hold.
func (o *Outbox) Release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = max(o.held-1, 0)
	o.change.Signal()
}

// Held reports whether messages are kept back.
func (o *Outbox) Held() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held > 0
}

// Close drops what was not sent, closes the channel and waits for the sender. It may be called again.
func (o *Outbox) Close() error {
	o.mu.Lock()
	first := !o.closed
	o.closed, o.queue = true, nil
	o.change.Signal()
	o.mu.Unlock()
	var err error
	if first {
		err = o.ch.Close()
	}
	<-o.ended
	return err
}

func (o *Outbox) run() {
	defer close(o.ended)
	for {
		m, more := o.next()
		if !more {
			return
		}
		if err := o.deliver(m); err != nil {
			o.mu.Lock()
			o.err, o.queue = err, nil
			o.mu.Unlock()
			return
		}
	}
}

// next waits for a message that may be sent.
func (o *Outbox) next() (Message, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.closed && (o.held > 0 || len(o.queue) == 0) {
		o.change.Wait()
	}
	if o.closed {
		return Message{}, false
	}
	m := o.queue[0]
	o.queue = o.queue[1:]
	return m, true
}

// deliver sends a message whole. A client that is stopped meanwhile has time until it goes on.
func (o *Outbox) deliver(m Message) error {
	left, err := encode(m)
	for begun := time.Now(); err == nil && len(left) > 0; {
		var n int
		n, err = o.ch.write(left, o.limit)
		left = left[n:]
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if err = nil; o.Held() || n > 0 {
			continue
		}
		err = fmt.Errorf("%w: the message %q waited for %v", ErrDeaf, m.Op, time.Since(begun).Round(time.Millisecond))
		o.ch.giveUp(err)
	}
	return err
}
