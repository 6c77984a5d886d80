package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// askLimit is for the answer of one supervisor.
const askLimit = 300 * time.Millisecond

// supervised is a fleet whose masters are replaced by servers of their own.
type supervised struct {
	servers []*Server
	deciders
}

type deciders []decider

type decider struct {
	name string
	Supervisor
}

// Supervised returns the fleet of a topology in which some servers are a [Supervisor].
func Supervised(servers []*Server) Fleet {
	f := supervised{servers: servers}
	for _, s := range servers {
		if v, ok := As[Supervisor](s); ok && !s.Recipe().Data {
			f.deciders = append(f.deciders, decider{s.Name(), v})
		}
	}
	return f
}

// Master is the server that most supervisors take for the master.
func (f supervised) Master(ctx context.Context) (*Server, error) {
	votes := map[string]int{}
	var errs []error
	for _, d := range f.deciders {
		asking, cancel := context.WithTimeout(ctx, askLimit)
		addr, err := d.Master(asking)
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", d.name, err))
			continue
		}
		if votes[addr]++; votes[addr] <= len(f.deciders)/2 {
			continue
		}
		for _, s := range f.servers {
			if s.Announced() == addr {
				return s, nil
			}
		}
	}
	return nil, errors.Join(append(errs, fmt.Errorf("no majority of the supervisors agrees on a master (votes for each "+
		"address: %v)", votes))...)
}

// Promote asks the first supervisor that answers.
func (f supervised) Promote(ctx context.Context) error {
	var errs []error
	for _, d := range f.deciders {
		err := d.Promote(ctx)
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", d.name, err))
	}
	return errors.Join(errs...)
}
