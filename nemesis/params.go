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
var shared = []string{
	paramAt, paramNth, paramEvery, paramFor, paramClients, paramNodes, paramStay, paramGrant, paramUntil,
	paramWhile, paramMessage,
}

// AtOnce is the length of faults that do not last.
const AtOnce = ""

// CommonParams returns where, how often and how long: `at`, `nth`, `every` and, unless the length is AtOnce, `for`.
func CommonParams(length, every string) []Param {
	return append([]Param{
		{Name: paramAt, Doc: "where it strikes: a step of a client (`before-write`), a message (`request` or `reply`), or `random` " +
			"times (default: what suits the fault)"},
		{Name: paramNth, Default: "1", Doc: "when one client has reached the point this many times; each injection resets all counts"},
		{Name: paramMessage, Doc: "a word such as SET or COMMIT, in any case: with `at=request` only requests with it count, with " +
			"`at=reply` only the first answer after one (default: every message)"},
	}, TimeParams(length, every)...)
}

// TimeParams returns how often and how long, for faults that choose their moment themselves.
func TimeParams(length, every string) []Param {
	p := []Param{{Name: paramEvery, Default: every, Doc: "planned time from one start to the next"}}
	if length != AtOnce {
		p = append(p, Param{Name: paramFor, Default: length, Doc: "how long each injection lasts"},
			Param{Name: paramUntil, Doc: "`granted`: ends already when another client is granted the lock (default: only after `for`)"})
	}
	return append(p, Param{Name: paramWhile, Doc: "the number of an earlier fault in the command (1 is the first): strikes only " +
		"while that one is active"})
}

// UntilGranted ends a fault with the next grant to another client.
const UntilGranted = "granted"

// ClientParams returns the parameters of faults that hurt clients.
func ClientParams(length, every string) []Param {
	return append(CommonParams(length, every),
		Param{Name: paramClients, Default: "1", Doc: "which clients it hits: a number, holder, half, all, or names joined by +"})
}

// NodesParam returns the parameter that chooses servers; those without data are hurt only if they are named.
func NodesParam(def string) Param {
	return Param{Name: paramNodes, Default: def, Doc: "which servers it hits: a number (those that granted the lock first), " +
		"leader or master (the same), follower or replica (the same), majority, granted (all that granted the lock), all, or names " +
		"joined by +"}
}

// ServerParams returns the parameters of faults that hurt servers, and the fault's own.
func ServerParams(length, every, nodes string, own ...Param) []Param {
	return append(append(CommonParams(length, every), NodesParam(nodes),
		Param{Name: paramClients, Doc: "whose steps count for `at`: names joined by + (default: all)"},
		Param{Name: paramGrant, Default: GrantAny, Doc: "strikes only if this many servers granted the lock: any, all, or exactly N"},
		StayParam()), own...)
}

// StayParam returns the parameter that keeps the client of a tied fault at its point until the fault shows in a grant
// to another client: for faults of what clients share.
func StayParam() Param {
	return Param{Name: paramStay, Default: "0.9ttl", Doc: "longest time that the client is kept at the point, unless another " +
		"client is granted the lock earlier"}
}

// BehindParam returns the parameter that keeps the holder, and not the client that is struck: see [Spec.Behind]. The
// session of a dead client outlives it by up to one ttl, and a tick of its server.
func BehindParam() Param {
	return Param{Name: paramStay, Default: "1.5ttl", Doc: "with `at=waiting`, if the lock renews its leases: longest time that " +
		"the holder is kept before its write, so that the dead client's place in the queue ends meanwhile, unless another client is " +
		"granted the lock earlier"}
}

// Values of `grant` beside a number.
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
