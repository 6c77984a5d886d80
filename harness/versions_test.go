package harness

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
)

// silentServer accepts connections and answers nothing; asked has each connection's first request.
func silentServer(t *testing.T) (addr string, asked chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = make(chan string, 100)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close() //nolint:errcheck // it was only listened to
			go func() {
				b := make([]byte, 100)
				if n, _ := c.Read(b); n > 0 { // a connection that ends has asked nothing
					asked <- string(b[:n])
				}
			}()
		}
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-over
	})
	return l.Addr().String(), asked
}

// mute is a provider of containers that never says its versions, unless nobody waits for them any more.
type mute struct {
	cluster.Provider
	asked chan string
}

func (mute) Name() string                     { return cluster.ContainerName }
func (mute) Available(cluster.Topology) error { return nil }

func (m mute) Versions(ctx context.Context, _ cluster.Topology) (map[string]string, error) {
	m.asked <- "versions"
	<-ctx.Done()
	return nil, ctx.Err()
}

// Resolving asks no server. A run, or a look at what differs, that is interrupted while a server owes its version ends at once.
func TestAServerThatNeverSaysItsVersion(t *testing.T) {
	t.Parallel()
	addr, asked := silentServer(t)
	theirs := shortConfig(t, "etcd-txn")
	theirs.Provider, theirs.Servers = cluster.ExternalName, []string{"etcd-1=" + addr}
	neverAnswers(t, plainCatalogue(), theirs, asked)

	cat, ours := plainCatalogue(), shortConfig(t, "redis-lua")
	images := mute{asked: make(chan string)}
	cat.containers, ours.Provider = func(cluster.ContainerOptions) cluster.Provider { return images }, cluster.ContainerName
	neverAnswers(t, cat, ours, images.asked)
}

func neverAnswers(t *testing.T, cat *Catalogue, cfg Config, asked <-chan string) {
	t.Helper()
	trial, err := Resolve(cat, cfg)
	if err != nil {
		t.Fatal(err)
	}
	trial.Versions = map[string]string{"a server": "7"}
	for what, do := range map[string]func(context.Context) bool{
		"the run is interrupted": func(ctx context.Context) bool {
			_, err := trial.Run(ctx, cfg.Out, nil)
			coded := (*Error)(nil)
			return errors.As(err, &coded) && coded.Code == ExitInterrupted
		},
		"nothing is said of what differs": func(ctx context.Context) bool { return len(trial.Differs(ctx)) == 0 },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool, 1)
		go func() { ended <- do(ctx) }()
		select {
		case <-asked:
		case <-ended:
			t.Fatalf("%s: %s: it ended before anybody was asked", cfg.Backend, what)
		}
		cancel()
		select {
		case right := <-ended:
			if !right {
				t.Errorf("%s: %s: it is not so", cfg.Backend, what)
			}
		case <-time.After(versionsLimit / 2):
			t.Errorf("%s: %s: not yet %v after the interruption", cfg.Backend, what, versionsLimit/2)
		}
	}
}
