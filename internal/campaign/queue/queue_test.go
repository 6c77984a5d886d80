package queue

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/lockstorm/lockstorm/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// refused is the error of a server that cannot be used.
func refused(t *testing.T, a Access) string {
	t.Helper()
	q, err := Open(t.Context(), a)
	if err == nil {
		q.Close()
		t.Fatalf("%s can be used", a.URL)
	}
	return err.Error()
}

func wants(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%q does not say %q", got, want)
	}
	if strings.Contains(got, "\n") {
		t.Errorf("%q is more than a line", got)
	}
}

// A server that cannot be used is refused with a sentence that says why.
func TestRefused(t *testing.T) {
	wants(t, refused(t, Access{URL: "nats://127.0.0.1:1"}), "does not answer")
	wants(t, refused(t, Access{URL: "127.0.0.1"}), "write nats://HOST:PORT")
	wants(t, refused(t, Access{URL: "nats://user:secret@127.0.0.1:4222"}), "LOCKSTORM_QUEUE_PASSWORD")
	wants(t, refused(t, Access{URL: old(t, "2.8.4")}), "has version 2.8.4, but a campaign needs version 2.9.0 or newer")
	wants(t, refused(t, Access{URL: run(t, &server.Options{})}), "has no JetStream")
	secured := run(t, &server.Options{JetStream: true, Authorization: "token"})
	wants(t, refused(t, Access{URL: secured}), "refuses the credentials of this program")
	wants(t, refused(t, Access{URL: secured, Token: "wrong"}), "refuses the credentials of this program")
	limited := run(t, &server.Options{
		JetStream: true,
		Users: []*server.User{{
			Username: "u", Password: "p",
			Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"$JS.API.>"}}},
		}},
	})
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if q, err := Open(short, Access{URL: limited, User: "u", Pass: "p"}); err == nil {
		q.Close()
		t.Error("a user without rights can use it")
	} else {
		wants(t, err.Error(), "lacks a permission")
	}
}

func TestOlder(t *testing.T) {
	for v, want := range map[string]bool{
		"2.8.4": true, "2.9.0": false, "2.9.10": false, "2.10.27": false, "1.99.99": true,
		"3.0.0": false, "": true,
	} {
		if older(v, Oldest) != want {
			t.Errorf("%q older: %v", v, !want)
		}
	}
}

// run starts a server with these options.
func run(t *testing.T, o *server.Options) string {
	t.Helper()
	o.Host, o.Port, o.NoLog, o.NoSigs, o.StoreDir = "127.0.0.1", server.RANDOM_PORT, true, true, t.TempDir()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

// old is a server that says that it is of a version, and nothing else.
func old(t *testing.T, version string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done }) //nolint:errcheck // of the test
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(c, "INFO {\"server_id\":\"x\",\"version\":%q,\"max_payload\":1048576,\"headers\":true}\r\n", version)
			for lines := bufio.NewScanner(c); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "PING") {
					fmt.Fprint(c, "PONG\r\n")
				}
			}
			c.Close() //nolint:errcheck // of the test
		}
	}()
	return "nats://" + l.Addr().String()
}
