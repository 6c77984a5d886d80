// Package queue reaches the NATS server of a campaign: one that people run already, or the one inside our binary. Its errors are
// sentences that say what to do.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Access is how a server is reached. None of it goes on record.
type Access struct {
	URL           string // nats://HOST:PORT, or tls://
	Creds, NKey   string // files
	CA, Cert, Key string // files, of TLS
	User, Pass    string // from the environment
	Token         string // from the environment
}

// Oldest is the oldest server with which a campaign works.
const Oldest = "2.9.0"

const (
	dialTime      = 5 * time.Second
	reconnectWait = 500 * time.Millisecond
	apiTime       = 10 * time.Second
)

// Queue is a connection to a server with JetStream.
type Queue struct {
	JS   jetstream.JetStream
	conn *nats.Conn
	url  string

	mu     sync.Mutex
	denied error // the last permission that was refused
}

// Open connects, and makes sure that the server is one that a campaign can use.
func Open(ctx context.Context, a Access) (*Queue, error) { return connect(ctx, a) }

func connect(ctx context.Context, a Access, opts ...nats.Option) (*Queue, error) {
	u, err := url.Parse(a.URL)
	if strings.Contains(a.URL, "@") {
		return nil, errors.New("--queue must not contain a user or a password: set LOCKSTORM_QUEUE_USER and LOCKSTORM_QUEUE_PASSWORD " +
			"in the environment")
	}
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("--queue %s: write nats://HOST:PORT or tls://HOST:PORT", a.URL)
	}
	q := &Queue{url: u.Scheme + "://" + u.Host}
	opts = append(opts,
		nats.Name("lockstorm campaign"), nats.Timeout(dialTime), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectWait/2, reconnectWait/2),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { q.saw(err) }),
	)
	if a.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(a.NKey)
		if err != nil {
			return nil, fmt.Errorf("--queue-nkey %s: %w", a.NKey, err)
		}
		opts = append(opts, key)
	}
	for _, o := range []struct {
		given  string
		option nats.Option
	}{
		{a.Creds, nats.UserCredentials(a.Creds)},
		{a.CA, nats.RootCAs(a.CA)},
		{a.Cert + a.Key, nats.ClientCert(a.Cert, a.Key)},
		{a.User, nats.UserInfo(a.User, a.Pass)},
		{a.Token, nats.Token(a.Token)},
	} {
		if o.given != "" {
			opts = append(opts, o.option)
		}
	}
	if q.conn, err = nats.Connect(a.URL, opts...); err != nil {
		return nil, q.Explain(err)
	}
	if err := q.usable(ctx); err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

// usable asks for the version of the server and for its JetStream.
func (q *Queue) usable(ctx context.Context) (err error) {
	if v := q.conn.ConnectedServerVersion(); older(v, Oldest) {
		return fmt.Errorf("the NATS server of the queue %s has version %s, but a campaign needs version %s or newer: older servers "+
			"do not let clients create consumers that filter by subject", q.url, v, Oldest)
	}
	if q.JS, err = jetstream.New(q.conn, jetstream.WithDefaultTimeout(apiTime)); err != nil {
		return err
	}
	_, err = q.JS.AccountInfo(ctx)
	return q.Explain(err)
}

// older compares versions like 2.9.10; a part that is no number counts as 0.
func older(v, than string) bool {
	parts := func(s string) (p [3]int) {
		fmt.Sscanf(s, "%d.%d.%d", &p[0], &p[1], &p[2]) //nolint:errcheck // what is missing is 0
		return p
	}
	a, b := parts(v), parts(than)
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2])) < 0
}

func (q *Queue) saw(err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		q.mu.Lock()
		q.denied = err
		q.mu.Unlock()
	}
}

// Codes of JetStream that say that there is no room.
var noRoom = []jetstream.ErrorCode{
	10047, // insufficient storage resources available
	10028, // memory
	10023, // resources
	10077, // the API's answer when a publish fails: maximum bytes exceeded, and such
	10027, // maximum number of streams reached
}

// Full is an error that says that the queue has no room.
type Full struct{ err error }

func (f Full) Error() string { return f.err.Error() }

// Unwrap is what the server said.
func (f Full) Unwrap() error { return f.err }

// Explain says what an error of the server means, and what to do.
func (q *Queue) Explain(err error) error {
	if err == nil {
		return nil
	}
	q.mu.Lock()
	denied := q.denied
	q.mu.Unlock()
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired):
		return fmt.Errorf("the queue %s refuses the credentials of this program (%w): check --queue-creds or LOCKSTORM_QUEUE_USER, "+
			"LOCKSTORM_QUEUE_PASSWORD and LOCKSTORM_QUEUE_TOKEN", q.url, err)
	case denied != nil && Away(err):
		return fmt.Errorf("the NATS user on the queue %s lacks a permission (%w): the user needs permission to publish and subscribe "+
			"on $JS.API.>, $KV.>, $O.>, $JS.ACK.>, lockstorm.> and _INBOX.>", q.url, denied)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("the queue %s has no JetStream (%w): start the server with -js, or enable JetStream for the account", q.url,
			err)
	case errors.As(err, &api) && slices.Contains(noRoom, api.ErrorCode):
		return Full{fmt.Errorf("the queue %s is full (%w): remove old campaigns (campaign rm), or let the queue use more disk space "+
			"(--max-size of campaign start, max_file_store of the server)", q.url, err)}
	case Away(err):
		return fmt.Errorf("the queue %s does not answer (%w): check that the address is right and that the server runs", q.url, err)
	}
	return fmt.Errorf("the queue %s reports an error: %w", q.url, err)
}

// Away reports whether an error says that the server was not reached: it may be reached later.
func Away(err error) bool {
	var network net.Error
	return errors.As(err, &network) || slices.ContainsFunc([]error{
		nats.ErrNoServers, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrConnectionClosed,
		nats.ErrDisconnected, nats.ErrReconnectBufExceeded, jetstream.ErrNoStreamResponse, context.DeadlineExceeded,
	}, func(is error) bool { return errors.Is(err, is) })
}

// URL is the address of the server, without credentials.
func (q *Queue) URL() string { return q.url }

// Version is that of the server.
func (q *Queue) Version() string { return q.conn.ConnectedServerVersion() }

// Connected reports whether the server is reached at the moment.
func (q *Queue) Connected() bool { return q.conn.IsConnected() }

// Flush waits until the server has what was sent.
func (q *Queue) Flush() error { return q.conn.FlushTimeout(dialTime) }

// Close ends the connection.
func (q *Queue) Close() { q.conn.Close() }
