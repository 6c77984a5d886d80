package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/history"
)

// RoleLooking is the role of a server of an ensemble that knows no leader and serves no client.
const RoleLooking = "looking"

// Standing is what a server of an ensemble says of itself: whether it leads, whether it knows the leader, and in which term.
type Standing struct {
	Leads, Led bool
	Term       int64
}

// Voter is a [Roler] and an [Elector] for servers that report their Standing.
type Voter func(ctx context.Context) (Standing, error)

// Role returns the role that the server reports. A server without others leads.
func (v Voter) Role(ctx context.Context) (string, error) {
	s, err := v(ctx)
	switch {
	case err != nil:
		return "", err
	case s.Leads:
		return history.RoleLeader, nil
	case !s.Led:
		return RoleLooking, nil
	}
	return history.RoleFollower, nil
}

// Leads reports whether the server says that it leads, and in which term.
func (v Voter) Leads(ctx context.Context) (bool, int64, error) {
	s, err := v(ctx)
	return s.Leads, s.Term, err
}

// Together waits until all servers of an ensemble know a leader, one of them leads, and each serves.
func Together(ask func(ctx context.Context, addr string) (Standing, error),
	serves func(ctx context.Context, addr string, pid int) error,
) func(ctx context.Context, addrs map[string]string) error {
	return func(ctx context.Context, addrs map[string]string) error {
		leaders := 0
		for name, addr := range addrs {
			s, err := ask(ctx, addr)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", name, err)
			case !s.Led:
				return fmt.Errorf("%s does not know a leader yet", name)
			case s.Leads:
				leaders++
			}
		}
		if leaders != 1 {
			return fmt.Errorf("number of servers that report themselves as leader: %d (expected: 1)", leaders)
		}
		for name, addr := range addrs {
			if err := serves(ctx, addr, 0); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
}

// elected is a fleet whose servers choose their leader themselves.
type elected struct{ servers []*Server }

// Elected returns the fleet of a topology in which every server is an [Elector].
func Elected(servers []*Server) Fleet {
	return elected{slices.DeleteFunc(slices.Clone(servers), func(s *Server) bool { _, ok := As[Elector](s); return !ok })}
}

// Master is the leader of the highest term: one that was cut off may not know yet that it leads no
// more.
func (f elected) Master(ctx context.Context) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	said := make([]struct {
		leads bool
		term  int64
		err   error
	}, len(f.servers))
	var wg sync.WaitGroup
	for i, s := range f.servers {
		wg.Go(func() {
			e, _ := As[Elector](s)
			if s.Down() {
				return
			}
			if said[i].leads, said[i].term, said[i].err = e.Leads(ctx); said[i].err != nil {
				said[i].err = fmt.Errorf("%s: %w", s.Name(), said[i].err)
			}
		})
	}
	wg.Wait()
	leader := -1
	errs := []error{errors.New("no server reports that it is the leader")}
	for i, a := range said {
		errs = append(errs, a.err)
		if a.err == nil && a.leads && (leader < 0 || a.term > said[leader].term) {
			leader = i
		}
	}
	if leader < 0 {
		return nil, errors.Join(errs...)
	}
	return f.servers[leader], nil
}

// Promote has another server lead, where the store can do that.
func (f elected) Promote(ctx context.Context) error {
	old, err := f.Master(ctx)
	if err != nil {
		return err
	}
	m, ok := As[Mover](old)
	if !ok {
		return fmt.Errorf("%s cannot hand over leadership: this kind of server has no command for a change of the leader", old.Name())
	}
	var errs []error
	for _, s := range f.servers {
		if s == old || s.Down() {
			continue
		}
		if err := m.Move(ctx, s.Addr()); err != nil {
			errs = append(errs, fmt.Errorf("cannot hand over leadership to %s: %w", s.Name(), err))
			continue
		}
		return nil
	}
	return errors.Join(append(errs, errors.New("no other server became leader"))...)
}
