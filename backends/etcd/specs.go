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
	one := spec("etcd-mutex", "concurrency.NewSession, NewMutex, Lock or TryLock, Unlock: a session for each time that the lock is taken",
		func(env backends.Env) backends.Locker { return mutex{newSessions(env, false)} })
	shared := spec("etcd-mutex-shared-session", "the same with one session for all locks of a client",
		func(env backends.Env) backends.Locker { return mutex{newSessions(env, true)} })
	service := spec("etcd-lock-rpc", "the lock service of the server: Lock and Unlock, under a lease of its own for each attempt, which the client keeps alive",
		func(env backends.Env) backends.Locker { return rpc{newSessions(env, false)} })
	office := spec("etcd-election", "concurrency.NewElection: Campaign takes the lock, Resign gives it back",
		func(env backends.Env) backends.Locker { return election{newSessions(env, true)} })
	service.NoTry, office.NoTry = true, true
	one.Fair, service.Fair, office.Fair = true, true, true // by the revision at which each asked
	control := spec("etcd-txn", "one key, created and deleted in transactions, under a lease for each try; the data is in etcd, and each write asks for the lock's key in its own transaction",
		func(env backends.Env) backends.Locker { return txn{newSessions(env, false)} })
	control.Register = "etcd"
	all := []backends.Spec{one, shared, service, office, control}
	for i := range all {
		all[i].Notes = "Times to live are whole seconds: others are rounded up. "
	}
	all[0].Notes += "Lock blocks while there is no connection, also when its context has ended: it deletes its key first, with a context that has no end."
	all[1].Notes += "A key under the session is its client's: an attempt whose answer was lost is taken up again by the next one."
	all[2].Notes += "A release is known to have freed the lock only if the lease still lives after it."
	all[4].Notes += "The positive control: two clients may believe that they hold it, but with --fencing on neither overwrites what it has not read."
	all[3].Notes += "As for etcd-lock-rpc, a release is known only if the lease lives."
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
				return nil, errors.New("this lock needs an etcd server: choose an etcd-... topology")
			}
			return open(env), nil
		},
	}
}
