package faults

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func leaderKill() nemesis.Spec {
	return nemesis.Spec{
		Name: "leader-kill", Doc: "kills the leader (kill -9), waits until another server leads, and starts it again",
		Proven: "It died of SIGKILL; the other servers, or a majority of the supervisors, chose another, which reports itself as " +
			"leader.",
		End:    "The old leader is started, and answers.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, OfMaster: true, Takes: failoverTakes,
		Fault: fault{needsFleet, replaced(injectServerKill)}, Params: nemesis.ServerParams("0.5ttl", "4ttl", nemesis.RoleLeader),
	}
}
