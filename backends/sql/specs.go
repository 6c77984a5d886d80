package sql

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
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
	isolationParam = catalog.Param{Name: paramIsolation, Default: "default", Doc: "default, read-committed, repeatable-read or " +
		"serializable", Choices: []string{"default", "read-committed", "repeatable-read", "serializable"}}
	watchParam = catalog.Param{Name: paramWatch, Default: "0s", Doc: "time between two checks of a holder's connection, by an " +
		"empty statement; 0s: none"}
	idleParam = catalog.Param{Name: paramIdle, Default: "0s", Doc: "idle time after which the server ends a connection, and " +
		"with it the lock (idle_session_timeout, wait_timeout); 0s: never"}
	keepaliveParam = catalog.Param{Name: paramKeepalive, Default: "0s", Doc: "whole seconds without a packet until the server's " +
		"kernel sends one probe, and again until it ends the connection (tcp_keepalives_idle, tcp_keepalives_interval, " +
		"tcp_keepalives_count=1), or after user-timeout without a packet, if that is set; 0s: two hours"}
	unheardParam = catalog.Param{Name: paramUnheard, Default: "0s", Doc: "time until the server's kernel ends a connection " +
		"whose client hasn't acknowledged data (tcp_user_timeout); 0s: a quarter of an hour"}
)

// both are all topologies of both engines.
func both() []string { return append(alone(), append(ofPostgres()[1:], ofMariaDB()[1:]...)...) }

// alone are those of one server.
func alone() []string { return []string{Postgres, MariaDB} }

func ofPostgres() []string {
	return []string{Postgres, PostgresReplica, PostgresReplicaSync, PostgresAsync, PostgresRemoteWrite}
}

func ofMariaDB() []string {
	return []string{MariaDB, MariaDBReplica, MariaDBReplicaSync, MariaDBFlush0, MariaDBFlush2}
}

// Specs returns the locks on databases.
func Specs() []backends.Spec {
	return append(rowSpecs(), append(optimisticSpecs(), lockSpecs()...)...)
}

// spec is what they share. A database that was killed takes a while to recover, and a connection
// that has ended is dialled again at the next request.
func spec(name, doc string, open func(s *session) (backends.Locker, error)) backends.Spec {
	return backends.Spec{
		Name: name, Doc: doc, Topologies: both(), Ends: history.EndsConnection, Connected: true, Recovery: time.Second,
		Open: func(_ context.Context, env backends.Env) (backends.Locker, error) {
			s, err := newSession(env)
			if err != nil {
				return nil, err
			}
			return open(s)
		},
	}
}

func rowSpecs() []backends.Spec {
	rowLock := spec("sql-for-update", "SELECT ... FOR UPDATE of an existing row; the data changes in the same transaction",
		func(s *session) (backends.Locker, error) {
			return &rows{session: s, table: tableData, isolation: isolations[s.env.Values[paramIsolation]]}, nil
		})
	rowLock.Settles, rowLock.Params = true, []catalog.Param{isolationParam}
	rowLock.Notes = "Two clients may believe that they hold the lock when the server ends a connection, but only one can commit."

	missing := spec("sql-for-update-missing-row", "SELECT ... FOR UPDATE of a row that may be missing: then the client believes "+
		"that the lock is free, and inserts it in the same transaction",
		func(s *session) (backends.Locker, error) {
			table := map[string]string{"yes": tableData, "no": tableKeyless}[s.env.Values[paramKey]]
			return &rows{session: s, table: table, missing: true, isolation: isolations[s.env.Values[paramIsolation]]}, nil
		})
	missing.Topologies = alone()
	missing.Settles = true
	missing.Params = []catalog.Param{isolationParam, {Name: paramKey, Default: "yes", Doc: "yes: a primary key refuses a second " +
		"row for the same lock; no: none", Choices: catalog.YesNo()}}
	missing.Notes = "Flawed: most engines and isolation levels can't lock a missing row. It is missing only at the first use: for " +
		"lost updates run with key=no and many locks (--locks 200)."
	return []backends.Spec{rowLock, missing}
}

func optimisticSpecs() []backends.Spec {
	of := func(name, doc, condition string) backends.Spec {
		s := spec(name, doc, func(s *session) (backends.Locker, error) {
			resolution, err := s.env.Values.Length(paramResolution, s.env.TTL) // 0 where it is no parameter
			return &optimistic{session: s, condition: condition, resolution: resolution.Microseconds()}, err
		})
		s.Settles, s.Model.Kind, s.Ends = true, history.ModelNone, history.EndsNever
		if condition != byVersion {
			s.Topologies = alone()
		}
		return s
	}
	stamp := of("sql-timestamp", "no lock: the update applies only if the row still has the time stamp that was read", byTimestamp)
	stamp.Params = []catalog.Param{{Name: paramResolution, Default: "1s", Doc: "resolution of the time stamps; 1s: whole seconds"}}
	stamp.With = func(s backends.Spec, v catalog.Values) (backends.Spec, error) {
		_, err := v.Length(paramResolution, time.Second)
		return s, err
	}
	stamp.Notes = "Flawed: two quick updates get the same time stamp, and who read in between overwrites the second."
	noID := of("sql-optimistic-noid", "sql-optimistic whose condition lacks the id: the update applies to every row with this "+
		"version", byNoID)
	noID.Notes = "Flawed on purpose: it updates rows of other locks. To see it, run with --locks 2."
	cas := of("sql-value-cas", "no lock: the update applies only if the row still has the value that was read", byValue)
	cas.Notes = "A value that went from A to B and back looks unchanged, and what must agree with it goes wrong. The counter " +
		"never goes back: run with --workload stock."
	return []backends.Spec{
		of("sql-optimistic", "no lock: the update applies only if the row still has the version that was read", byVersion),
		noID, cas, stamp,
	}
}

func lockSpecs() []backends.Spec {
	insert := spec("sql-insert-unique", "a row with a primary key: inserted to acquire, deleted to release; a dead holder blocks "+
		"everyone for ever",
		func(s *session) (backends.Locker, error) { return unique{s}, nil })
	insert.Ends, insert.Keys = history.EndsNever, keys(tableLock)

	lease := spec("sql-lease-row", "a row with owner and expiry: an UPDATE acquires it if it has expired, and renews it in the "+
		"background; the row counts fencing tokens",
		func(s *session) (backends.Locker, error) {
			v := s.env.Values
			return &leases{session: s, heartbeat: v[paramHeartbeat] == "yes", byClient: v[paramClock] == clockClient}, nil
		})
	lease.Ends, lease.Tokens, lease.Keys, lease.Renews = history.EndsLease, true, keys(tableLease), true
	lease.Params = []catalog.Param{
		{Name: paramHeartbeat, Default: "yes", Choices: catalog.YesNo(), Doc: "yes: extends the lease every third of the ttl; " +
			"no: never"},
		{Name: paramClock, Default: clockServer, Choices: []string{clockServer, clockClient}, Doc: "whose clock ends leases: " +
			"server or client"},
	}
	lease.With = withLease

	advisoryLock := spec("postgres-advisory", "an advisory lock (pg_advisory_lock) of a session or a transaction", openAdvisory)
	advisoryLock.Topologies, advisoryLock.With = ofPostgres(), withAdvisory
	advisoryLock.Params = []catalog.Param{{Name: paramScope, Default: scopeSession, Doc: "session: until the unlock; transaction: " +
		"until the commit", Choices: []string{scopeSession, scopeTransaction}}, watchParam, idleParam, keepaliveParam, unheardParam}
	getLock := spec("mariadb-get-lock", "a named lock (GET_LOCK, RELEASE_LOCK) of a session", openAdvisory)
	getLock.Topologies, getLock.With, getLock.Params = ofMariaDB(), withAdvisory, []catalog.Param{watchParam, idleParam}
	advisoryLock.Notes, getLock.Notes = "It ends with the connection, whoever ends it. Without `watch=` the holder notices only "+
		"at its next statement. Locks aren't replicated: the new master doesn't have them.",
		"As for postgres-advisory."
	return []backends.Spec{insert, lease, advisoryLock, getLock}
}

const (
	clockServer = "server"
	clockClient = "client"
)

func keys(table string) func(run, lock string) []string {
	return func(run, lock string) []string { return []string{keyOf(table, run, lock)} }
}

// lengths reads several lengths of time; one that the lock does not have is 0.
func lengths(v catalog.Values, ttl time.Duration, names ...string) (all []time.Duration, err error) {
	for _, name := range names {
		d, wrong := v.Length(name, ttl)
		all, err = append(all, d), cmp.Or(err, wrong)
	}
	return all, err
}

func openAdvisory(s *session) (backends.Locker, error) {
	d, err := lengths(s.env.Values, s.env.TTL, paramWatch, paramIdle)
	if err != nil {
		return nil, err
	}
	watch, idle := d[0], d[1]
	if s.settings, err = kernelLimits(s.env.Values, s.env.TTL); err != nil {
		return nil, err
	}
	switch {
	case idle == 0:
	case s.e == &mariadb:
		idle = idle.Round(time.Second)
		s.settings = append(s.settings, fmt.Sprintf("SET SESSION wait_timeout = %d", int(idle.Seconds())))
	default:
		s.settings = append(s.settings, fmt.Sprintf("SET idle_session_timeout = '%dms'", idle.Milliseconds()))
	}
	return &advisory{session: s, scope: s.env.Values[paramScope], watch: watch, idle: idle}, nil
}

// kernelLimits are the settings by which PostgreSQL has its kernel find out that nobody is there.
func kernelLimits(v catalog.Values, ttl time.Duration) (settings []string, err error) {
	d, err := lengths(v, ttl, paramKeepalive, paramUnheard)
	if err != nil {
		return nil, err
	}
	keepalive, unheard := d[0], d[1]
	if keepalive > 0 {
		seconds := max(1, int(keepalive.Round(time.Second).Seconds()))
		settings = append(settings, fmt.Sprintf("SET tcp_keepalives_idle = %d", seconds),
			fmt.Sprintf("SET tcp_keepalives_interval = %d", seconds), "SET tcp_keepalives_count = 1")
	}
	if unheard > 0 {
		settings = append(settings, fmt.Sprintf("SET tcp_user_timeout = %d", max(1, unheard.Milliseconds())))
	}
	return settings, nil
}

func withLease(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	if s.Renews = v[paramHeartbeat] == "yes"; !s.Renews {
		s.Calls = []string{backends.CallExtend}
	}
	return s, nil
}

// withAdvisory makes a lock that ends with an idle time-out one that has a lease.
func withAdvisory(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	d, err := lengths(v, time.Second, paramIdle, paramWatch)
	if err != nil {
		return s, err
	}
	idle, watch := d[0], d[1]
	if idle > 0 && v[paramScope] == scopeTransaction {
		return s, fmt.Errorf("%s=%s applies only to scope=session, because lockstorm sets the server's time-out of idle sessions, "+
			"not of idle transactions: leave this parameter out, or use scope=session", paramIdle, v[paramIdle])
	}
	if idle > 0 {
		s.Ends, s.Renews = history.EndsLease, watch > 0
	}
	_, err = kernelLimits(v, time.Second)
	return s, err
}
