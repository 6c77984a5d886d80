package harness

import (
	"errors"
	"fmt"
	"slices"
)

// living lists the clients whose process has not ended.
func (s *session) living() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.clients), func(c *client) bool { return c.killed.Load() || c.Exited() })
}

func (s *session) tellAll(m message) {
	for _, c := range s.living() {
		if err := c.ch.send(m); err != nil {
			c.fail(fmt.Errorf("send %s: %w", m.Op, err))
		}
	}
}

// stopAll tells every client to end.
func (s *session) stopAll() {
	for _, c := range s.living() {
		c.ending.Store(true)
	}
	s.tellAll(message{Op: opStop})
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
