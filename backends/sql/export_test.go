package sql

import (
	"context"

	"github.com/lockstorm/lockstorm/backends"
)

// Mutants are locks and registers with one thing wrong each.
func Mutants() ([]backends.Spec, []backends.Register) {
	var locks []backends.Spec
	mutant := func(of, name string, wrap func(backends.Locker) backends.Locker) {
		for _, s := range Specs() {
			if s.Name != of {
				continue
			}
			open := s.Open
			s.Name, s.Doc = name, "a mutant of "+of
			s.Open = func(ctx context.Context, env backends.Env) (backends.Locker, error) {
				l, err := open(ctx, env)
				if err != nil {
					return nil, err
				}
				return wrap(l), nil
			}
			locks = append(locks, s)
		}
	}
	mutant("sql-lease-row", "lease-steals", func(l backends.Locker) backends.Locker { return stealing{l.(*leases)} })
	mutant("sql-lease-row", "lease-robs", func(l backends.Locker) backends.Locker { return robbing{l.(*leases)} })
	mutant("sql-lease-row", "lease-repeats", func(l backends.Locker) backends.Locker { return repeating{l.(*leases)} })
	mutant("sql-optimistic", "optimistic-deaf", func(l backends.Locker) backends.Locker { return deaf{l.(*optimistic)} })
	mutant("sql-for-update", "rows-forget", func(l backends.Locker) backends.Locker { return forgetting{l.(*rows)} })

	var registers []backends.Register
	for _, r := range Registers() {
		if r.Name != postgres.register {
			continue
		}
		open := r.Open
		r.Name = "postgres-read-open"
		r.Open = func(ctx context.Context, env backends.Env) (backends.Resource, error) {
			res, err := open(ctx, env)
			if err != nil {
				return nil, err
			}
			return readOpen{res.(*register)}, nil
		}
		registers = append(registers, r)
	}
	return locks, registers
}

// stealing takes the row whoever has it.
type stealing struct{ *leases }

func (s stealing) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	if conn, err := s.open(ctx); err == nil {
		s.exec(ctx, conn, "UPDATE ls_lease SET expires = 0 WHERE id = ?", s.id(req.Lock)) //nolint:errcheck // a mutant
	}
	return s.leases.TryAcquire(ctx, req)
}

func (s stealing) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, s.env, req, s.TryAcquire)
}

// robbing frees the row whoever has it.
type robbing struct{ *leases }

func (r robbing) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	l, err := r.leases.TryAcquire(ctx, req)
	if err != nil {
		return nil, err
	}
	return &backends.Granted{Of: l.Info(), Give: func(ctx context.Context) error {
		if w, ok := l.(backends.Renewer); ok {
			w.StopRenewing()
		}
		return r.free(ctx, "UPDATE ls_lease SET owner = '', expires = 0 WHERE id = ?", r.id(req.Lock))
	}}, nil
}

func (r robbing) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, r.env, req, r.TryAcquire)
}

// repeating gives every grant the same token.
type repeating struct{ *leases }

type tokenOne struct{ backends.Lease }

func (t tokenOne) Info() backends.Info {
	info := t.Lease.Info()
	info.Token = 1
	return info
}

func (r repeating) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	l, err := r.leases.TryAcquire(ctx, req)
	if err != nil {
		return nil, err
	}
	return tokenOne{l}, nil
}

func (r repeating) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return backends.Poll(ctx, r.env, req, r.TryAcquire)
}

// deaf does not look how many rows were changed.
type deaf struct{ *optimistic }

type neverStale struct{ *snapshot }

func (n neverStale) Settled() (bool, error) { return n.done, nil }

func (d deaf) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	l, err := d.optimistic.TryAcquire(ctx, req)
	if err != nil {
		return nil, err
	}
	return neverStale{l.(*snapshot)}, nil
}

func (d deaf) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	return d.TryAcquire(ctx, req)
}

// forgetting rolls every third transaction back, and says that it has committed.
type forgetting struct{ *rows }

type forgotten struct{ *rowLease }

var transactions int

func (f forgotten) Release(ctx context.Context) error {
	transactions++
	if transactions%3 != 0 || f.t.over {
		return f.rowLease.Release(ctx)
	}
	_, err := f.r.exec(ctx, f.t.conn, "ROLLBACK")
	f.t.over, f.r.tx = true, nil
	f.r.leave(f.hold)
	return err
}

func (f forgetting) Acquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	l, err := f.rows.Acquire(ctx, req)
	if err != nil {
		return nil, err
	}
	return forgotten{l.(*rowLease)}, nil
}

func (f forgetting) TryAcquire(ctx context.Context, req backends.Request) (backends.Lease, error) {
	l, err := f.rows.TryAcquire(ctx, req)
	if err != nil {
		return nil, err
	}
	return forgotten{l.(*rowLease)}, nil
}

// readOpen wants a token for writing alone: who reads late reads what is not his.
type readOpen struct{ *register }

type openValue struct{ *value }

func (r readOpen) Open(ctx context.Context, lock, grant string, lease backends.Info) (backends.Access, error) {
	a, err := r.register.Open(ctx, lock, grant, lease)
	if err != nil {
		return nil, err
	}
	return openValue{a.(*value)}, nil
}

func (o openValue) Read(ctx context.Context, name string) (n int64, err error) {
	conn, err := o.r.open(ctx)
	if err != nil {
		return 0, err
	}
	if err := o.r.make(ctx, conn, tableData, o.id(name)); err != nil {
		return 0, err
	}
	return n, o.r.ask(ctx, conn, &n, "SELECT value FROM ls_data WHERE id = ?", o.id(name))
}
