package etcd

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

const module = "go.etcd.io/etcd/client/v3 v3.7.3"

// Specs returns the locks on etcd.
func Specs() []backends.Spec {
	one := spec("etcd-mutex", "etcd's Go package `concurrency`: NewMutex, Lock or TryLock, Unlock, with a new session for each "+
		"acquire",
		func(env backends.Env) backends.Locker { return mutex{newSessions(env, false)} })
	shared := spec("etcd-mutex-shared-session", "etcd-mutex with one session for all locks of a client",
		func(env backends.Env) backends.Locker { return mutex{newSessions(env, true)} })
	service := spec("etcd-lock-rpc", "etcd's lock service (RPCs Lock, Unlock), with a lease for each attempt that the client renews",
		func(env backends.Env) backends.Locker { return rpc{newSessions(env, false)} })
	office := spec("etcd-election", "etcd's Go package `concurrency`: NewElection, Campaign, Resign",
		func(env backends.Env) backends.Locker { return election{newSessions(env, true)} })
	service.NoTry, office.NoTry = true, true
	one.Fair, service.Fair, office.Fair = true, true, true // by the revision at which each asked
	control := spec("etcd-txn", "a key created and deleted in transactions, with a lease for each attempt; the data is in etcd "+
		"too, and each write checks the key",
		func(env backends.Env) backends.Locker { return txn{newSessions(env, false)} })
	control.Register = "etcd"
	all := []backends.Spec{one, shared, service, office, control}
	all[0].Notes = "Ttl in whole seconds, rounded up, as for all locks on etcd. Without a connection, Lock doesn't return even " +
		"when its context ends: it deletes its key, without a time-out."
	all[1].Notes = "All attempts of a client share a key: the one after a lost answer takes over the earlier one's key."
	all[2].Notes = "A release counts only if the lease is alive afterwards; else its end may have freed the lock first."
	all[4].Notes = "A control: with --fencing on nobody overwrites a value that he hasn't read. Two clients may still believe " +
		"that they hold the lock."
	all[3].Notes = "A release counts as for etcd-lock-rpc."
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
