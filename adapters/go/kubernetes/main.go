// Command kubernetes is the leader election of client-go, as its users have it: see the package election.
//
//	lockstorm run --backend exec:cmd=adapters/go/launch --ttl 8s --time 60s --nemesis partition-client -- kubernetes keep
package main

import (
	"context"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/lockstorm/lockstorm/adapters/go/kubernetes/election"
)

func main() {
	election.Main(election.Library{
		Name: "kubernetes", Module: "k8s.io/client-go", Signal: "the context of OnStartedLeading", New: elected,
	})
}

func elected(c election.Candidate) (run func(context.Context), err error) {
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: c.Lock, LeaseDuration: c.LeaseDuration, RenewDeadline: c.RenewDeadline, RetryPeriod: c.RetryPeriod,
		ReleaseOnCancel: c.ReleaseOnCancel, Name: c.Name,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: c.Leads, OnStoppedLeading: func() {}},
	})
	if err != nil {
		return nil, err
	}
	return elector.Run, nil
}
