package faults

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func leaderPause() nemesis.Spec {
	return nemesis.Spec{
		Name: "leader-pause", Also: []string{"failover-pause"}, Doc: "pauses the leader (SIGSTOP), waits until another server leads, " +
			"and resumes it",
		Proven: "Every thread was stopped; another leads, as for leader-kill.",
		End:    "SIGCONT; at first the old leader still believes that it leads.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, OfMaster: true, Takes: failoverTakes,
		Fault: fault{needsFleet, replaced(injectServerPause)}, Params: nemesis.ServerParams("0.5ttl", "4ttl", nemesis.RoleMaster),
	}
}
