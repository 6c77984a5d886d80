package etcd

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockstorm/lockstorm/backends"
)

// sessions makes sessions of package concurrency and tells of their end.
type sessions struct {
	c      *client
	shared bool // one for all attempts of the client; else one for each

	mu       sync.Mutex
	current  *concurrency.Session
	watching sync.WaitGroup
	stop     context.CancelFunc // ends what is still open with the client
	life     context.Context    //nolint:containedctx // of the client
}

func newSessions(env backends.Env, shared bool) *sessions {
	s := &sessions{c: newClient(env), shared: shared}
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// get is the session for an attempt. Making one ends with ctx; it then lives as long as the client.
func (s *sessions) get(ctx context.Context, ttl time.Duration) (*concurrency.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && !ended(s.current) {
		return s.current, nil
	}
	made, err := s.make(ctx, ttl)
	if s.shared && err == nil {
		s.current = made
	}
	return made, err
}

func ended(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

func (s *sessions) make(ctx context.Context, ttl time.Duration) (*concurrency.Session, error) {
	c, err := s.c.open()
	if err != nil {
		return nil, err
	}
	living, cancel := context.WithCancel(s.life)
	made := context.AfterFunc(ctx, cancel)
	one, err := concurrency.NewSession(c, concurrency.WithTTL(seconds(ttl)), concurrency.WithContext(living))
	if !made() || err != nil {
		cancel()
		if err == nil {
			err = context.Cause(ctx)
		}
		return nil, errors.Join(backends.ErrNotSent, err) // no lock was asked for yet
	}
	s.watching.Go(func() {
		defer cancel()
		<-one.Done()
		if l := s.c.lease(int64(one.Lease())); l != nil && !l.ended() && s.life.Err() == nil {
			s.c.env.Session.Lost(l.name, "the channel Session.Done is closed")
		}
	})
	return one, nil
}

func (l *lease) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// seconds is a ttl as etcd has it: in whole ones, never shorter than was asked for.
func seconds(ttl time.Duration) int { return int((ttl + time.Second - 1) / time.Second) }

// done gives a session of one attempt back, and says whether the server has ended it.
func (s *sessions) done(one *concurrency.Session) (revoked bool) {
	if s.shared || one == nil {
		return false
	}
	if l := s.c.lease(int64(one.Lease())); l != nil {
		l.end()
	}
	return one.Close() == nil // what cannot be revoked runs out
}

// granted is a grant under a session, which is given back for as long as a user would wait for an answer.
func (s *sessions) granted(info backends.Info, one *concurrency.Session, give func(context.Context) error) backends.Lease {
	return &backends.Granted{Of: info, Give: func(ctx context.Context) error {
		defer s.done(one)
		ctx, cancel := context.WithTimeout(ctx, s.c.env.Timeout)
		defer cancel()
		return give(ctx)
	}}
}

// Close ends the client.
func (s *sessions) Close() error {
	s.stop()
	err := s.c.close()
	s.watching.Wait()
	return err
}
