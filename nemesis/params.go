package nemesis

import (
	"slices"
)

// The parameters that mean the same for every fault that has them.
const (
	paramAt      = "at"
	paramNth     = "nth"
	paramEvery   = "every"
	paramFor     = "for"
	paramClients = "clients"
	paramNodes   = "nodes"
	paramStay    = "stay"
	paramGrant   = "grant"
	paramUntil   = "until"
	paramWhile   = "while"
	paramMessage = "message"
)

// shared are the parameters that the engine reads; the others are a fault's own.
var shared = []string{paramAt, paramNth, paramEvery, paramFor, paramClients, paramNodes, paramStay, paramGrant, paramUntil, paramWhile, paramMessage}

// AtOnce is the length of faults that do not last.
const AtOnce = ""

// CommonParams say where, how often and how long: `at`, `nth`, `every` and, unless the
// length is AtOnce, `for`.
func CommonParams(length, every string) []Param {
	return append([]Param{
		{Name: paramAt, Doc: "the point at which the fault acts: a step of a client, such as `before-write`; or a message on its way, `request` or `reply`; or `random` for random times (default: points or random times that suit the fault)"},
		{Name: paramNth, Default: "1", Doc: "the fault acts when one client has reached the point this many times; after each injection the counts of all clients start again at 0"},
		{Name: paramMessage, Doc: "a word in a request, such as SET or COMMIT (in upper or lower case): with `at=request` the fault acts only at requests that contain this word; with `at=reply` the fault acts only at the first answer after such a request (default: every message)"},
	}, TimeParams(length, every)...)
}

// TimeParams say how often and how long, for faults that choose their moment themselves.
func TimeParams(length, every string) []Param {
	p := []Param{{Name: paramEvery, Default: every, Doc: "planned time from the start of one injection to the start of the next"}}
	if length != AtOnce {
		p = append(p, Param{Name: paramFor, Default: length, Doc: "how long each injection of the fault lasts: a duration or a multiple of the ttl"},
			Param{Name: paramUntil, Doc: "`granted`: the fault ends as soon as another client is granted the lock, but at the latest after the time that the parameter `for` gives (default: the fault ends only after this time)"})
	}
	return append(p, Param{Name: paramWhile, Doc: "the number of an earlier fault in the same command (1 is the first fault): the fault acts only while that earlier fault is active (default: at any time)"})
}

// UntilGranted ends a fault with the next grant to another client.
const UntilGranted = "granted"

// ClientParams are those of faults that hurt clients.
func ClientParams(length, every string) []Param {
	return append(CommonParams(length, every),
		Param{Name: paramClients, Default: "1", Doc: "which clients the fault hits: a number of clients, holder (a client that holds the lock), half, all, or names joined by +"})
}

// NodesParam chooses servers; those without data are only hurt when they are named.
func NodesParam(def string) Param {
	return Param{Name: paramNodes, Default: def, Doc: "which servers the fault hits: a number of servers (servers that granted the lock are chosen first), leader or master (both words mean the same), follower or replica (both words mean the same), majority, granted (all servers that granted the lock), all, or names joined by +"}
}

// ServerParams are those of faults that hurt servers, and the fault's own.
func ServerParams(length, every, nodes string, own ...Param) []Param {
	return append(append(CommonParams(length, every), NodesParam(nodes),
		Param{Name: paramClients, Doc: "only the steps of these clients count: the fault acts when one of these clients reaches the point; names joined by + (default: all clients)"},
		Param{Name: paramGrant, Default: GrantAny, Doc: "the fault acts only if this many servers have granted the lock to the client: any (any number of servers), all (all servers), or N (exactly N servers)"},
		StayParam()), own...)
}

// StayParam keeps the client of a tied fault at its point until the fault shows in what another
// client is granted: for faults of what clients share.
func StayParam() Param {
	return Param{Name: paramStay, Default: "0.9ttl", Doc: "longest time for which the fault stops the client at the point; if another client is granted the lock earlier, the stopped client goes on at once"}
}

// BehindParam keeps the holder, and not the client that is struck: see [Spec.Behind]. The session of a dead client outlives it
// by up to one ttl, and a tick of its server.
func BehindParam() Param {
	return Param{Name: paramStay, Default: "1.5ttl", Doc: "with `at=waiting`, and only if the lock renews its leases: longest time for which lockstorm stops the holder before its write, so that the place of the dead client in the queue ends while the lock is held; if another client is granted the lock earlier, the holder goes on at once"}
}

// What `grant` may say beside a number.
const (
	GrantAll = "all"
	GrantAny = "any"
)

// StrikingGrants gives `grant` another default.
func StrikingGrants(def string, p []Param) []Param {
	out := slices.Clone(p)
	for i := range out {
		if out[i].Name == paramGrant {
			out[i].Default = def
		}
	}
	return out
}

// ownParams are the parameters that only the fault knows.
func ownParams(v Values) Values {
	own := Values{}
	for name, val := range v {
		if !slices.Contains(shared, name) {
			own[name] = val
		}
	}
	if len(own) == 0 {
		return nil
	}
	return own
}
