package cluster

import (
	"context"
	"errors"
	"time"
)

// Capabilities of a server: what can be asked of it and done to it, past all links, as an operator would on its host.
// A store provides those of its servers on the value that [Recipe].Admin returns; find one with [As], and report a
// missing one.
type (
	// Roler returns its role: history.RoleMaster, history.RoleReplica, or a word of its own.
	Roler interface {
		Role(ctx context.Context) (string, error)
	}

	// Timer returns its wall clock.
	Timer interface {
		Clock(ctx context.Context) (time.Time, error)
	}

	// Leader is a server that others follow.
	Leader interface {
		// Followers returns how many servers follow it and are up to date or nearly so.
		Followers(ctx context.Context) (int, error)
		// InSync reports whether at least followers servers have all of its data; the text says what each has.
		InSync(ctx context.Context, followers int) (bool, string, error)
	}

	// Keeper is a server that keeps data for each lock, under names that the backend knows (backends.Spec.Keys).
	Keeper interface {
		// Has returns those of the keys that exist.
		Has(ctx context.Context, keys []string) ([]string, error)
		// Delete deletes keys and returns how many existed.
		Delete(ctx context.Context, keys []string) (int64, error)
	}

	// Forgetter can forget everything at once.
	Forgetter interface {
		// Flush deletes everything and returns how many keys existed.
		Flush(ctx context.Context) (int64, error)
	}

	// Persister is a server that may acknowledge what it has not even written.
	Persister interface {
		// Persist writes all that the server has acknowledged.
		Persist(ctx context.Context) error
	}

	// Tenant is a server that a run can share with others: a run's data there bears its name.
	Tenant interface {
		// Of lists the data that bears the name of a run.
		Of(ctx context.Context, run string) ([]string, error)
		// Clear deletes that data, and nothing else, and returns how much it was.
		Clear(ctx context.Context, run string) (int64, error)
		// Version returns the product and its version, as the server reports them.
		Version(ctx context.Context) (string, error)
	}

	// Evictor drops keys when its memory runs short.
	Evictor interface {
		// Evict fills the memory until the policy has evicted the keys; the text says how that went. It returns
		// ErrNotEvicted if the keys went for another reason. Call MakeRoom afterwards in any case.
		Evict(ctx context.Context, policy string, keys []string) (string, error)
		// MakeRoom removes what Evict filled the memory with, and its limit.
		MakeRoom(ctx context.Context) error
	}

	// Supervisor replaces masters, and knows which server it takes for the master.
	Supervisor interface {
		// Master returns the announced address of that server.
		Master(ctx context.Context) (string, error)
		// Promote has the master replaced although it is well.
		Promote(ctx context.Context) error
	}

	// Elector is a server that may lead others, if they vote for it.
	Elector interface {
		// Leads reports whether the server says that it leads now, and in which term. If two servers say so, the one with
		// the higher term is right.
		Leads(ctx context.Context) (leads bool, term int64, err error)
	}

	// Mover is an Elector that can hand over its leadership on request.
	Mover interface {
		// Move hands over to the server at the address.
		Move(ctx context.Context, to string) error
	}

	// Promoter is a follower that leads when it is told to, in a topology where only we decide that.
	Promoter interface {
		// Promote returns once the server takes writes. It waits for no follower then.
		Promote(ctx context.Context) error
		// Secure is called once the server has a follower again. From then on it waits for that follower, if its topology
		// promises that.
		Secure(ctx context.Context) error
	}

	// ConnectionEnder ends a connection, by the server's name for it.
	ConnectionEnder interface {
		EndConnection(ctx context.Context, name string) error
	}

	// SessionEnder ends a client's session, by the name of its lease.
	SessionEnder interface {
		EndSession(ctx context.Context, lease string) error
	}

	// SessionFinder finds the sessions that live on connections from some addresses, as host:port.
	SessionFinder interface {
		SessionsFrom(ctx context.Context, addrs []string) (leases []string, err error)
	}
)

// ErrNotEvicted is returned if keys were gone before they were evicted: Evict may be tried again.
var ErrNotEvicted = errors.New("the server did not evict the lock's keys, because they had already disappeared for " +
	"another reason")

// Can reports whether the servers of a recipe have a capability.
func Can[T any](r Recipe) bool {
	if r.Admin == nil {
		return false
	}
	_, ok := r.Admin(func() string { return "" }).(T)
	return ok
}

// As returns a capability of a server; ok is false where its store does not provide it.
func As[T any](s *Server) (can T, ok bool) {
	can, ok = s.Admin().(T)
	return can, ok
}
