package etcd

import (
	"context"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/lockstorm/lockstorm/cluster"
)

// admin asks and tells a server past all links, as an operator would.
type admin struct {
	addr func() string
	cluster.Voter
}

func newAdmin(addr func() string) any {
	return admin{addr, func(ctx context.Context) (cluster.Standing, error) { return standing(ctx, addr()) }}
}

var (
	_ cluster.Mover        = admin{}
	_ cluster.Keeper       = admin{}
	_ cluster.Tenant       = admin{}
	_ cluster.Forgetter    = admin{}
	_ cluster.SessionEnder = admin{}
)

const adminTimeout = 500 * time.Millisecond // for one answer

// asked is what f finds out with a client of the server.
func asked[T any](addr string, f func(c *clientv3.Client) (T, error)) (answer T, err error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + addr}, DialTimeout: adminTimeout, Logger: zap.NewNop()})
	if err != nil {
		return answer, err
	}
	defer c.Close() //nolint:errcheck // it was only asked
	return f(c)
}

func status(ctx context.Context, addr string) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	return asked(addr, func(c *clientv3.Client) (*clientv3.StatusResponse, error) { return c.Status(ctx, addr) })
}

// standing is what the server says of itself.
func standing(ctx context.Context, addr string) (cluster.Standing, error) {
	s, err := status(ctx, addr)
	if err != nil {
		return cluster.Standing{}, err
	}
	return cluster.Standing{Leads: s.Leader == s.Header.MemberId && s.Leader != 0, Led: s.Leader != 0, Term: int64(s.RaftTerm)}, nil
}

// Version is what the server says it is.
func (a admin) Version(ctx context.Context) (string, error) {
	s, err := status(ctx, a.addr())
	if err != nil {
		return "", err
	}
	return "etcd " + s.Version, nil
}

// Move hands over to another member.
func (a admin) Move(ctx context.Context, to string) error {
	heir, err := status(ctx, to)
	if err != nil {
		return err
	}
	_, err = asked(a.addr(), func(c *clientv3.Client) (any, error) { return c.MoveLeader(ctx, heir.Header.MemberId) })
	return err
}

// Has says under which of the prefixes there are keys.
func (a admin) Has(ctx context.Context, prefixes []string) ([]string, error) {
	return asked(a.addr(), func(c *clientv3.Client) (found []string, err error) {
		for _, p := range prefixes {
			r, err := c.Get(ctx, p, clientv3.WithPrefix(), clientv3.WithCountOnly())
			if err != nil {
				return found, err
			}
			if r.Count > 0 {
				found = append(found, p)
			}
		}
		return found, nil
	})
}

// Delete deletes all keys under the prefixes.
func (a admin) Delete(ctx context.Context, prefixes []string) (int64, error) {
	return asked(a.addr(), func(c *clientv3.Client) (n int64, err error) {
		for _, p := range prefixes {
			r, err := c.Delete(ctx, p, clientv3.WithPrefix())
			if err != nil {
				return n, err
			}
			n += r.Deleted
		}
		return n, nil
	})
}

// Flush deletes every key of locks; data that is kept beside them stays.
func (a admin) Flush(ctx context.Context) (int64, error) {
	return a.Delete(ctx, []string{"/lockstorm/"})
}

// Of lists the keys of a run.
func (a admin) Of(ctx context.Context, run string) ([]string, error) {
	return asked(a.addr(), func(c *clientv3.Client) (found []string, err error) {
		r, err := c.Get(ctx, runPrefix(run), clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			return nil, err
		}
		for _, kv := range r.Kvs {
			found = append(found, string(kv.Key))
		}
		return found, nil
	})
}

// Clear deletes the keys of a run.
func (a admin) Clear(ctx context.Context, run string) (int64, error) {
	return a.Delete(ctx, []string{runPrefix(run)})
}

// EndSession revokes a lease; its name is the id in hexadecimal.
func (a admin) EndSession(ctx context.Context, lease string) error {
	id, err := strconv.ParseInt(lease, 0, 64)
	if err != nil {
		return fmt.Errorf("%q is not the id of an etcd lease: %w", lease, err)
	}
	_, err = asked(a.addr(), func(c *clientv3.Client) (any, error) { return c.Revoke(ctx, clientv3.LeaseID(id)) })
	return err
}
