package history

import (
	"fmt"
	"slices"
)

// Point is a place at which a client can be met, with what has happened and what has not when a client is there.
// Every section has some; a backend or a workload can add its own. A fault is tied to a point by its name; a client
// that reaches an armed point waits there until it is let go.
//
//	before-acquire -> [waiting] -> acquired -> before-read -> before-write -> before-release -> releasing
type Point struct {
	Name string
	Doc  string
}

// Points that every section has, in the order in which they are reached.
const (
	AtBeforeAcquire = "before-acquire"
	AtWaiting       = "waiting"
	AtAcquired      = "acquired"
	AtBeforeRead    = "before-read"
	AtBeforeWrite   = "before-write"
	AtBeforeRelease = "before-release"
	AtReleasing     = "releasing"
)

// Points of messages on their way between a client and a server of the lock: the message waits there, not the client.
// Every library has them, in any language.
const (
	AtRequest = "request"
	AtReply   = "reply"
)

// MessagePoints lists the points of messages.
func MessagePoints() []Point {
	return []Point{
		{Name: AtRequest, Doc: "a message from the client to a server of the lock is on its way; lockstorm holds the message back " +
			"while it injects the fault"},
		{Name: AtReply, Doc: "a message from a server of the lock to the client is on its way; lockstorm holds the message back " +
			"while it injects the fault"},
	}
}

// IsMessagePoint reports whether a point is one of messages.
func IsMessagePoint(name string) bool { return name == AtRequest || name == AtReply }

// AtRandom is not a point: it stands for random times where a point could be named.
const AtRandom = "random"

// SectionPoints lists the points of every section.
func SectionPoints() []Point {
	return []Point{
		{Name: AtBeforeAcquire, Doc: "the client is about to call acquire"},
		{Name: AtWaiting, Doc: "another client holds the lock, and the client begins to wait for the lock"},
		{Name: AtAcquired, Doc: "the client has just got the lock"},
		{Name: AtBeforeRead, Doc: "the client has checked its lease, and is about to send its read"},
		{Name: AtBeforeWrite, Doc: "the client has checked its lease, and is about to send its write"},
		{Name: AtBeforeRelease, Doc: "the client has finished its work in the critical section, and is about to call release"},
		{Name: AtReleasing, Doc: "the client has called release, and is about to send the request"},
	}
}

// PointNames lists the names of points.
func PointNames(all []Point) []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return names
}

// CheckPoints returns what is wrong with the points that a lock or a workload adds.
func CheckPoints(points []Point) error {
	for i, p := range points {
		taken := slices.Contains(PointNames(points[:i]), p.Name) || slices.Contains(PointNames(SectionPoints()), p.Name) ||
			IsMessagePoint(p.Name)
		if p.Name == "" || p.Doc == "" || taken {
			return fmt.Errorf("point %q: the field `Name` or `Doc` is empty, or another point has this name already (perhaps a point of "+
				"every section)", p.Name)
		}
	}
	return nil
}
