package harness

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/history"
)

// living lists the clients whose process has not ended.
func (s *session) living() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.clients), func(c *client) bool { return c.killed.Load() || c.Exited() })
}

// enlist adds a client, in the order of their numbers.
func (s *session) enlist(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = append(s.clients, c)
	slices.SortFunc(s.clients, func(a, b *client) int { return cmp.Compare(a.index, b.index) })
}

// retire waits for the end of a client, or of the run, and forgets one that a fault has killed: nothing of it stays in
// memory.
func (s *session) retire(c *client) {
	select {
	case <-c.Done():
	case <-s.hopeless.Done():
		return
	}
	if c.killed.Load() {
		s.forget(c)
	}
}

func (s *session) forget(c *client) {
	c.out.Close() //nolint:errcheck // it has ended
	<-c.ended
	s.tail.leaveOff(c.name)
	history.Settle(c.logPath) //nolint:errcheck // on a full disk the tail of the log stays, and is read there
	removeEmpty(c.errPath)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = slices.DeleteFunc(s.clients, func(o *client) bool { return o == c })
}

// removeEmpty removes a file that says nothing.
func removeEmpty(path string) {
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		os.Remove(path) //nolint:errcheck // an empty file does no harm
	}
}

func (s *session) tellAll(m control.Message) {
	for _, c := range s.living() {
		if err := c.out.Send(m); err != nil {
			c.fail(fmt.Errorf("lockstorm cannot send the message %s to the client: %w", m.Op, err))
		}
	}
}

// stopAll tells every client to end.
func (s *session) stopAll() {
	for _, c := range s.living() {
		c.ending.Store(true)
	}
	s.tellAll(control.Message{Op: control.Stop})
}

// failures joins why workers gave up or ended by themselves.
func (s *session) failures() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, c := range s.clients {
		if c.killed.Load() {
			continue
		}
		errs = append(errs, c.failure())
	}
	return errors.Join(errs...)
}
