package servers

import (
	"net"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/campaign/queue"
	"github.com/lockstorm/lockstorm/internal/certtest"
	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/leaktest"
)

func TestMain(m *testing.M) {
	Child()
	leaktest.Main(m)
}

// It says which servers it has, and of which version.
func TestVersions(t *testing.T) {
	for _, server := range []string{companion.Etcd, companion.NATS} {
		v, err := companion.Version(t.Context(), server)
		if err != nil || !strings.HasPrefix(v, server+" ") || !strings.HasSuffix(v, ", embedded") || strings.Count(v, ".") != 2 {
			t.Errorf("%q, %v", v, err)
		}
	}
	if v, err := companion.Version(t.Context(), "redis"); err == nil {
		t.Errorf("it has redis %s", v)
	}
}

// The embedded server wants a token where others can reach it, and says when its address is taken.
func TestServe(t *testing.T) {
	if _, err := queue.Serve(queue.Serving{Addr: "0.0.0.0:0", Dir: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "LOCKSTORM_QUEUE_TOKEN") {
		t.Errorf("%v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // of the test
	if _, err := queue.Serve(queue.Serving{Addr: l.Addr().String(), Dir: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "address already in use") {
		t.Errorf("%v", err)
	}
	for addr, want := range map[string]string{"nowhere": "write HOST:PORT", "127.0.0.1:port": "is not a port number"} {
		if _, err := queue.Serve(queue.Serving{Addr: addr}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// With TLS and a token, whoever has both is let in.
func TestTLS(t *testing.T) {
	cert, key := certtest.SelfSigned(t)
	s, err := queue.Serve(queue.Serving{Addr: "127.0.0.1:0", Dir: t.TempDir(), Token: "secret", Cert: cert, Key: key, Room: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	q, err := queue.Open(t.Context(), queue.Access{URL: s.URL(), Token: "secret", CA: cert})
	if err != nil {
		t.Fatal(err)
	}
	q.Close()
	for want, a := range map[string]queue.Access{
		"refuses the credentials of this program": {URL: s.URL(), CA: cert},
		"certificate": {URL: s.URL(), Token: "secret"},
	} {
		if q, err := queue.Open(t.Context(), a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %s", q, err, want)
		}
	}
	in, err := s.Open(t.Context(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
}
