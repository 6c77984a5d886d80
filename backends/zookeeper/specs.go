package zookeeper

import (
	"context"
	"errors"
	"fmt"
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
	return catalog.Param{Name: paramLostOn, Default: def, Doc: "when the lock counts as lost: disconnect (connection lost) or " +
		"expiry (a server says that the session ended)", Choices: []string{onDisconnect, onExpiry}}
}

func tokenParam(of ...string) catalog.Param {
	return catalog.Param{Name: paramToken, Default: of[0], Doc: fmt.Sprintf("the fencing token, of the client's znode: one of %v",
		of), Choices: of}
}

// Specs returns the locks on ZooKeeper.
func Specs() []backends.Spec {
	inQueue := func(q queue) opener {
		return func(s *session, v catalog.Values) backends.Locker {
			one := q
			one.session, one.token = s, v[paramToken]
			return &one
		}
	}
	ofNode := func(recheck bool) opener {
		return func(s *session, v catalog.Values) backends.Locker {
			return &exclusive{session: s, token: v[paramToken], recheck: recheck}
		}
	}
	queued := []catalog.Param{lostOnParam(onDisconnect), tokenParam(tokenCzxid, tokenSequence, tokenVersion)}
	fixed := []catalog.Param{lostOnParam(onDisconnect), tokenParam(tokenCzxid, tokenVersion)}
	rw := spec("zk-rwlock", "a queue for readers and writers: a reader watches the nearest writer ahead, a writer the znode "+
		"just ahead",
		queued, inQueue(queue{recheck: true, shared: true}))
	rw.Model.Kind = history.ModelReadWrite
	article := spec("zk-seed001", "an article's lock: sequential znodes; exists(), then wait() misses a notification in between",
		[]catalog.Param{lostOnParam(onDisconnect)}, func(s *session, _ catalog.Values) backends.Locker {
			return &seed001{session: s, current: map[string]string{}}
		})
	article.Points = []backends.Point{{Name: pointBetween, Doc: "the watch is set, the client doesn't wait yet"}}
	article.Notes = "Flawed on purpose: nobody checks again after a missed notification. After a failed tryLock the znode stays " +
		"in the queue until the same object acquires or the session ends."
	shipped := spec("zk-library", "go-zookeeper/zk v1.0.4: zk.NewLock, Lock, Unlock", []catalog.Param{lostOnParam(onExpiry)},
		func(s *session, _ catalog.Values) backends.Locker { return &library{s} })
	shipped.NoTry = true
	shipped.Notes = "Lock takes no context and no time-out. A znode that a failed Unlock left behind blocks everyone until the " +
		"session ends. It has no token: the znode's czxid, found by the znode's data, stands for it."
	one := spec("zk-exclusive", "one ephemeral znode with a fixed name: who creates it holds the lock; its deletion wakes "+
		"all others", fixed, ofNode(true))
	one.Notes = "With several servers, a delete request can wait for a connection until the session has expired, is sent in the " +
		"next session, and deletes another client's znode."
	return []backends.Spec{
		one,
		flawed(spec("zk-exclusive-norecheck", "zk-exclusive, but a woken client believes that it holds the lock without checking",
			fixed, ofNode(false)),
			"somebody else may have created the znode first."),
		fair(spec("zk-sequential", "a queue of sequential ephemeral znodes: each client watches the one before its own, and checks "+
			"the queue again when that goes",
			queued, inQueue(queue{recheck: true}))),
		flawed(spec("zk-sequential-norecheck", "zk-sequential, but a client believes that it holds the lock as soon as the znode "+
			"before its own goes",
			queued, inQueue(queue{})), "that znode may belong to a client that died while waiting."),
		rw, article, shipped,
	}
}

// fair is a lock that is granted in the order of requests.
func fair(s backends.Spec) backends.Spec {
	s.Fair = true
	return s
}

func flawed(s backends.Spec, why string) backends.Spec {
	s.Notes = "Flawed on purpose: " + why
	return s
}

type opener func(s *session, v catalog.Values) backends.Locker

func spec(name, doc string, params []catalog.Param, open opener) backends.Spec {
	return backends.Spec{
		Name: name, Doc: doc, Library: module,
		Topologies: topologies, Model: history.Model{Session: true}, Ends: history.EndsSession,
		Tokens: true, Renews: true, Params: params,
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
