package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/lockstorm/lockstorm/backends"
)

var mariadb = engine{
	name: "mariadb", register: "mariadb", library: "github.com/go-sql-driver/mysql v1.10.1",
	open: openMariaDB, answer: answerOfMariaDB,
	words: map[string]string{
		"now":        "CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)",
		"if absent":  "",
		"insert":     "INSERT IGNORE INTO",
		"connection": "CONNECTION_ID()",
		"counted on": "LAST_INSERT_ID(token + 1)",
		"returning":  "",
		"kind":       " ENGINE=InnoDB",
		"schema":     "'" + mariadbDB + "'",
		"followers":  "SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Binlog Dump'",
		// what the master has sent: it does not know what was applied, but a replica that waits for more has read all
		"in sync": "SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Binlog Dump' AND state LIKE " +
			"'%has sent all binlog%'",
	},
	known: map[string]error{
		"1205": backends.ErrBusy,                                 // lock wait timeout, and NOWAIT
		"1213": backends.ErrDeadlock,                             // deadlock
		"1062": backends.ErrConflict,                             // duplicate entry
		"1020": backends.ErrConflict,                             // record has changed since last read
		"1290": backends.ErrNotSent, "1792": backends.ErrNotSent, // read-only: it does not lead any more
	},
	synced: "the master has sent all of its binary log to %d of %d replicas",
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

// answerOfMariaDB reads the number of an answer: with a shutdown or a KILL the connection ends.
func answerOfMariaDB(err error) (code string, ends bool) {
	var said *mysql.MySQLError
	if !errors.As(err, &said) {
		return "", false
	}
	return strconv.Itoa(int(said.Number)), said.Number == 1053 || said.Number == 1927
}
