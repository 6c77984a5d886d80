package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/lockstorm/lockstorm/backends"
)

var postgres = engine{
	name: "postgres", register: "postgres", library: "github.com/jackc/pgx/v5 v5.12.0",
	open: openPostgres, numbered: true, answer: answerOfPostgres,
	words: map[string]string{
		"now":        "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint",
		"if absent":  "ON CONFLICT DO NOTHING",
		"insert":     "INSERT INTO",
		"connection": "pg_backend_pid()",
		"counted on": "token + 1",
		"returning":  "RETURNING token",
		"kind":       "",
		"schema":     "current_schema()",
		"followers":  "SELECT COUNT(*) FROM pg_stat_replication WHERE state = 'streaming'",
		"in sync":    "SELECT COUNT(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()",
	},
	known: map[string]error{
		"55P03": backends.ErrBusy,     // lock_not_available
		"40P01": backends.ErrDeadlock, // deadlock_detected
		"40001": backends.ErrConflict, // serialization_failure
		"23505": backends.ErrConflict, // unique_violation
		"25006": backends.ErrNotSent,  // read_only_sql_transaction: it does not lead any more
	},
	synced:   "%d of %d replicas have replayed all of the write-ahead log (WAL)",
	settings: func(seconds int) []string { return []string{fmt.Sprintf("SET lock_timeout = '%ds'", seconds)} },
	leads:    "SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE 1 END",
}

const (
	postgresUser = "lockstorm"
	postgresDB   = "postgres"
)

// openPostgres is a database whose connections go by the name of a server.
func openPostgres(env backends.Env, node string) (*stdsql.DB, error) {
	cfg, err := pgx.ParseConfig(fmt.Sprintf("postgres://%s@%s:5432/%s?sslmode=disable", postgresUser, node, postgresDB))
	if err != nil {
		return nil, err
	}
	cfg.RuntimeParams["application_name"] = env.Client
	cfg.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, node) }
	return stdlib.OpenDB(*cfg), nil
}

// answerOfPostgres reads the code of an answer.
func answerOfPostgres(err error) (code string, ends bool) {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return "", false
	}
	return said.Code, said.Severity == "FATAL" || said.Severity == "PANIC"
}
