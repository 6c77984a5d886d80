package nemesis

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/params"
)

// atOnce is the length of faults that do not last.
const atOnce = ""

// The parameters that mean the same for every fault that has them.
func common(length, every string) []params.Param {
	p := []params.Param{
		{Name: "at", Doc: "a point to strike at, or `random` for random times (default: a mix that hurts)"},
		{Name: "nth", Default: "1", Doc: "strike when the point is reached for the nth time, counted anew for each injection"},
		{Name: "every", Default: every, Doc: "time from one injection to the next"},
	}
	if length != atOnce {
		p = append(p, params.Param{Name: "for", Default: length, Doc: "how long the fault lasts: a duration or a multiple of the ttl"})
	}
	return p
}

func clientParams(length, every string) []params.Param {
	return append(common(length, every),
		params.Param{Name: "clients", Default: "1", Doc: "how many clients, or holder, or names joined by +"})
}

func serverParams(length, every string) []params.Param {
	return append(common(length, every),
		params.Param{Name: "nodes", Default: "1", Doc: "how many servers, or a role (master), or names joined by +"},
		params.Param{Name: "stay", Default: "0.9ttl", Doc: "how long the client stays at the point, at most (until another one is granted)"})
}

// Specs are the faults for the catalogue.
func Specs() []Spec {
	return []Spec{
		{Name: "none", Doc: "no faults"},
		{
			Name: "client-pause", Doc: "SIGSTOP of a whole client process, its renewer included: what a long GC pause does",
			Family: history.FamilyClient, Params: clientParams("1.5ttl", "2.5ttl"), Strikes: strikeHolder, Fault: ClientPause{},
		},
		{
			Name: "client-stall", Doc: "only the goroutine in the critical section stops; the client's renewer lives",
			Family: history.FamilyClient, Params: clientParams("1.5ttl", "2.5ttl"), Strikes: strikeHolder, Fault: ClientStall{},
		},
		{
			Name: "client-kill", Doc: "kill -9 of a client while it waits, holds or releases; a new client takes its place",
			Family: history.FamilyClient, Params: clientParams(atOnce, "2.5ttl"), Strikes: strikeKill, Fault: ClientKill{},
		},
		{
			Name: "server-pause", Doc: "SIGSTOP of a server, then SIGCONT",
			Family: history.FamilyServer, Params: serverParams("1.5ttl", "3ttl"), Strikes: strikeGrant, Fault: ServerPause{},
		},
		{
			Name: "server-restart", Doc: "kill -9 of a server and start with what its topology kept",
			Family: history.FamilyServer, Params: serverParams(atOnce, "2ttl"), Strikes: strikeGrant, Fault: ServerRestart{},
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
	return []string{"acquired", Random}[k%2]
}
