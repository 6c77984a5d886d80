package nemesis

import (
	"slices"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
)

// atOnce is the length of faults that do not last.
const atOnce = ""

// The parameters that mean the same for every fault that has them.
func common(length, every string) []catalog.Param {
	p := []catalog.Param{
		{Name: "at", Doc: "a point to strike at, or `random` for random times (default: a mix that hurts)"},
		{Name: "nth", Default: "1", Doc: "strike when the point is reached for the nth time, counted anew for each injection"},
		{Name: "every", Default: every, Doc: "time from one injection to the next"},
	}
	if length != atOnce {
		p = append(p, catalog.Param{Name: "for", Default: length, Doc: "how long the fault lasts: a duration or a multiple of the ttl"})
	}
	return p
}

func clientParams(length, every string) []catalog.Param {
	return append(common(length, every), clientsParam)
}

var clientsParam = catalog.Param{Name: "clients", Default: "1", Doc: "how many clients, or holder, all, half, or names joined by +"}

// nodesParam chooses servers; those without data are only hurt when they are named.
func nodesParam(def string) catalog.Param {
	return catalog.Param{Name: "nodes", Default: def, Doc: "how many servers (those that granted first), or master, replica, granted, all, or names joined by +"}
}

func serverParams(length, every, nodes string, own ...catalog.Param) []catalog.Param {
	return append(append(common(length, every), nodesParam(nodes),
		catalog.Param{Name: "clients", Doc: "whose points count: names joined by + (default: everybody's)"},
		catalog.Param{Name: paramGrant, Default: grantAny, Doc: "any; all: strike only under a grant that every server gave; N: that N servers gave"},
		catalog.Param{Name: "stay", Default: "0.9ttl", Doc: "how long the client stays at the point, at most (until another one is granted)"}), own...)
}

// The parameter that says which grants a tied fault strikes.
const (
	paramGrant = "grant"
	grantAll   = "all"
	grantAny   = "any"
)

// strikingGrants gives `grant` another default.
func strikingGrants(def string, p []catalog.Param) []catalog.Param {
	for i := range p {
		if p[i].Name == paramGrant {
			p[i].Default = def
		}
	}
	return p
}

// Specs are the faults for the catalogue.
func Specs() []Spec {
	return slices.Concat(
		[]Spec{{Name: "none", Doc: "no faults"}},
		clientSpecs(), linkSpecs(), serverSpecs(), failoverSpecs(), clockSpecs(), storeSpecs(),
		[]Spec{chaosSpec()},
	)
}

func clientSpecs() []Spec {
	return []Spec{
		{
			Name: "client-pause", Doc: "SIGSTOP of a whole client process, its renewer included: what a long GC pause does",
			Proven: "Every thread of the process group is in state T, read from /proc. Healed by SIGCONT.",
			Family: history.FamilyClient, Whom: Clients, Params: clientParams("1.5ttl", "2.5ttl"), Strikes: strikeHolder, Fault: ClientPause{},
		},
		{
			Name: "client-stall", Doc: "only the goroutine in the critical section stops; the client's renewer lives",
			Proven: "The client's own log shows it at the point. Healed by letting it go on.",
			Family: history.FamilyClient, Whom: Clients, Params: clientParams("1.5ttl", "2.5ttl"), Strikes: strikeHolder, Fault: ClientStall{},
		},
		{
			Name: "client-kill", Doc: "kill -9 of a client while it waits, holds or releases; a new client takes its place",
			Proven: "The process has been waited for, and a new client has taken its place. The kill is on record before its signal. There is nothing to heal.",
			Family: history.FamilyClient, Whom: Clients, Params: clientParams(atOnce, "2.5ttl"), Strikes: strikeKill, Fault: ClientKill{},
		},
	}
}

func serverSpecs() []Spec {
	return []Spec{
		{
			Name: "server-pause", Doc: "SIGSTOP of a server, then SIGCONT",
			Proven: "Every thread is in state T. Its sockets still accept and buffer: what clients send meanwhile is carried out after SIGCONT, the heal.",
			Family: history.FamilyServer, Whom: Nodes, Params: serverParams("1.5ttl", "3ttl", "1"), Strikes: strikeGrant, Fault: ServerPause{},
		},
		{
			Name: "server-restart", Doc: "kill -9 of a server and start at once with what its topology kept",
			Proven: "The server answers again under another process id. There is nothing to heal.",
			Family: history.FamilyServer, Whom: Nodes, Params: serverParams(atOnce, "2ttl", "1"), Strikes: strikeGrant, Fault: ServerRestart{},
		},
		{
			Name: "server-kill", Doc: "kill -9 of a server, which stays down and is then started with what its topology kept",
			Proven: "The process has been waited for. Healed by starting it again, until it answers.",
			Family: history.FamilyServer, Whom: Nodes, Params: serverParams("1.5ttl", "3ttl", "1"), Strikes: strikeGrant, Fault: ServerKill{},
		},
		{
			Name: "slow-server", Doc: "a server that runs only a part of the time: stopped and resumed again and again",
			Proven: "Every thread is in state T for the first time. Healed when it runs for good.",
			Family: history.FamilyServer, Whom: Nodes, Strikes: strikeGrant, Fault: SlowServer{},
			Params: serverParams("1.5ttl", "3ttl", "1",
				catalog.Param{Name: paramShare, Default: "0.8", Doc: "the part of the time in which it is stopped"},
				catalog.Param{Name: paramPeriod, Default: "50ms", Doc: "one stop and one run together"}),
		},
	}
}

// strikeHolder ties every other step to a holder that is about to write or to release.
func strikeHolder(k int, _ []string) string {
	return []string{"before-write", Random, "before-release", Random}[k%4]
}

// strikeKill begins with the backend's own first point, where it has one, else with a
// holder; then waiting, random, releasing.
func strikeKill(k int, own []string) string {
	if k == 0 && len(own) > 0 {
		return own[0]
	}
	return []string{"before-write", "waiting", Random, "releasing"}[k%4]
}

// strikeGrant ties every other step to a fresh grant, whose holder stays.
func strikeGrant(k int, _ []string) string {
	return []string{pointGranted, Random}[k%2]
}
