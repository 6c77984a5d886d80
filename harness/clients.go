package harness

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/harness/internal/control"
)

// living lists the clients whose process has not ended.
func (s *session) living() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.clients), func(c *client) bool { return c.killed.Load() || c.Exited() })
}

func (s *session) tellAll(m control.Message) {
	for _, c := range s.living() {
		if err := c.ch.Send(m); err != nil {
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
