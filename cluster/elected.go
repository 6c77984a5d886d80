package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// elected is a fleet whose servers choose their leader themselves.
type elected struct{ servers []*Server }

// Elected is the fleet of a topology in which every server is an [Elector].
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
