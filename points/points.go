// Package points names the places at which a client can be met: those that every section
// has, and those that a backend or a workload adds. A fault is tied to a point by its
// name; a client that reaches an armed point stands there until it is let go.
//
//	before-acquire -> [waiting] -> acquired -> before-read -> before-write -> before-release -> releasing
package points

// Point is a named place and what has happened, and what has not, when a client is there.
type Point struct {
	Name string
	Doc  string
}

// The points that every section has, in the order in which they are reached.
const (
	BeforeAcquire = "before-acquire"
	Waiting       = "waiting"
	Acquired      = "acquired"
	BeforeRead    = "before-read"
	BeforeWrite   = "before-write"
	BeforeRelease = "before-release"
	Releasing     = "releasing"
)

// The points at which a message of a client is, on its way between the client and a server of the lock: the message stands there, not the
// client. Every library has them, in any language.
const (
	Request = "request"
	Reply   = "reply"
)

// Carried lists the points of messages.
func Carried() []Point {
	return []Point{
		{Name: Request, Doc: "a message from the client to a server of the lock is on its way; lockstorm holds the message back while it injects the fault"},
		{Name: Reply, Doc: "a message from a server of the lock to the client is on its way; lockstorm holds the message back while it injects the fault"},
	}
}

// IsCarried reports whether a point is one of messages.
func IsCarried(name string) bool { return name == Request || name == Reply }

// Random is not a point: it stands for random times where a point could be named.
const Random = "random"

// Section lists the points of every section.
func Section() []Point {
	return []Point{
		{Name: BeforeAcquire, Doc: "the client is about to call acquire"},
		{Name: Waiting, Doc: "another client holds the lock, and the client begins to wait for the lock"},
		{Name: Acquired, Doc: "the client has just got the lock"},
		{Name: BeforeRead, Doc: "the client has checked its lease, and is about to send its read"},
		{Name: BeforeWrite, Doc: "the client has checked its lease, and is about to send its write"},
		{Name: BeforeRelease, Doc: "the client has finished its work in the critical section, and is about to call release"},
		{Name: Releasing, Doc: "the client has called release, and is about to send the request"},
	}
}

// Names lists the names of points.
func Names(all []Point) []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return names
}
