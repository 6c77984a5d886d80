package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/nemesis"
)

var _ nemesis.Collector = (*client)(nil)

// Collect has the worker ask its lock for it. Faults of one client come one after the other.
func (c *client) Collect(ctx context.Context, length time.Duration) (string, error) {
	c.collecting.Lock()
	defer c.collecting.Unlock()
	if err := c.out.Send(control.Message{Op: control.Collect, Length: length.Nanoseconds()}); err != nil {
		return "", err
	}
	select {
	case m := <-c.collected:
		if m.Error != "" {
			return "", errors.New(m.Error)
		}
		return m.Text, nil
	case <-c.ended:
		return "", fmt.Errorf("client %s has ended, so it cannot start a garbage collection", c.name)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
