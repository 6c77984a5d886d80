package queue

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/lockstorm/lockstorm/internal/companion"
)

// Serving is how a server of our own is started.
type Serving struct {
	Addr      string // to listen on
	Dir       string // of its data
	Token     string // that clients must show; empty: none
	Cert, Key string // of TLS; empty: none
	Room      int64  // bytes on disk, at most
}

// Served is what came of it.
type Served struct{ URL, Error string }

// Embedded is a server of our own, in a process of lockstorm-servers that ends with us.
type Embedded struct {
	c   Serving
	url string
	// Stop ends it, and waits until it has written everything.
	Stop func() error
}

// Serve starts the server.
func Serve(c Serving) (*Embedded, error) {
	cmd, in, out, err := companion.Start(companion.Queue, os.Stderr)
	if err != nil {
		return nil, fmt.Errorf("--embed %s: %w", c.Addr, err)
	}
	e, said := &Embedded{c: c}, Served{}
	e.Stop = sync.OnceValue(func() error { return errors.Join(in.Close(), cmd.Wait()) })
	err = json.NewEncoder(in).Encode(c)
	if err == nil {
		err = json.NewDecoder(out).Decode(&said)
	}
	if err == nil && said.Error != "" {
		err = errors.New(said.Error)
	}
	if err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	e.url = said.URL
	return e, nil
}

// URL is where it listens.
func (e *Embedded) URL() string { return e.url }

// Open connects to it. Under TLS the server is known by its certificate, which need not name this host.
func (e *Embedded) Open(ctx context.Context, token string) (*Queue, error) {
	var opts []nats.Option
	if e.c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(e.c.Cert, e.c.Key)
		if err != nil {
			return nil, fmt.Errorf("--embed-cert: %w", err)
		}
		opts = append(opts, nats.Secure(&tls.Config{
			InsecureSkipVerify: true, //nolint:gosec // see VerifyConnection
			VerifyConnection: func(s tls.ConnectionState) error {
				if shown := s.PeerCertificates; len(shown) == 0 || !bytes.Equal(shown[0].Raw, pair.Certificate[0]) {
					return errors.New("the server has another certificate than that of --embed-cert")
				}
				return nil
			},
		}))
	}
	return connect(ctx, Access{URL: e.url, Token: token}, opts...)
}
