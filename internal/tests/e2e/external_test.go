//go:build series

package e2e

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/certtest"
)

const (
	password = "a-Secret-that-nobody-reads"
	foreign  = "somebody-elses-key"
)

// theirRedis is a server that somebody else has started, with a password, and with TLS where files are
// given; it returns its port and what redis-cli says to a command.
func theirRedis(t *testing.T, more ...string) (port string, cli func(args ...string) string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String()) // it has one
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	conf := fmt.Sprintf("bind 127.0.0.1\nrequirepass %s\nsave \"\"\n", password)
	tls := len(more) > 0
	if tls {
		conf += fmt.Sprintf("port 0\ntls-port %s\n%s\n", port, strings.Join(more, "\n"))
	} else {
		conf += "port " + port + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "redis.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("redis-server", "redis.conf")
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it is there
		cmd.Wait()         //nolint:errcheck // it was killed
	})
	cli = func(args ...string) string {
		base := []string{"-p", port, "--no-auth-warning"}
		if tls {
			base = append(base, "--tls", "--insecure")
		}
		c := exec.Command("redis-cli", append(base, args...)...)
		c.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
		out, _ := c.CombinedOutput() // what it says tells
		return strings.TrimSpace(string(out))
	}
	for end := time.Now().Add(10 * time.Second); cli("ping") != "PONG"; {
		if time.Now().After(end) {
			t.Fatalf("redis-server says %q", cli("ping"))
		}
		<-time.After(10 * time.Millisecond)
	}
	cli("set", foreign, "1")
	return port, cli
}

// A server of somebody else that is lost in the run: what was recorded is judged, and it is said when the server
// stopped answering. It is inconclusive: nobody can say what the lock would have done.
func TestExternalServerIsLost(t *testing.T) {
	t.Parallel()
	defer turn(t, 0)()
	port, cli := theirRedis(t)
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(binary, "run", "--backend", "redis-lua", "--nemesis", "none", "--time", "6s", "--provider", "external",
		"--servers", "redis-1=127.0.0.1:"+port, "--out", dir)
	cmd.Env = append(os.Environ(), "LOCKSTORM_PASSWORD="+password)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForGrant(t, dir)
	cli("shutdown", "nosave")
	cmd.Wait() //nolint:errcheck // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(said.String(), "redis-1 stopped answering at ") {
		t.Errorf("exit %d\n%s", code, said.String())
	}
	for _, name := range []string{"history.jsonl", "results.json", "report.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// asTheirs runs the command with a password in the environment, and looks for it wherever it must not be.
func asTheirs(t *testing.T, env []string, args ...string) (int, string) {
	t.Helper()
	defer turn(t, 0)()
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(binary, append(append([]string{"run"}, args...), "--out", dir)...)
	cmd.Env = append(os.Environ(), env...)
	var seen []string
	done := make(chan struct{})
	go func() { // who lists processes while it runs sees no password
		defer close(done)
		for range 20 {
			out, err := exec.Command("ps", "-eo", "args").Output()
			if err == nil && strings.Contains(string(out), password) {
				seen = append(seen, "the list of processes")
			}
			<-time.After(100 * time.Millisecond)
		}
	}()
	out, _ := cmd.CombinedOutput() // the exit code says it
	<-done
	if strings.Contains(string(out), password) {
		seen = append(seen, "the output")
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), password) {
			seen = append(seen, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	if len(seen) > 0 {
		t.Errorf("the password is in %s", strings.Join(seen, ", "))
	}
	nothingLeft(t, dir)
	code := cmd.ProcessState.ExitCode()
	if r := results(t, dir); code < 2 && (r == nil || !strings.HasPrefix(r.Versions["redis-1"], "redis ")) {
		t.Errorf("exit %d, and the server's version is not on record: %v", code, r)
	}
	return code, string(out)
}

// A Redis that somebody else has started: clients and links are hurt, nothing else is; what others
// have there stays, and what the run had goes.
func TestExternal(t *testing.T) {
	t.Parallel()
	port, cli := theirRedis(t)
	servers := "redis-1=127.0.0.1:" + port
	env := []string{"LOCKSTORM_PASSWORD=" + password}
	t.Run("runs", func(t *testing.T) { externally(t, servers, env) })
	if keys := cli("keys", "*"); keys != foreign {
		t.Errorf("the keys there are %q, want only %q", keys, foreign)
	}
}

func externally(t *testing.T, servers string, env []string) {
	for _, c := range []struct {
		name, args, want string
		env              []string
		code             int
	}{
		{"none", "--time 3s", "pass", env, 0},
		{"pause", "--nemesis client-pause --time 5s --clients 3", "inherent findings", env, 1},
		{"partition", "--nemesis partition-client --time 5s --clients 3", "partition-client: ", env, 0},
		{
			"mixed", "--nemesis client-kill --nemesis flush --time 5s", "flush was skipped: lockstorm does not control existing servers",
			env, 0,
		},
		{"only theirs", "--nemesis server-kill", "lockstorm does not control existing servers", env, 3},
		{"no password", "--time 3s", "NOAUTH", nil, 4},
		{"wrong password", "--time 3s", "WRONGPASS", []string{"LOCKSTORM_PASSWORD=x"}, 4},
		{"a library", "--backend redislock --nemesis client-pause --time 5s --clients 3", "inherent findings", env, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := append(strings.Fields(c.args), "--servers", servers, "--seed", "1")
			if !strings.Contains(c.args, "--backend") {
				args = append(args, "--backend", "redis-lua")
			}
			code, out := asTheirs(t, c.env, args...)
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit %d, want %d and %q\n%s", code, c.code, c.want, out)
			}
		})
	}
}

// The same behind TLS: who vouches for the server has to be known.
func TestExternalTLS(t *testing.T) {
	t.Parallel()
	cert, key := certtest.SelfSigned(t)
	port, cli := theirRedis(t, "tls-cert-file "+cert, "tls-key-file "+key, "tls-ca-cert-file "+cert, "tls-auth-clients no")
	args := []string{"--backend", "redis-lua", "--time", "3s", "--servers", "redis-1=127.0.0.1:" + port}
	code, out := asTheirs(t, []string{"LOCKSTORM_PASSWORD=" + password, "LOCKSTORM_TLS_CA=" + cert}, args...)
	if code != 0 {
		t.Errorf("exit %d\n%s", code, out)
	}
	if keys := cli("keys", "*"); keys != foreign {
		t.Errorf("the keys there are %q", keys)
	}
	code, out = asTheirs(t, []string{"LOCKSTORM_PASSWORD=" + password, "LOCKSTORM_TLS=yes"}, args...)
	if code != 4 || !strings.Contains(out, "certificate signed by unknown authority") {
		t.Errorf("nobody vouches for it: exit %d\n%s", code, out)
	}
}
