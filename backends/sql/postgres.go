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
	open: openPostgres, numbered: true, known: knownPostgres,
	words: map[string]string{
		"now":        "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint",
		"if absent":  "ON CONFLICT DO NOTHING",
		"insert":     "INSERT INTO",
		"connection": "pg_backend_pid()",
		"counted on": "token + 1",
		"returning":  "RETURNING token",
	},
	schema: []string{
		"CREATE TABLE IF NOT EXISTS ls_data (id VARCHAR(190) PRIMARY KEY, value BIGINT NOT NULL, ledger BIGINT NOT NULL, version " +
			"BIGINT NOT NULL, changed BIGINT NOT NULL)",
		"CREATE TABLE IF NOT EXISTS ls_keyless (id VARCHAR(190) NOT NULL, value BIGINT NOT NULL, ledger BIGINT NOT NULL)",
		"CREATE TABLE IF NOT EXISTS ls_lock (id VARCHAR(190) PRIMARY KEY, owner VARCHAR(190) NOT NULL)",
		"CREATE TABLE IF NOT EXISTS ls_lease (id VARCHAR(190) PRIMARY KEY, owner VARCHAR(190) NOT NULL, expires BIGINT NOT NULL, " +
			"token BIGINT NOT NULL)",
	},
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

// knownPostgres reads the code of an answer.
func knownPostgres(err error) error {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return nil
	}
	switch said.Code {
	case "55P03": // lock_not_available
		return fmt.Errorf("%w: %w", backends.ErrBusy, err)
	case "40P01": // deadlock_detected
		return fmt.Errorf("%w: %w", backends.ErrDeadlock, err)
	case "40001", "23505": // serialization_failure, unique_violation
		return fmt.Errorf("%w: %w", backends.ErrConflict, err)
	case "25006": // read_only_sql_transaction: it does not lead any more
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	if said.Severity == "FATAL" || said.Severity == "PANIC" {
		return nil // the connection ends with it
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}
