package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

const module = "github.com/go-zookeeper/zk v1.0.4"

// Parameters of the locks.
const (
	paramLostOn = "lost-on"
	paramToken  = "token"
)

func lostOnParam(def string) catalog.Param {
	return catalog.Param{Name: paramLostOn, Default: def, Doc: "the event after which a client regards its lock as lost: disconnect (the connection is lost) or expiry (a server says that the session has ended)"}
}

func tokenParam(of ...string) catalog.Param {
	return catalog.Param{Name: paramToken, Default: of[0], Doc: fmt.Sprintf("the value that serves as the fencing token: one of %v; ZooKeeper gives these values to the client's znode (an entry in ZooKeeper's tree)", of)}
}

// Specs are the locks on ZooKeeper for the catalogue.
func Specs() []backends.Spec {
	inQueue := func(q queue) opener {
		return func(s *session, v catalog.Values) backends.Locker {
			one := q
			one.s, one.token = s, v[paramToken]
			return &one
		}
	}
	ofNode := func(recheck bool) opener {
		return func(s *session, v catalog.Values) backends.Locker {
			return &exclusive{s: s, token: v[paramToken], recheck: recheck}
		}
	}
	queued := []catalog.Param{lostOnParam(onDisconnect), tokenParam(tokenCzxid, tokenSequence, tokenVersion)}
	fixed := []catalog.Param{lostOnParam(onDisconnect), tokenParam(tokenCzxid, tokenVersion)}
	rw := spec("zk-rwlock", "a queue of sequential znodes for readers and writers: a reader watches the znode of the nearest writer ahead of it in the queue; a writer watches the znode just ahead of its own",
		queued, inQueue(queue{recheck: true, shared: true}))
	rw.Model.Kind = history.ModelReadWrite
	article := spec("zk-seed001", "a flawed lock from an article: sequential znodes; a client calls exists() and then wait(), and misses a notification that arrives between the two calls",
		[]catalog.Param{lostOnParam(onDisconnect)}, func(s *session, _ catalog.Values) backends.Locker {
			return &seed001{s: s, current: map[string]string{}}
		})
	article.Points = []backends.Point{{Name: pointBetween, Doc: "the client has set the watch on the preceding znode, but does not wait for a notification yet"}}
	article.Notes = "This lock is flawed on purpose. A notification that arrives between exists() and wait() does not wake the client, and the client does not check again. After a failed tryLock, the znode of the client stays in the queue until the client acquires the lock with the same object, or until the session ends."
	shipped := spec("zk-library", "the lock of the Go library go-zookeeper/zk v1.0.4 (zk.NewLock, Lock, Unlock)", []catalog.Param{lostOnParam(onExpiry)},
		func(s *session, _ catalog.Values) backends.Locker { return &library{s} })
	shipped.NoTry = true
	shipped.Notes = "The method Lock takes no context and no time-out. If Unlock returns an error, the lock's znode may still exist. A znode that Unlock did not delete blocks all other clients until the session ends. The library has no token, so lockstorm uses the znode's czxid (the number of the transaction that created the znode) as the token. lockstorm finds the znode by the data that the znode contains."
	one := spec("zk-exclusive", "one ephemeral znode (an entry in ZooKeeper's tree) with a fixed name: the client that creates the znode holds the lock; all other clients watch the znode, and the deletion of the znode wakes all of them", fixed, ofNode(true))
	one.Notes = "All clients use the same name for the znode. With several servers, a request to delete the znode can wait for a new connection so long that the client's session expires. The client then sends the old delete request in its next session, and can delete another client's znode."
	return []backends.Spec{
		one,
		flawed(spec("zk-exclusive-norecheck", "one ephemeral znode with a fixed name; a client that is woken believes that it holds the lock, and does not check whether it could create the znode", fixed, ofNode(false)),
			"a client that is woken believes that it holds the lock, even if another client has created the znode first."),
		fair(spec("zk-sequential", "a queue of sequential ephemeral znodes: each client watches the znode before its own, and checks the queue again when that znode is deleted",
			queued, inQueue(queue{recheck: true}))),
		flawed(spec("zk-sequential-norecheck", "a queue of sequential ephemeral znodes; a client believes that it holds the lock as soon as the znode before its own is deleted",
			queued, inQueue(queue{})), "when the znode just before a client's own znode is deleted, the client believes that it holds the lock. But the deleted znode may belong to a client that died while it waited for the lock, so another client may still hold the lock."),
		rw, article, shipped,
	}
}

// fair is a lock that is granted in the order of requests.
func fair(s backends.Spec) backends.Spec {
	s.Fair = true
	return s
}

func flawed(s backends.Spec, why string) backends.Spec {
	s.Notes = "This lock is flawed on purpose: " + why
	return s
}

type opener func(s *session, v catalog.Values) backends.Locker

func spec(name, doc string, params []catalog.Param, open opener) backends.Spec {
	return backends.Spec{
		Name: name, Doc: doc, Library: module,
		Topologies: []string{Single, Three}, Model: history.Model{Session: true}, Ends: history.EndsSession,
		Tokens: true, Renews: true, Params: params, With: with,
		Signals: []backends.Signal{{Kind: backends.SignalChannel, Name: "the session events of zk.Connect"}},
		// A client that has tried all servers in vain waits a second before it tries them again, and one whose
		// session is over needs another one.
		Recovery: 4 * time.Second,
		Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
			if len(env.Nodes) == 0 {
				return nil, errors.New("this lock needs a ZooKeeper server: use --topology zk-... (`lockstorm list topologies` shows them)")
			}
			return open(&session{env: env, lostOn: env.Values[paramLostOn]}, env.Values), nil
		},
	}
}

// with refuses values that are wrong.
func with(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	if l := v[paramLostOn]; l != onDisconnect && l != onExpiry {
		return s, fmt.Errorf("%s=%s: choose %s or %s", paramLostOn, l, onDisconnect, onExpiry)
	}
	if t := v[paramToken]; t != "" && !slices.Contains([]string{tokenCzxid, tokenSequence, tokenVersion}, t) {
		return s, fmt.Errorf("%s=%s: choose %s, %s or %s", paramToken, t, tokenCzxid, tokenSequence, tokenVersion)
	}
	return s, nil
}
