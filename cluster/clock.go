package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstorm/lockstorm/internal/clockshim"
)

// giveClock gives the server a wall clock of its own, before its first start.
func (s *Server) giveClock(shim string) error {
	if err := os.MkdirAll(s.place.Dir, 0o755); err != nil {
		return err
	}
	clock, err := clockshim.New(filepath.Join(s.place.Dir, "clock"))
	if err != nil {
		return err
	}
	s.clock, s.place.Env = clock, clock.Env(shim)
	return nil
}

// Jump moves the server's wall clock by d and returns the proof, read back from the server.
func (s *Server) Jump(ctx context.Context, d time.Duration) (string, error) {
	timer, ok := As[Timer](s)
	if s.clock == nil || !ok {
		return "", fmt.Errorf("lockstorm cannot change the clock of %s, because the server has no clock of its own or does not "+
			"report its time", s.Name())
	}
	offset, err := s.clock.Jump(d)
	if err != nil {
		return "", err
	}
	proof, err := s.showsJump(ctx, timer, d, offset)
	if err != nil { // not proven: not done
		_, back := s.clock.Jump(-d)
		return "", errors.Join(err, back)
	}
	return proof, nil
}

// showsJump waits until the server's own clock is as far from the host's as it should be.
func (s *Server) showsJump(ctx context.Context, timer Timer, d, offset time.Duration) (string, error) {
	for {
		now, err := timer.Clock(ctx)
		if err != nil {
			return "", fmt.Errorf("cannot read the clock of %s: %w", s.Name(), err)
		}
		if ahead := time.Until(now); (ahead - offset).Abs() < min(clockClose, d.Abs()/4) {
			return fmt.Sprintf("the clock of %s jumped by %v; it now differs from the host's clock by %v", s.Name(), d,
				ahead.Round(time.Millisecond)), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("the clock of server %s did not jump as requested: the server reports the time %v", s.Name(), now)
		case <-time.After(probeEvery):
		}
	}
}

const clockClose = 200 * time.Millisecond // a server may show a time that it read a little earlier
