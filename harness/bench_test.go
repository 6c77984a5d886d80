package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness/internal/worker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/register"
	"github.com/lockstorm/lockstorm/workloads"
)

// section is one client's counter section against a real server and a real register,
// with or without records, direct or through links.
func section(b *testing.B, backend string, c *cluster.Cluster, recorded, links bool) func() {
	b.Helper()
	clock := history.NewClock()
	recorder := func(party string) *history.Recorder {
		if !recorded {
			return history.Discard(party, clock)
		}
		r, err := history.Open(filepath.Join(b.TempDir(), party+".jsonl"), party, clock, history.Run{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := r.Close(); err != nil {
				b.Error(err)
			}
		})
		return r
	}
	srv, err := register.Serve(register.New(register.Strict, nil).Handle, recorder(history.PartyRegister))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := srv.Close(); err != nil {
			b.Error(err)
		}
	})
	var book worker.AddressBook
	node := c.Servers()[0]
	addrs := map[string]string{node.Name(): node.Addr(), history.PartyRegister: srv.Addr()}
	if links {
		addrs = throughLinks(b, addrs)
	}
	book.Set(addrs)
	cat := plainCatalogue()
	spec, err := cat.Backends.Get(backend)
	if err != nil {
		b.Fatal(err)
	}
	rnd := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, n)) }
	client := workloads.NewClient(workloads.ClientConfig{
		Name: "c1", Index: 1, Recorder: recorder("c1"),
		Registers: []string{register.Plain, register.Fenced}, Fencing: history.FencingBoth, TTL: time.Minute,
		Gate: workloads.Open{}, Rand: rnd(2), OnLogError: func(err error) { b.Error(err) },
	})
	locker, err := spec.Open(context.Background(), backends.Env{
		Run: fmt.Sprintf("bench-%v", recorded), Client: "c1", Nodes: []cluster.Ref{{Name: node.Name()}}, Dial: book.Dial,
		TTL:   time.Minute,
		Retry: time.Millisecond, Timeout: 5 * time.Second, Now: clock.Now, Rand: rnd(1), Values: spec.Defaults(),
		Session: client.Session(),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := locker.Close(); err != nil {
			b.Error(err)
		}
	})
	reg := &register.Client{Timeout: 5 * time.Second, Dial: func(ctx context.Context) (net.Conn, error) {
		return book.Dial(ctx, history.PartyRegister)
	}}
	client.Use(locker, workloads.RegisterResource("c1", reg))
	values, err := catalog.Parse("counter", "hold=0s,think=0s,try=0", workloads.Params())
	if err != nil {
		b.Fatal(err)
	}
	settings, err := workloads.NewSettings(values, []string{"L1"}, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	settings.Rand = rnd(3)
	wl, err := cat.Workloads.Get("counter")
	if err != nil {
		b.Fatal(err)
	}
	w := wl.New(settings)
	return func() {
		if _, err := w.Section(context.Background(), client, workloads.Turn{}); err != nil {
			b.Fatal(err)
		}
	}
}

// throughLinks leads a client to the same parties through links of its own.
func throughLinks(b *testing.B, addrs map[string]string) map[string]string {
	b.Helper()
	net := link.New()
	b.Cleanup(func() {
		if err := net.Close(); err != nil {
			b.Error(err)
		}
	})
	out := map[string]string{}
	for party, addr := range addrs {
		net.Serve(party, "", addr)
		var err error
		if out[party], err = net.Between(cluster.Loopback, "c1", party, ""); err != nil {
			b.Fatal(err)
		}
	}
	return out
}

// The rate of a recorded section against the same without records, in turn in one run,
// both direct or both through the same links. The aim: 0.85 direct, 0.9 through links.
func BenchmarkRecordedSection(b *testing.B) {
	for _, c := range []struct {
		backend, topology string
		links             bool
	}{
		{"redis-fenced", "redis-single", false},
		{"redis-fenced", "redis-single", true},
		{"etcd-mutex", "etcd-single", true},
		{"zk-sequential", "zk-single", true},
		{"sql-lease-row", "postgres", true},
		{"sql-lease-row", "mariadb", true},
	} {
		name := map[bool]string{false: "direct/", true: "links/"}[c.links] + c.topology
		b.Run(name, func(b *testing.B) {
			servers := startTopology(b, c.topology, cluster.ProcessName)
			inTurn(b, section(b, c.backend, servers, true, c.links), section(b, c.backend, servers, false, c.links))
		})
	}
}

// inTurn reports the rate of one section as a part of that of another.
func inTurn(b *testing.B, one, other func()) {
	b.Helper()
	const (
		batch = 50
		warm  = 10 // batches of each before anything counts
	)
	took := func(run func()) time.Duration {
		begun := time.Now()
		for range batch {
			run()
		}
		return time.Since(begun)
	}
	for range warm {
		took(one)
		took(other)
	}
	var ones, others time.Duration
	for first := true; b.Loop(); first = !first { // neither is always the one before
		if first {
			ones += took(one)
		}
		others += took(other)
		if !first {
			ones += took(one)
		}
	}
	b.ReportMetric(float64(others)/float64(ones), "ratio")
	b.ReportMetric(float64(ones.Microseconds())/float64(b.N*batch), "us/section")
	b.ReportMetric(0, "ns/op")
}

// From the start of a run to its first grant, servers and clients included. The aim:
// under a second, with Sentinels under four; ZooKeeper two, three of it four; three of etcd two; a database two.
func BenchmarkReady(b *testing.B) {
	for _, line := range []string{
		"--backend redis-lua", "--backend redlock", "--backend redis-sentinel",
		"--backend zk-sequential --topology zk-single", "--backend zk-sequential --topology zk-three",
		"--backend etcd-mutex --topology etcd-single", "--backend etcd-mutex --topology etcd-three",
		"--backend sql-for-update --topology postgres", "--backend sql-for-update --topology mariadb",
	} {
		words := strings.Fields(line)
		b.Run(words[len(words)-1], func(b *testing.B) { ready(b, line) })
	}
}

func ready(b *testing.B, line string) {
	cfg, err := ParseLine(line)
	if err != nil {
		b.Fatal(err)
	}
	var sum int64
	for b.Loop() {
		cfg.Time, cfg.TTL, cfg.Seed = 100*time.Millisecond, 100*time.Millisecond, 1
		cfg.Out = filepath.Join(b.TempDir(), "run")
		out, err := Run(context.Background(), plainCatalogue(), cfg, nil)
		if err != nil {
			b.Fatal(err)
		}
		sum += out.Results.Stats["ready_ns"]
	}
	b.ReportMetric(time.Duration(sum).Seconds()/float64(b.N), "s/first-grant")
	b.ReportMetric(0, "ns/op")
}
