package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"net"

	"github.com/go-sql-driver/mysql"

	"github.com/lockstorm/lockstorm/backends"
)

var mariadb = engine{
	name: "mariadb", register: "mariadb", library: "github.com/go-sql-driver/mysql v1.10.1",
	open: openMariaDB, known: knownMariaDB,
	words: map[string]string{
		"now":        "CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)",
		"if absent":  "",
		"insert":     "INSERT IGNORE INTO",
		"connection": "CONNECTION_ID()",
		"counted on": "LAST_INSERT_ID(token + 1)",
		"returning":  "",
	},
	schema: []string{
		"CREATE TABLE IF NOT EXISTS ls_data (id VARCHAR(190) PRIMARY KEY, value BIGINT NOT NULL, ledger BIGINT NOT NULL, version " +
			"BIGINT NOT NULL, changed BIGINT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE IF NOT EXISTS ls_keyless (id VARCHAR(190) NOT NULL, value BIGINT NOT NULL, ledger BIGINT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE IF NOT EXISTS ls_lock (id VARCHAR(190) PRIMARY KEY, owner VARCHAR(190) NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE IF NOT EXISTS ls_lease (id VARCHAR(190) PRIMARY KEY, owner VARCHAR(190) NOT NULL, expires BIGINT NOT NULL, " +
			"token BIGINT NOT NULL) ENGINE=InnoDB",
	},
	settings: func(seconds int) []string {
		return []string{fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = %d", seconds)}
	},
	leads: "SELECT 1 - @@global.read_only",
}

const (
	mariadbUser = "root"
	mariadbDB   = "lockstorm"
)

// openMariaDB is a database whose connections go by the name of a server.
func openMariaDB(env backends.Env, node string) (*stdsql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = mariadbUser, "tcp", node+":3306", mariadbDB
	cfg.Logger = log.New(io.Discard, "", 0)
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return env.Dial(ctx, node) }
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return stdsql.OpenDB(c), nil
}

// knownMariaDB reads the number of an answer.
func knownMariaDB(err error) error {
	var said *mysql.MySQLError
	if !errors.As(err, &said) {
		return nil
	}
	switch said.Number {
	case 1205: // lock wait timeout, and NOWAIT
		return fmt.Errorf("%w: %w", backends.ErrBusy, err)
	case 1213: // deadlock
		return fmt.Errorf("%w: %w", backends.ErrDeadlock, err)
	case 1062, 1020: // duplicate entry, record has changed since last read
		return fmt.Errorf("%w: %w", backends.ErrConflict, err)
	case 1290, 1792: // read-only: it does not lead any more
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	case 1053, 1927: // shutdown, connection killed: it ends
		return nil
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}
