package cluster

import (
	"context"
	"errors"
	"time"
)

// What can be asked of a server and done to it, past all links, as an operator would on its
// host. A store's folder provides as many of these as its servers can do, on the value that
// [Recipe].Admin makes; whoever needs one looks for it with [As] and says what is missing.
type (
	// Roler tells its role: history.RoleMaster, history.RoleReplica, or a word of its own.
	Roler interface {
		Role(ctx context.Context) (string, error)
	}

	// Timer tells its wall clock.
	Timer interface {
		Clock(ctx context.Context) (time.Time, error)
	}

	// Leader is a server that others follow.
	Leader interface {
		// Followers is how many servers follow it and are up to date or nearly so.
		Followers(ctx context.Context) (int, error)
		// InSync reports whether as many followers as said have all that it has; the text says
		// what each has.
		InSync(ctx context.Context, followers int) (bool, string, error)
	}

	// Keeper is a server that keeps something for each lock, under names that the backend
	// knows (backends.Spec.Keys).
	Keeper interface {
		// Has says which of the keys exist.
		Has(ctx context.Context, keys []string) ([]string, error)
		// Delete deletes keys and says how many there were.
		Delete(ctx context.Context, keys []string) (int64, error)
	}

	// Forgetter can forget everything at once.
	Forgetter interface {
		// Flush deletes everything and says how many keys there were.
		Flush(ctx context.Context) (int64, error)
	}

	// Tenant is a server that a run can share with others: what it has there bears its name.
	Tenant interface {
		// Of lists what bears the name of a run.
		Of(ctx context.Context, run string) ([]string, error)
		// Clear deletes that, and nothing else, and says how much it was.
		Clear(ctx context.Context, run string) (int64, error)
		// Version is the product and its number, as it says itself.
		Version(ctx context.Context) (string, error)
	}

	// Evictor drops keys when its memory runs short.
	Evictor interface {
		// Evict fills the memory until the keys were evicted by the policy; the text says how that
		// went. When they went by themselves the error is ErrNotEvicted. MakeRoom must follow in
		// any case.
		Evict(ctx context.Context, policy string, keys []string) (string, error)
		// MakeRoom takes away what Evict filled, and its limit.
		MakeRoom(ctx context.Context) error
	}

	// Supervisor replaces masters, and knows which server it takes for the master.
	Supervisor interface {
		// Master is the announced address of that server.
		Master(ctx context.Context) (string, error)
		// Promote asks for it to be replaced although it is well.
		Promote(ctx context.Context) error
	}

	// Elector is a server that may lead others, by their votes.
	Elector interface {
		// Leads reports whether it says that it leads now, and in which term: of two that say so the
		// one with the higher term is right.
		Leads(ctx context.Context) (leads bool, term int64, err error)
	}

	// Mover is an Elector that hands its office over when it is told to.
	Mover interface {
		// Move hands over to the server at the address.
		Move(ctx context.Context, to string) error
	}

	// Promoter is a follower that leads when it is told to, where nobody but us decides that.
	Promoter interface {
		// Promote returns when it takes writes. It waits for no follower then.
		Promote(ctx context.Context) error
		// Secure is called when it has a follower again: from then on it waits for it, where that is
		// what its topology promises.
		Secure(ctx context.Context) error
	}

	// ConnectionEnder ends a connection, by the name that the server has for it.
	ConnectionEnder interface {
		EndConnection(ctx context.Context, name string) error
	}

	// SessionEnder ends a client's session, by the name of its lease.
	SessionEnder interface {
		EndSession(ctx context.Context, lease string) error
	}

	// SessionFinder knows which sessions live on connections from some addresses, as host:port.
	SessionFinder interface {
		SessionsFrom(ctx context.Context, addrs []string) (leases []string, err error)
	}
)

// ErrNotEvicted says that keys were gone before they were evicted: it may be tried again.
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

// As finds a capability of a server; ok is false where its store does not provide it.
func As[T any](s *Server) (can T, ok bool) {
	can, ok = s.Admin().(T)
	return can, ok
}
