// Command controllerruntime is the leader election of a manager of controller-runtime, on the servers of the adapter
// kubernetes and with its words.
//
//	lockstorm run --backend exec:cmd=adapters/go/launch --ttl 8s --time 60s --nemesis partition-client -- controllerruntime keep
package main

import (
	"context"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/lockstorm/lockstorm/adapters/go/kubernetes/election"
)

func main() {
	log.SetLogger(logr.Discard())
	election.Main(election.Library{
		Name: "controllerruntime", Module: "sigs.k8s.io/controller-runtime", Signal: "the context of a Runnable", New: managed,
	})
}

// managed is an election by a manager: it runs what needs a leader with a context.
func managed(c election.Candidate) (run func(context.Context), err error) {
	m, err := manager.New(c.Config, manager.Options{
		LeaderElection: true, LeaderElectionID: c.Name, LeaderElectionNamespace: election.Namespace,
		LeaderElectionResourceLockInterface: c.Lock, LeaseDuration: &c.LeaseDuration, RenewDeadline: &c.RenewDeadline,
		RetryPeriod: &c.RetryPeriod, LeaderElectionReleaseOnCancel: c.ReleaseOnCancel,
		Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		return nil, err
	}
	err = m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		c.Leads(ctx)
		<-ctx.Done()
		return nil
	}))
	return func(ctx context.Context) {
		m.Start(ctx) //nolint:errcheck // that the lease was lost, which the context has told
	}, err
}
