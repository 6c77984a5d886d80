package adapter

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// A server that is a child of what was started, listens at once, and serves a little later: it says so by a line and by a
// file. It ends by SIGINT alone, and notes that.
const slowServer = `
import os, signal, socket, sys, time
def end(*_):
    open("ended", "w").close()
    os._exit(0)
signal.signal(signal.SIGINT, end)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
s = socket.create_server(("127.0.0.1", int(open(sys.argv[1]).read())))
time.sleep(0.2)
open("serves", "w").close()
print("it serves", flush=True)
while True: s.accept()
`

func started(t *testing.T, s ServerProgram, then func(c *cluster.Cluster, dir string)) {
	t.Helper()
	top, err := Description{Name: "test", Servers: []ServerProgram{s}}.brings()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	starter := proc.NewStarter()
	defer starter.Close()
	dir := filepath.Join(t.TempDir(), "with a blank")
	c, err := cluster.Start(ctx, top, cluster.ProcessProvider{Starter: starter}, dir, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	then(c, filepath.Join(dir, s.Name))
	if err := c.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// A server is started when it says that it serves, each time that it is started.
func TestServerIsReady(t *testing.T) {
	t.Parallel()
	for name, ready := range map[string]Readiness{
		"line":    {Line: "it serves"},
		"command": {Command: []string{"test", "-e", "{dir}/serves"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ServerProgram{
				Name:    "store",
				Command: []string{"sh", "-c", `trap "" INT; python3 -c "$0" "$1" & wait`, slowServer, "{dir}/a port"},
				Ready:   ready,
				Files:   map[string]string{"a port": "{port}"}, Stop: "INT",
			}
			var ended string
			started(t, s, func(c *cluster.Cluster, dir string) {
				serves := filepath.Join(dir, "serves")
				ended = filepath.Join(dir, "ended")
				if _, err := os.Stat(serves); err != nil {
					t.Error(err)
				}
				server := c.Servers()[0]
				if err := server.Kill(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(serves); err != nil {
					t.Fatal(err)
				}
				if _, err := server.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := os.Stat(serves); err != nil {
					t.Errorf("after a restart: %v", err)
				}
				if err := server.Answers(t.Context()); err != nil {
					t.Error(err)
				}
			})
			if _, err := os.Stat(ended); err != nil {
				t.Errorf("it was not asked to end by its own signal: %v", err)
			}
		})
	}
}

// What cannot be a server is refused in words that name it.
func TestServersAreRefused(t *testing.T) {
	t.Parallel()
	good := ServerProgram{Name: "a", Command: []string{"prog"}}
	with := func(change func(s *ServerProgram)) Description {
		s := good
		change(&s)
		return Description{Servers: []ServerProgram{s}}
	}
	for want, d := range map[string]Description{
		"\"command\" is missing":                    with(func(s *ServerProgram) { s.Command = nil }),
		"\"./prog\" is a relative path":             with(func(s *ServerProgram) { s.Command = []string{"./prog"} }),
		"no signal \"STOPNOW\"":                     with(func(s *ServerProgram) { s.Stop = "STOPNOW" }),
		"outside of the server's folder":            with(func(s *ServerProgram) { s.Files = map[string]string{"../x": ""} }),
		"lower case letters":                        with(func(s *ServerProgram) { s.Name = "A B" }),
		"several \"topologies\"":                    {Topologies: []string{"x", "y"}, Servers: []ServerProgram{good}},
		"two nodes of the topology are named \"a\"": {Servers: []ServerProgram{good, good}},
		"no \"servers\" that stand on":              {Over: "x"},
	} {
		if _, err := d.brings(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	top, err := Description{Servers: []ServerProgram{{Name: "a", Command: []string{"p", "{{x}} {port}"}, Keeps: true}}}.brings()
	if err != nil || top.Name != "a" || top.Volatile {
		t.Fatalf("%+v, %v", top, err)
	}
	if args, err := (cluster.Place{Port: 7}).ExpandAll(top.Nodes[0].Args); err != nil || args[0] != "{{x}} 7" {
		t.Errorf("%q, %v", args, err)
	}
}

// Servers that call others reach them by links of their own. Those that stand on a topology start after it and keep no data; who
// leads is its own affair.
func TestServersCallOthers(t *testing.T) {
	t.Parallel()
	top, err := Description{Over: "below", Servers: []ServerProgram{
		{Name: "front", Command: []string{"p", "{address:store-1}"}, Files: map[string]string{"f": "{address:beside}"}, Keeps: true},
		{Name: "beside", Command: []string{"p"}, Keeps: true},
	}}.brings()
	if err != nil {
		t.Fatal(err)
	}
	base := cluster.Topology{
		Name: "below", Recovery: time.Second, FailOver: time.Second, TTL: time.Minute, Volatile: true, Fleet: cluster.Elected,
		Nodes: []cluster.Recipe{{Name: "store-1", Data: true, Stage: 1}},
		Ready: func(_ context.Context, addrs map[string]string) error {
			if len(addrs) != 1 {
				t.Errorf("it was asked whether %v serve together", addrs)
			}
			return nil
		},
	}
	got := top.On(base)
	if err := got.Ready(t.Context(), map[string]string{"store-1": "", "front": "", "beside": ""}); err != nil {
		t.Error(err)
	}
	if got.Over != "" || got.Recovery != recovery+time.Second || got.TTL != time.Minute || !got.Volatile || got.Fleet == nil {
		t.Errorf("%+v", got)
	}
	for i, want := range []cluster.Recipe{
		{Name: "store-1", Data: true, Stage: 1, Peering: cluster.Pairwise},
		{Name: "front", Stage: 2},
		{Name: "beside", Stage: 2, Peering: cluster.Pairwise},
	} {
		if n := got.Nodes[i]; n.Name != want.Name || n.Data != want.Data || n.Stage != want.Stage || n.Peering != want.Peering {
			t.Errorf("%+v, want %+v", n, want)
		}
	}
	args, err := (cluster.Place{PeerHost: "h", Peers: map[string]int{"store-1 ": 7}}).ExpandAll(got.Nodes[1].Args)
	if err != nil || args[0] != "h:7" || base.Nodes[0].Peering != cluster.NoPeers {
		t.Errorf("%q, %v", args, err)
	}
}
