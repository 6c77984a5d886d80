package external

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/leaktest"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/certtest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestParseServers(t *testing.T) {
	s, err := ParseServers([]string{"redis-1=127.0.0.1:6379,redis-2=[::1]:6380", "redis-3=host.example:1"})
	if err != nil || len(s) != 3 || s["redis-2"] != "[::1]:6380" {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{
		"", "redis-1", "=127.0.0.1:1", "redis-1=127.0.0.1", "redis-1=:6379", "redis-1=h:0", "redis-1=h:x",
		"redis-1=h:65536", "redis-1=h:1,redis-1=h:2",
	} {
		if _, err := ParseServers([]string{bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// What the environment says of TLS and passwords, and what of it makes no sense.
func TestFromEnv(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("secret \r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env      []string
		password string
		tls      bool
		want     string // of the error
	}{
		{nil, "", false, ""},
		{[]string{envPassword, "a"}, "a", false, ""},
		{[]string{envUser, "me", envPasswordFile, file}, "secret ", false, ""},
		{[]string{envTLS, "yes"}, "", true, ""},
		{[]string{envServerName, "redis.example"}, "", true, ""},
		{[]string{envTLS, "no"}, "", false, ""},
		{[]string{envTLS, "true"}, "", false, "choose yes or no"},
		{[]string{envTLS, "no", envCA, file}, "", false, "=no turns TLS off"},
		{[]string{envPassword, "a", envPasswordFile, file}, "", false, "set only one of them"},
		{[]string{envPasswordFile, file + "x"}, "", false, "no such file"},
		{[]string{envUser, "me"}, "", false, "no password is set"},
		{[]string{envCA, file}, "", false, "contains no PEM certificate"},
		{[]string{envCert, file}, "", false, "set both"},
		{[]string{envCert, file, envKey, file}, "", false, envCert},
	} {
		t.Run(fmt.Sprint(c.env), func(t *testing.T) {
			for i := 0; i < len(c.env); i += 2 {
				t.Setenv(c.env[i], c.env[i+1])
			}
			a, err := FromEnv()
			switch {
			case c.want != "":
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %s", err, c.want)
				}
			case err != nil || a.Password != c.password || (a.TLS != nil) != c.tls || a.needed() != (c.tls || c.password != ""):
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

func TestWithout(t *testing.T) {
	if got := Without([]string{"A=1", envPassword + "=x", envCA + "=y", "LOCKSTORM_CHILD=worker"}); !slices.Equal(got,
		[]string{"A=1", "LOCKSTORM_CHILD=worker"}) {
		t.Errorf("%v", got)
	}
}

// A door passes on what comes behind TLS and a password, both ways, and ends its connections with itself;
// a wrong password is an error before anything is opened.
func TestDoor(t *testing.T) {
	ca, key := certtest.SelfSigned(t)
	cert, err := tls.LoadX509KeyPair(ca, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go echo(c)
		}
	}()
	t.Cleanup(func() { l.Close(); <-served }) //nolint:errcheck // a test
	t.Setenv(envCA, ca)
	t.Setenv(envPassword, "right")
	login := func(c net.Conn, _, password string) error {
		fmt.Fprintln(c, "LOGIN", password)
		said, err := bufio.NewReader(c).ReadString('\n')
		if err == nil && said != "LOGIN right\n" {
			err = fmt.Errorf("it says %q", said)
		}
		return err
	}
	top := cluster.Topology{Name: "t", Nodes: []cluster.Recipe{{Name: "s", Login: login}}}
	launch := func() (cluster.Instance, *Provider, error) {
		a, err := FromEnv()
		if err != nil {
			t.Fatal(err)
		}
		p := New(Servers{"s": l.Addr().String()}, a)
		t.Cleanup(func() { p.Close() }) //nolint:errcheck // a test
		in, err := p.Launch(context.Background(), top, top.Nodes[0], cluster.Place{})
		return in, p, err
	}
	in, p, err := launch()
	if err != nil {
		t.Fatal(err)
	}
	if in.Kill(context.Background()) == nil || in.Pid() != 0 {
		t.Error("a server of somebody else was killed")
	}
	c, err := net.Dial("tcp", in.Place().Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // a test
	fmt.Fprintln(c, "hello")
	r := bufio.NewReader(c)
	if said, err := r.ReadString('\n'); err != nil || said != "hello\n" {
		t.Errorf("%q, %v", said, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.ReadString('\n'); err == nil {
		t.Error("the connection outlives the door")
	}
	t.Setenv(envPassword, "wrong")
	if _, _, err := launch(); err == nil || !strings.Contains(err.Error(), "log in") {
		t.Errorf("a wrong password: %v", err)
	}
}

func echo(c net.Conn) {
	defer c.Close() //nolint:errcheck // a test
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		fmt.Fprint(c, line)
	}
}
