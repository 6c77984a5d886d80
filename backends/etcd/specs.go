package etcd

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

const module = "go.etcd.io/etcd/client/v3 v3.7.3"

// Specs are the locks on etcd for the catalogue.
func Specs() []backends.Spec {
	one := spec("etcd-mutex", "the mutex of etcd's Go package `concurrency` (NewMutex, Lock or TryLock, Unlock), with a new session (a lease of etcd) for each acquire",
		func(env backends.Env) backends.Locker { return mutex{newSessions(env, false)} })
	shared := spec("etcd-mutex-shared-session", "like etcd-mutex, but with one session for all locks of a client",
		func(env backends.Env) backends.Locker { return mutex{newSessions(env, true)} })
	service := spec("etcd-lock-rpc", "etcd's lock service (the RPCs Lock and Unlock); the client creates a lease for each attempt to acquire, and renews the lease",
		func(env backends.Env) backends.Locker { return rpc{newSessions(env, false)} })
	office := spec("etcd-election", "the election of etcd's Go package `concurrency` (NewElection): Campaign acquires the lock, Resign releases the lock",
		func(env backends.Env) backends.Locker { return election{newSessions(env, true)} })
	service.NoTry, office.NoTry = true, true
	one.Fair, service.Fair, office.Fair = true, true, true // by the revision at which each asked
	control := spec("etcd-txn", "the lock is a key in etcd, created and deleted in transactions, with a lease for each attempt to acquire; the data is in etcd too, and each write checks the lock's key in the same transaction",
		func(env backends.Env) backends.Locker { return txn{newSessions(env, false)} })
	control.Register = "etcd"
	all := []backends.Spec{one, shared, service, office, control}
	for i := range all {
		all[i].Notes = "Times to live are rounded up to whole seconds. "
	}
	all[0].Notes += "If the connection is lost, a call of the method Lock does not return even after its context has ended: Lock then tries to delete its key, and this request has no time-out."
	all[1].Notes += "All attempts of a client to acquire the same lock use the same key, because the attempts share a session. So if the answer to an attempt was lost, the next attempt of the client takes over the key of the earlier attempt."
	all[2].Notes += "A release counts as successful only if the lease is still alive after the release. If the lease has ended, the end of the lease may have freed the lock before the release."
	all[4].Notes += "This backend is a control (its right result is known): with --fencing on, no client overwrites a value that it has not read. Two clients may still believe at the same time that they hold the lock."
	all[3].Notes += "As with etcd-lock-rpc, a release counts as successful only if the lease is still alive after the release."
	return all
}

func spec(name, doc string, open func(backends.Env) backends.Locker) backends.Spec {
	return backends.Spec{
		Name: name, Doc: doc, Library: module,
		Topologies: []string{Single, Three}, Model: history.Model{Session: true}, Ends: history.EndsSession,
		Tokens: true, Renews: true, Keys: keys,
		Signals: []backends.Signal{{Kind: backends.SignalChannel, Name: "Session.Done"}},
		// Leases are looked at twice a second; a client that was cut off dials again after a pause that
		// grows with each try.
		Recovery: 4 * time.Second,
		Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
			if len(env.Nodes) == 0 {
				return nil, errors.New("this lock needs an etcd server: use --topology etcd-... (`lockstorm list topologies` shows them)")
			}
			return open(env), nil
		},
	}
}
