package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
)

// Names of parameters.
const (
	paramIsolation  = "isolation"
	paramKey        = "key"
	paramResolution = "resolution"
	paramHeartbeat  = "heartbeat"
	paramClock      = "clock"
	paramScope      = "scope"
	paramWatch      = "watch"
	paramIdle       = "idle"
	paramKeepalive  = "keepalive"
	paramUnheard    = "user-timeout"
)

// isolations are the levels by their short names; the default is that of the engine.
var isolations = map[string]string{
	"default": "", "read-committed": "READ COMMITTED", "repeatable-read": "REPEATABLE READ", "serializable": "SERIALIZABLE",
}

var (
	isolationParam = catalog.Param{Name: paramIsolation, Default: "default", Doc: "of the transactions: default, read-committed, repeatable-read or serializable"}
	watchParam     = catalog.Param{Name: paramWatch, Default: "0s", Doc: "how often a holder asks the server for nothing, to see whether its connection lives; 0s: never"}
	idleParam      = catalog.Param{Name: paramIdle, Default: "0s", Doc: "after so long without a statement the server ends the connection (idle_session_timeout, wait_timeout): the lock has a lease then; 0s: never"}
	keepaliveParam = catalog.Param{Name: paramKeepalive, Default: "0s", Doc: "after so long without a packet the server's kernel asks that of the client, once, and ends the connection if nothing comes in so long again (tcp_keepalives_idle, _interval, _count=1; whole seconds; with user-timeout, when that is over); 0s: as the kernel has it, two hours"}
	unheardParam   = catalog.Param{Name: paramUnheard, Default: "0s", Doc: "after so long without acknowledgement of what it sent the server's kernel ends the connection (tcp_user_timeout); 0s: as the kernel has it, a quarter of an hour"}
)

// both are all topologies of both engines.
func both() []string { return append(alone(), append(ofPostgres()[1:], ofMariaDB()[1:]...)...) }

// alone are those of one server.
func alone() []string { return []string{Postgres, MariaDB} }

func ofPostgres() []string { return []string{Postgres, PostgresReplica, PostgresReplicaSync} }

func ofMariaDB() []string { return []string{MariaDB, MariaDBReplica, MariaDBReplicaSync} }

// Specs are the locks on databases for the catalogue.
func Specs() []backends.Spec {
	return append(rowSpecs(), append(optimisticSpecs(), lockSpecs()...)...)
}

// spec is what they share. A database that was killed takes a while to recover, and a connection
// that has ended is dialled again at the next request.
func spec(name, doc string, open func(env backends.Env) (backends.Locker, error)) backends.Spec {
	return backends.Spec{
		Name: name, Doc: doc, Topologies: both(), Ends: history.EndsConnection, Connected: true, Recovery: time.Second,
		Open: func(_ context.Context, env backends.Env) (backends.Locker, error) { return open(env) },
	}
}

func rowSpecs() []backends.Spec {
	rowLock := spec("sql-for-update", "SELECT ... FOR UPDATE of a row that is there; the data is read and written in the same transaction",
		func(env backends.Env) (backends.Locker, error) {
			s, err := newSession(env)
			return &rows{session: s, table: tableData, isolation: isolations[env.Values[paramIsolation]]}, err
		})
	rowLock.Settles, rowLock.Params, rowLock.With = true, []catalog.Param{isolationParam}, withIsolation
	rowLock.Notes = "What counts is what is committed: two clients may believe that they hold the row, where the server has ended the connection of one, and only one of them can commit."

	missing := spec("sql-for-update-missing-row", "SELECT ... FOR UPDATE of a row that need not be there: who finds none believes that nobody has it, and inserts it in the same transaction",
		func(env backends.Env) (backends.Locker, error) {
			s, err := newSession(env)
			table := map[string]string{"yes": tableData, "no": tableKeyless}[env.Values[paramKey]]
			return &rows{session: s, table: table, missing: true, isolation: isolations[env.Values[paramIsolation]]}, err
		})
	missing.Topologies = alone()
	missing.Settles, missing.With = true, withIsolation
	missing.Params = []catalog.Param{isolationParam, {Name: paramKey, Default: "yes", Doc: "whether the table has a primary key, which refuses a second row: yes or no"}}
	missing.Notes = "Flawed: a row that is not there cannot be locked by most engines and levels. With many locks (--locks 200) each is missing once."
	return []backends.Spec{rowLock, missing}
}

func optimisticSpecs() []backends.Spec {
	of := func(name, doc, condition string) backends.Spec {
		s := spec(name, doc, func(env backends.Env) (backends.Locker, error) {
			s, err := newSession(env)
			if err != nil {
				return nil, err
			}
			resolution := time.Duration(0)
			if condition == byTimestamp {
				if resolution, err = env.Values.Length(paramResolution, env.TTL); err != nil {
					return nil, err
				}
			}
			return &optimistic{session: s, condition: condition, resolution: resolution.Microseconds()}, nil
		})
		s.Settles, s.Model.Kind, s.Ends = true, history.ModelNone, history.EndsNever
		if condition != byVersion {
			s.Topologies = alone()
		}
		return s
	}
	stamp := of("sql-timestamp", "no lock: an update is applied if the row has the time stamp that it was read with", byTimestamp)
	stamp.Params = []catalog.Param{{Name: paramResolution, Default: "1s", Doc: "of the time stamps: a second is what columns without a fraction have"}}
	stamp.With = func(s backends.Spec, v catalog.Values) (backends.Spec, error) {
		_, err := v.Length(paramResolution, time.Second)
		return s, err
	}
	stamp.Notes = "Flawed: two updates within one tick of the stamp cannot be told apart."
	noID := of("sql-optimistic-noid", "no lock: an update is applied if the version is the one that was read, of whatever row", byNoID)
	noID.Notes = "Flawed on purpose: WHERE version = v without an id updates the rows of others (--locks 2)."
	cas := of("sql-value-cas", "no lock: an update is applied if the value is the one that was read", byValue)
	cas.Notes = "A value that comes back (A, B, A) is taken for one that was never changed: what was derived from it may be wrong."
	return []backends.Spec{
		of("sql-optimistic", "no lock: an update is applied if the row has the version that it was read with", byVersion),
		noID, cas, stamp,
	}
}

func lockSpecs() []backends.Spec {
	insert := spec("sql-insert-unique", "INSERT of a row with a primary key takes the lock, DELETE of the owner's row gives it back",
		func(env backends.Env) (backends.Locker, error) {
			s, err := newSession(env)
			return unique{s}, err
		})
	insert.Ends, insert.Keys = history.EndsNever, keys(tableLock)
	insert.Notes = "The row of a dead holder stays for ever."

	lease := spec("sql-lease-row", "a row with an owner and a time until which it is his: UPDATE ... WHERE the time is over; extended by a heart-beat; each grant has the row's next token",
		func(env backends.Env) (backends.Locker, error) {
			s, err := newSession(env)
			return &leases{session: s, heartbeat: env.Values[paramHeartbeat] == "yes", byClient: env.Values[paramClock] == clockClient}, err
		})
	lease.Ends, lease.Tokens, lease.Keys, lease.Renews = history.EndsLease, true, keys(tableLease), true
	lease.Params = []catalog.Param{
		{Name: paramHeartbeat, Default: "yes", Doc: "yes: extended in the background every third of the ttl; no: never"},
		{Name: paramClock, Default: clockServer, Doc: "whose clock says when a lease is over: that of the server, or of the client"},
	}
	lease.With = withLease

	advisoryLock := spec("postgres-advisory", "pg_advisory_lock, which PostgreSQL keeps for a session, or a transaction of it", openAdvisory)
	advisoryLock.Topologies, advisoryLock.With = ofPostgres(), withAdvisory
	advisoryLock.Params = []catalog.Param{{Name: paramScope, Default: scopeSession, Doc: "session: until it is unlocked; transaction: until the commit"}, watchParam, idleParam, keepaliveParam, unheardParam}
	getLock := spec("mariadb-get-lock", "GET_LOCK and RELEASE_LOCK, which MariaDB keeps for a session", openAdvisory)
	getLock.Topologies, getLock.With, getLock.Params = ofMariaDB(), withAdvisory, []catalog.Param{watchParam, idleParam}
	for _, s := range []*backends.Spec{&advisoryLock, &getLock} {
		s.Notes = "The lock ends with the connection, whoever ends it, and its holder learns of that with its next statement, unless it watches. A replica knows nothing of it."
	}
	return []backends.Spec{insert, lease, advisoryLock, getLock}
}

const (
	clockServer = "server"
	clockClient = "client"
)

func keys(table string) func(run, lock string) []string {
	return func(run, lock string) []string { return []string{keyOf(table, run, lock)} }
}

func openAdvisory(env backends.Env) (backends.Locker, error) {
	watch, err := env.Values.Length(paramWatch, env.TTL)
	if err != nil {
		return nil, err
	}
	idle, err := env.Values.Length(paramIdle, env.TTL)
	if err != nil {
		return nil, err
	}
	s, err := newSession(env)
	if err != nil {
		return nil, err
	}
	if idle > 0 {
		s.settings = []string{fmt.Sprintf("SET idle_session_timeout = '%dms'", idle.Milliseconds())}
		if s.e == &mariadb {
			idle = idle.Round(time.Second)
			s.settings = []string{fmt.Sprintf("SET SESSION wait_timeout = %d", int(idle.Seconds()))}
		}
	}
	if s.e == &postgres {
		network, err := kernelLimits(env.Values, env.TTL)
		if err != nil {
			return nil, err
		}
		s.settings = append(s.settings, network...)
	}
	return &advisory{session: s, scope: env.Values[paramScope], watch: watch, idle: idle}, nil
}

// kernelLimits are the settings by which PostgreSQL has its kernel find out that nobody is there.
func kernelLimits(v catalog.Values, ttl time.Duration) (settings []string, err error) {
	keepalive, err := v.Length(paramKeepalive, ttl)
	if err != nil {
		return nil, err
	}
	unheard, err := v.Length(paramUnheard, ttl)
	if err != nil {
		return nil, err
	}
	if keepalive > 0 {
		seconds := max(1, int(keepalive.Round(time.Second).Seconds()))
		settings = append(settings, fmt.Sprintf("SET tcp_keepalives_idle = %d", seconds), fmt.Sprintf("SET tcp_keepalives_interval = %d", seconds), "SET tcp_keepalives_count = 1")
	}
	if unheard > 0 {
		settings = append(settings, fmt.Sprintf("SET tcp_user_timeout = %d", max(1, unheard.Milliseconds())))
	}
	return settings, nil
}

func choose(v catalog.Values, name string, valid ...string) error {
	for _, word := range valid {
		if v[name] == word {
			return nil
		}
	}
	return fmt.Errorf("%s=%s: choose one of %s", name, v[name], strings.Join(valid, ", "))
}

func withIsolation(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	err := choose(v, paramIsolation, "default", "read-committed", "repeatable-read", "serializable")
	if _, has := v[paramKey]; has {
		err = errors.Join(err, choose(v, paramKey, "yes", "no"))
	}
	return s, err
}

func withLease(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	if s.Renews = v[paramHeartbeat] == "yes"; !s.Renews {
		s.Calls = []string{backends.CallExtend}
	}
	return s, errors.Join(choose(v, paramHeartbeat, "yes", "no"), choose(v, paramClock, clockServer, clockClient))
}

// withAdvisory makes a lock that ends with an idle time-out one that has a lease.
func withAdvisory(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	if scope, has := v[paramScope]; has {
		if err := choose(v, paramScope, scopeSession, scopeTransaction); err != nil {
			return s, err
		}
		if idle, err := v.Length(paramIdle, time.Second); err == nil && idle > 0 && scope == scopeTransaction {
			return s, fmt.Errorf("%s=%s is of sessions: a transaction has another time-out", paramIdle, v[paramIdle])
		}
	}
	watch, err := v.Length(paramWatch, time.Second)
	if err != nil {
		return s, err
	}
	idle, err := v.Length(paramIdle, time.Second)
	if err != nil {
		return s, err
	}
	if _, has := v[paramKeepalive]; has {
		if _, err := kernelLimits(v, time.Second); err != nil {
			return s, err
		}
	}
	if idle > 0 {
		s.Ends, s.Renews = history.EndsLease, watch > 0
	}
	return s, nil
}
