package etcd

import (
	"context"
	"fmt"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockstorm/lockstorm/backends"
)

// Register returns the values in etcd. A request to the fenced one is a transaction that checks the lock's key, by
// its create revision, in the same step: a client whose key is gone changes nothing.
func Register() backends.Register {
	return backends.Register{
		Name: "etcd", Doc: "the data is in etcd; each read or write of the register `fenced` is a transaction that also checks the " +
			"create revision of the lock's key",
		Topologies: []string{Single, Three},
		Open: func(_ context.Context, env backends.Env) (backends.Resource, error) {
			return &register{c: newClient(env)}, nil
		},
	}
}

type register struct{ c *client }

// Open needs no request.
func (r *register) Open(_ context.Context, lock, _ string, lease backends.Info) (backends.Access, error) {
	return &access{c: r.c, at: "/lockstorm-data/" + r.c.env.Run + "/" + lock + "/", lease: lease}, nil
}

// Close ends the connection.
func (r *register) Close() error { return r.c.close() }

type access struct {
	c     *client
	at    string
	lease backends.Info
}

// guard is what must hold for a request to the fenced register.
func (a *access) guard(name string) ([]clientv3.Cmp, error) {
	if name != backends.Fenced {
		return nil, nil
	}
	if a.lease.Guard == "" || !a.lease.HasToken {
		return nil, fmt.Errorf("%w: this lock has no key in etcd, so etcd cannot check the lock when the data is written",
			backends.ErrNotSent)
	}
	return []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(a.lease.Guard), "=", a.lease.Token)}, nil
}

func (a *access) do(ctx context.Context, name string, op clientv3.Op) (*clientv3.TxnResponse, error) {
	lib, err := a.c.open()
	if err != nil {
		return nil, err
	}
	guard, err := a.guard(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.c.env.Timeout)
	defer cancel()
	r, err := lib.Txn(ctx).If(guard...).Then(op).Commit()
	if err != nil {
		return nil, outcome(err)
	}
	if !r.Succeeded {
		return nil, fmt.Errorf("%w: the lock's key no longer exists", backends.ErrStaleToken)
	}
	return r, nil
}

// Read reads the register's value; 0 before the first write.
func (a *access) Read(ctx context.Context, name string) (int64, error) {
	r, err := a.do(ctx, name, clientv3.OpGet(a.at+name))
	if err != nil {
		return 0, err
	}
	kvs := r.Responses[0].GetResponseRange().Kvs
	if len(kvs) == 0 {
		return 0, nil
	}
	return strconv.ParseInt(string(kvs[0].Value), 10, 64)
}

// Write stores a value.
func (a *access) Write(ctx context.Context, name string, _, value int64) error {
	_, err := a.do(ctx, name, clientv3.OpPut(a.at+name, strconv.FormatInt(value, 10)))
	return err
}
