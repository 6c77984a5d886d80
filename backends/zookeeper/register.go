package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/backends"
)

// Register returns the values in ZooKeeper. A request to the fenced one is a multi that checks the lock's node in the
// same step: a client whose session has ended changes nothing.
func Register() backends.Register {
	return backends.Register{
		Name: "zk", Doc: "the data is in znodes (entries in ZooKeeper's tree); each read or write of the register `fenced` also " +
			"checks that the lock's znode still exists",
		Topologies: topologies,
		Open: func(_ context.Context, env backends.Env) (backends.Resource, error) {
			env.Session = backends.Session{ // its session is none of the lock's
				Opened:   func(string, backends.Renewal) error { return nil },
				Renewing: func(string) (func(backends.Renewal, error), error) { return nil, nil },
				Lost:     func(string, string) {},
			}
			return &register{&session{env: env, lostOn: onExpiry}}, nil
		},
	}
}

type register struct{ *session }

// Open needs no request.
func (r *register) Open(_ context.Context, lock, _ string, lease backends.Info) (backends.Access, error) {
	return &access{s: r.session, at: root(r.env.Run) + "-data/" + lock, lease: lease}, nil
}

type access struct {
	s     *session
	at    string
	lease backends.Info
}

// open returns the library's client, for a request that can be made.
func (a *access) open(name string) (*zk.Conn, error) {
	if name == backends.Fenced && a.lease.Guard == "" {
		return nil, fmt.Errorf("%w: this lock has no znode in ZooKeeper, so ZooKeeper cannot check the lock when the data is written",
			backends.ErrNotSent)
	}
	return a.s.client()
}

// Read reads the register's value; 0 before the first write. ZooKeeper has no read in a multi: the
// node of the lock is checked before and after, and a server that lags is brought up to date.
func (a *access) Read(ctx context.Context, name string) (int64, error) {
	conn, err := a.open(name)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.s.env.Timeout)
	defer cancel()
	data, err := call(ctx, func() ([]byte, error) {
		if _, err := conn.Sync(a.at); err != nil {
			return nil, err
		}
		data, _, err := conn.Get(a.at + "/" + name)
		if errors.Is(err, zk.ErrNoNode) {
			data, err = []byte("0"), nil
		}
		if err != nil || name != backends.Fenced {
			return data, err
		}
		_, err = conn.Multi(&zk.CheckVersionRequest{Path: a.lease.Guard, Version: -1})
		return data, stale(err)
	})
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(data), 10, 64)
}

// Write stores a value.
func (a *access) Write(ctx context.Context, name string, _, value int64) error {
	conn, err := a.open(name)
	if err != nil {
		return err
	}
	node, data := a.at+"/"+name, []byte(strconv.FormatInt(value, 10))
	ctx, cancel := context.WithTimeout(ctx, a.s.env.Timeout)
	defer cancel()
	var guard []any
	if name == backends.Fenced {
		guard = append(guard, &zk.CheckVersionRequest{Path: a.lease.Guard, Version: -1})
	}
	_, err = call(ctx, func() (struct{}, error) {
		there, _, err := conn.Exists(node)
		if err == nil && !there {
			if err = makePath(ctx, conn, a.at); err == nil {
				_, err = conn.Create(node, []byte("0"), 0, zk.WorldACL(zk.PermAll))
			}
			if errors.Is(err, zk.ErrNodeExists) {
				err = nil
			}
		}
		if err != nil {
			return struct{}{}, fmt.Errorf("%w: %w", backends.ErrNotSent, err) // the value was not sent yet
		}
		_, err = conn.Multi(append(guard, &zk.SetDataRequest{Path: node, Data: data, Version: -1})...)
		return struct{}{}, stale(err)
	})
	return err
}

// stale is the answer that the lock's znode is gone.
func stale(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return fmt.Errorf("%w: the lock's znode no longer exists", backends.ErrStaleToken)
	}
	return err
}
