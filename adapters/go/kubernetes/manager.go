package main

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const managerModule = "sigs.k8s.io/controller-runtime"

// managed is an election by a manager of controller-runtime: it runs what needs a leader with a context, which is sent.
func managed(config *rest.Config, lock resourcelock.Interface, name string, length time.Duration, keep bool,
	leading chan<- context.Context,
) (run func(context.Context), err error) {
	log.SetLogger(logr.Discard())
	renew, retry := length*2/3, length*2/15
	m, err := manager.New(config, manager.Options{
		LeaderElection: true, LeaderElectionID: name, LeaderElectionNamespace: namespace, LeaderElectionResourceLockInterface: lock,
		LeaseDuration: &length, RenewDeadline: &renew, RetryPeriod: &retry, LeaderElectionReleaseOnCancel: !keep,
		Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		return nil, err
	}
	err = m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		leading <- ctx
		<-ctx.Done()
		return nil
	}))
	return func(ctx context.Context) {
		m.Start(ctx) //nolint:errcheck // that the lease was lost, which the context has told
	}, err
}
