package cluster

import (
	"context"
	"errors"
	"time"
)

// Store is what a fault can ask of a server that holds data, and do to it: at the
// address where it listens, past all links.
type Store interface {
	// Role is the role that the server itself claims: RoleMaster or RoleReplica.
	Role(ctx context.Context, addr string) (string, error)
	// Clock is the server's wall clock.
	Clock(ctx context.Context, addr string) (time.Time, error)
	// Followers is how many replicas follow the server and are up to date or nearly so.
	Followers(ctx context.Context, addr string) (int, error)
	// InSync reports whether as many replicas as said follow the server and have all that it
	// has; the text says what each has.
	InSync(ctx context.Context, addr string, replicas int) (bool, string, error)
	// Has says which of the keys exist.
	Has(ctx context.Context, addr string, keys []string) ([]string, error)
	// Delete deletes keys and says how many there were.
	Delete(ctx context.Context, addr string, keys []string) (int64, error)
	// Flush deletes everything and says how many keys there were.
	Flush(ctx context.Context, addr string) (int64, error)
	// Evict fills the memory until the keys were evicted; the text says how that went. When
	// they went by themselves the error is ErrNotEvicted. MakeRoom must follow in any case.
	Evict(ctx context.Context, addr, policy string, keys []string) (string, error)
	// MakeRoom takes away what Evict filled, and its limit.
	MakeRoom(ctx context.Context, addr string) error
}

// ErrNotEvicted says that keys were gone before they were evicted.
var ErrNotEvicted = errors.New("the keys were gone before they were evicted")

// Supervisor is what can be asked of a server that replaces masters.
type Supervisor interface {
	// Master is the announced address of the master that this supervisor believes in.
	Master(ctx context.Context, addr string) (string, error)
	// FailOver asks for the master to be replaced although it is well.
	FailOver(ctx context.Context, addr string) error
}
