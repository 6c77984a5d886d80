package nemesis

import (
	"slices"

	"github.com/lockstorm/lockstorm/catalog"
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
func CommonParams(length, every string) []catalog.Param {
	return append([]catalog.Param{
		{Name: paramAt, Doc: "the point at which the fault strikes, such as `before-write` (a step of a client) or `request` and `reply` (a message on its way); `random` for random times (default: points and random times that suit the fault)"},
		{Name: paramNth, Default: "1", Doc: "the fault strikes as soon as one client has reached the point this many times; the counts of all clients restart with each injection"},
		{Name: paramMessage, Doc: "with `at=request`: only requests that contain this word count, such as SET or COMMIT (in upper or lower case); with `at=reply`: only the first answer after each such request counts (default: every message)"},
	}, TimeParams(length, every)...)
}

// TimeParams say how often and how long, for faults that choose their moment themselves.
func TimeParams(length, every string) []catalog.Param {
	p := []catalog.Param{{Name: paramEvery, Default: every, Doc: "time from one injection to the next"}}
	if length != AtOnce {
		p = append(p, catalog.Param{Name: paramFor, Default: length, Doc: "how long the fault lasts: a duration or a multiple of the ttl"},
			catalog.Param{Name: paramUntil, Doc: "`granted`: the fault ends as soon as another client is granted the lock, and after `for` at the latest (default: it lasts for `for`)"})
	}
	return append(p, catalog.Param{Name: paramWhile, Doc: "the fault strikes only while an earlier fault of the command is active: the number of that fault, from 1 (default: at any time)"})
}

// UntilGranted ends a fault with the next grant to another client.
const UntilGranted = "granted"

// ClientParams are those of faults that hurt clients.
func ClientParams(length, every string) []catalog.Param {
	return append(CommonParams(length, every),
		catalog.Param{Name: paramClients, Default: "1", Doc: "which clients: how many (a number), holder (a client that holds the lock), half, all, or names joined by +"})
}

// NodesParam chooses servers; those without data are only hurt when they are named.
func NodesParam(def string) catalog.Param {
	return catalog.Param{Name: paramNodes, Default: def, Doc: "which servers the fault strikes: a number (of servers; those that granted the lock are chosen first), leader (the same as master), follower (the same as replica), majority, granted (all servers that granted the lock), all, or names joined by +"}
}

// ServerParams are those of faults that hurt servers, and the fault's own.
func ServerParams(length, every, nodes string, own ...catalog.Param) []catalog.Param {
	return append(append(CommonParams(length, every), NodesParam(nodes),
		catalog.Param{Name: paramClients, Doc: "the fault strikes when one of these clients reaches the point: names joined by + (default: all)"},
		catalog.Param{Name: paramGrant, Default: GrantAny, Doc: "which grants the fault strikes, by the number of servers that granted the lock: any: all grants; all: grants by all servers; N: grants by exactly N servers"},
		StayParam()), own...)
}

// StayParam keeps the client of a tied fault at its point until the fault shows in what another
// client is granted: for faults of what clients share.
func StayParam() catalog.Param {
	return catalog.Param{Name: paramStay, Default: "0.9ttl", Doc: "longest time for which the fault stops the client at the point; the client goes on earlier if another client is granted the lock"}
}

// What `grant` may say beside a number.
const (
	GrantAll = "all"
	GrantAny = "any"
)

// StrikingGrants gives `grant` another default.
func StrikingGrants(def string, p []catalog.Param) []catalog.Param {
	out := slices.Clone(p)
	for i := range out {
		if out[i].Name == paramGrant {
			out[i].Default = def
		}
	}
	return out
}

// ownParams are the parameters that only the fault knows.
func ownParams(v catalog.Values) catalog.Values {
	own := catalog.Values{}
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
