package sql

import (
	stdsql "database/sql"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"

	"github.com/jackc/pgx/v5"
)

// What pgx v5.12.0 makes of an answer that is lost, as its users have it: a statement with
// arguments fails, and was applied; one without arguments is run a second time, and succeeds. That is
// why no word of the driver is taken for what has left: see outcome, and docs/libraries.md.
func TestPgxRunsAStatementTwice(t *testing.T) {
	b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), Postgres))
	loses := newLoser(t, b.Cluster.Servers()[0].Addr())
	cfg, err := pgx.ParseConfig("postgres://" + postgresUser + "@" + loses.addr + "/" + postgresDB + "?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*cfg)
	defer db.Close() //nolint:errcheck // a test
	exec := func(text string, args ...any) error {
		_, err := db.ExecContext(b.Ctx, text, args...)
		return err
	}
	if err := errors.Join(exec("CREATE TABLE counted (n BIGINT)"), exec("INSERT INTO counted VALUES (0)")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		do    func() error
		fails bool
		n     int
	}{
		{"with arguments", func() error { return exec("UPDATE counted SET n = n + $1", 1) }, true, 1},
		{"without", func() error { return exec("UPDATE counted SET n = n + 1") }, false, 3},
	} {
		loses.loseNext("UPDATE")
		if err := c.do(); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := updates(t, db); n != c.n {
			t.Errorf("%s: %d updates were applied in all, want %d", c.name, n, c.n)
		}
	}
}

func updates(t *testing.T, db *stdsql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT n FROM counted").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// loser stands between a client and a server, and loses an answer with its connection.
type loser struct {
	addr, server string

	mu   sync.Mutex
	word string // the request whose answer is lost; empty: none
	wg   sync.WaitGroup
}

func newLoser(t *testing.T, server string) *loser {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &loser{addr: listener.Addr().String(), server: server}
	l.wg.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			l.wg.Go(func() { l.serve(c) })
		}
	})
	t.Cleanup(func() {
		listener.Close() //nolint:errcheck // a test
		l.wg.Wait()
	})
	return l
}

func (l *loser) loseNext(word string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.word = word
}

// asked reports whether the answer to what was said is to be lost.
func (l *loser) asked(said []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A statement is prepared by one message and run by another one: that of a statement with
	// arguments has no word in it, and follows the answer to the first.
	if l.word == "" || !strings.Contains(string(said), l.word) && !strings.Contains(string(said), "stmtcache") {
		return false
	}
	if strings.Contains(string(said), "$1") {
		return false // it is only prepared
	}
	l.word = ""
	return true
}

func (l *loser) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // a test
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // a test
	lose := make(chan struct{})
	l.wg.Go(func() {
		b := make([]byte, 1<<16)
		for {
			n, err := client.Read(b)
			if err != nil {
				server.Close() //nolint:errcheck // a test
				return
			}
			if l.asked(b[:n]) {
				close(lose)
			}
			if _, err := server.Write(b[:n]); err != nil {
				return
			}
		}
	})
	b := make([]byte, 1<<16)
	for {
		n, err := server.Read(b)
		select {
		case <-lose:
			return
		default:
		}
		if err != nil {
			return
		}
		if _, err := client.Write(b[:n]); errors.Is(err, io.EOF) || err != nil {
			return
		}
	}
}
