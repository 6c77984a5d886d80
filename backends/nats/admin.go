package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/cluster"
)

// admin asks and tells a server past all links, as an operator would.
type admin struct {
	addr func() string
	cluster.Voter
}

func newAdmin(addr func() string) any {
	return admin{addr, func(ctx context.Context) (cluster.Standing, error) { return standing(ctx, addr()) }}
}

var _ cluster.Mover = admin{}

const adminTimeout = 500 * time.Millisecond // for one answer

// as calls f with a connection of a user to the server.
func as(ctx context.Context, user, addr string, f func(ctx context.Context, nc *natsgo.Conn) error) error {
	nc, err := natsgo.Connect("nats://"+addr, natsgo.UserInfo(user, password), natsgo.NoReconnect(), natsgo.Timeout(adminTimeout))
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	return f(ctx, nc)
}

// standing is what the server says of itself.
func standing(ctx context.Context, addr string) (cluster.Standing, error) {
	groups, err := groupsOf(ctx, addr)
	g := deciding(groups)
	return cluster.Standing{Leads: g.leads(), Led: g.leads() || g.Leader != "", Term: g.Term}, err
}

// Move has the leader of the locks' stream step down in favour of another member, or, before 2.11, of any other.
func (a admin) Move(ctx context.Context, to string) error {
	var heir string
	if err := as(ctx, lockUser, to, func(_ context.Context, nc *natsgo.Conn) error {
		heir = nc.ConnectedServerName()
		return nil
	}); err != nil {
		return err
	}
	return as(ctx, lockUser, a.addr(), func(ctx context.Context, nc *natsgo.Conn) error {
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		names := js.StreamNames(ctx)
		stream, found := <-names.Name()
		if !found {
			return errors.Join(names.Err(), errors.New("the lock's JetStream stream does not exist yet"))
		}
		err = stepDown(ctx, nc, stream, fmt.Appendf(nil, `{"placement":{"preferred":%q}}`, heir))
		if refused := new(jetstream.APIError); errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeBadRequest {
			return stepDown(ctx, nc, stream, nil) // before 2.11 the members choose the heir
		}
		return err
	})
}

// stepDown has the leader of a stream step down.
func stepDown(ctx context.Context, nc *natsgo.Conn, stream string, request []byte) error {
	m, err := nc.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+stream, request)
	if err != nil {
		return err
	}
	var answer struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return answer.Error
	}
	return nil
}

// ready asks whether JetStream answers.
func ready(ctx context.Context, addr string) error {
	return as(ctx, lockUser, addr, func(ctx context.Context, nc *natsgo.Conn) error {
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		_, err = js.AccountInfo(ctx)
		return err
	})
}
