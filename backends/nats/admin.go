package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/sockets"
)

// RoleLooking is the role of a server that knows no leader.
const RoleLooking = "looking"

// admin asks and tells a server past all links, as an operator would.
type admin struct{ addr func() string }

func newAdmin(addr func() string) any { return admin{addr} }

var (
	_ cluster.Roler   = admin{}
	_ cluster.Elector = admin{}
	_ cluster.Mover   = admin{}
)

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

// metaGroup is the group of servers that decides about streams; each stream has one of its own.
const metaGroup = "_meta_"

// group is what a server says of a group that it is a member of.
type group struct {
	State  string `json:"state"`
	Leader string `json:"leader"`
	Term   int64  `json:"term"`
}

func (g group) leads() bool { return strings.EqualFold(g.State, "leader") }

// groupsOf asks a server for its own view of its groups, by their names.
func groupsOf(ctx context.Context, addr string) (groups map[string]group, err error) {
	var answer struct {
		Data  map[string]map[string]group `json:"data"`
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	err = as(ctx, systemUser, addr, func(ctx context.Context, nc *natsgo.Conn) error {
		for _, account := range []string{"SYS", "APP"} {
			m, err := nc.RequestWithContext(ctx, "$SYS.REQ.SERVER."+nc.ConnectedServerId()+".RAFTZ", []byte(`{"account":"`+account+`"}`))
			if err != nil {
				return err
			}
			answer.Data = nil
			if err := json.Unmarshal(m.Data, &answer); err != nil {
				return err
			}
			if answer.Error != nil {
				return errors.New(answer.Error.Description)
			}
			for _, of := range answer.Data {
				for name, g := range of {
					if groups == nil {
						groups = map[string]group{}
					}
					groups[name] = g
				}
			}
		}
		return nil
	})
	return groups, err
}

// streamTerms put every term of a stream above those of the servers' own group: a server that came back and does not know of the
// stream yet is not taken for its leader.
const streamTerms = 1 << 32

// deciding is the group that grants locks: that of the stream that holds them, once there is one.
func deciding(groups map[string]group) group {
	for name, g := range groups {
		if strings.HasPrefix(name, "S-") {
			g.Term += streamTerms
			return g
		}
	}
	return groups[metaGroup]
}

// Role is what the server says of itself. One server alone leads.
func (a admin) Role(ctx context.Context) (string, error) {
	groups, err := groupsOf(ctx, a.addr())
	g := deciding(groups)
	switch {
	case err != nil:
		return "", err
	case g.leads():
		return history.RoleLeader, nil
	case g.Leader == "":
		return RoleLooking, nil
	}
	return history.RoleFollower, nil
}

// Leads reports whether it says that it leads, and in which term.
func (a admin) Leads(ctx context.Context) (bool, int64, error) {
	groups, err := groupsOf(ctx, a.addr())
	g := deciding(groups)
	return g.leads(), g.Term, err
}

// Move has the leader of the locks' stream step down in favour of another member.
func (a admin) Move(ctx context.Context, to string) error {
	var heir string
	if err := as(ctx, lockUser, to, func(_ context.Context, nc *natsgo.Conn) error { heir = nc.ConnectedServerName(); return nil }); err != nil {
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
			return errors.Join(names.Err(), errors.New("there is no stream yet"))
		}
		m, err := nc.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+stream, fmt.Appendf(nil, `{"placement":{"preferred":%q}}`, heir))
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
	})
}

// answers waits until the server's own process answers, with a leader or without.
func answers(ctx context.Context, addr string, pid int) error {
	if _, err := groupsOf(ctx, addr); err != nil {
		return err
	}
	return sockets.Own(pid, addr)
}

// ready asks whether JetStream answers.
func ready(ctx context.Context, addr string, _ int) error {
	return as(ctx, lockUser, addr, func(ctx context.Context, nc *natsgo.Conn) error {
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		_, err = js.AccountInfo(ctx)
		return err
	})
}
