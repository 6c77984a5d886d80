package nats

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"
)

// metaGroup is the group of servers that decides about streams; each stream has one of its own, whose name begins with
// streamGroup.
const (
	metaGroup   = "_meta_"
	streamGroup = "S-"
)

// The accounts: that of the servers themselves, and that of the locks.
const (
	systemAccount = "SYS"
	lockAccount   = "APP"
)

// group is what a server says of a group that it is a member of.
type group struct {
	State  string `json:"state"`
	Leader string `json:"leader"`
	Term   int64  `json:"term"`
}

const stateLeader = "LEADER"

func (g group) leads() bool { return strings.EqualFold(g.State, stateLeader) }

// groupsOf asks a server for its own view of its groups, by their names.
func groupsOf(ctx context.Context, addr string) (groups map[string]group, err error) {
	err = as(ctx, systemUser, addr, func(ctx context.Context, nc *natsgo.Conn) error {
		groups, err = raftGroups(ctx, nc)
		if errors.Is(err, natsgo.ErrNoResponders) { // before 2.10
			groups, err = listedGroups(ctx, nc)
		}
		return err
	})
	return groups, err
}

// raftGroups are the groups with their states and terms.
func raftGroups(ctx context.Context, nc *natsgo.Conn) (map[string]group, error) {
	groups := map[string]group{}
	for _, account := range []string{systemAccount, lockAccount} {
		var said map[string]map[string]group
		if err := ask(ctx, nc, "RAFTZ", map[string]any{"account": account}, &said); err != nil {
			return nil, err
		}
		for _, of := range said {
			for name, g := range of {
				groups[name] = g
			}
		}
	}
	return groups, nil
}

// listed is a group in the list of what JetStream has.
type listed struct {
	Leader   string     `json:"leader"`
	Replicas []struct { // the other members; of the servers' own group only its leader lists them
		Active time.Duration `json:"active"` // since it was heard; 0: it was not
	} `json:"replicas"`
}

// listedGroups are the groups with their leaders. The list has no terms.
func listedGroups(ctx context.Context, nc *natsgo.Conn) (map[string]group, error) {
	var said struct {
		Meta     listed `json:"meta_cluster"`
		Accounts []struct {
			Streams []struct {
				Name    string `json:"name"`
				Cluster listed `json:"cluster"`
			} `json:"stream_detail"`
		} `json:"account_details"`
	}
	if err := ask(ctx, nc, "JSZ", map[string]any{"account": lockAccount, "streams": true}, &said); err != nil {
		return nil, err
	}
	groups := map[string]group{metaGroup: said.Meta.as(nc.ConnectedServerName())}
	for _, a := range said.Accounts {
		for _, s := range a.Streams {
			if len(s.Cluster.Replicas) > 0 { // else the server has found the stream on its disk, and is no member of its group yet
				groups[streamGroup+s.Name] = s.Cluster.as(nc.ConnectedServerName())
			}
		}
	}
	return groups, nil
}

// as is the group as the server of that name sees it. Of two that call themselves its leader the one is right whose followers
// answer: the shorter ago a majority was heard, the higher is what stands for the term.
func (l listed) as(server string) group {
	switch {
	case l.Leader != server:
		return group{Leader: l.Leader}
	case len(l.Replicas) == 0: // it is no member of a group yet, or was told to follow while it made the list
		return group{}
	}
	var silent []int64
	for _, r := range l.Replicas {
		if r.Active <= 0 {
			r.Active = math.MaxInt32 * time.Microsecond
		}
		silent = append(silent, r.Active.Microseconds())
	}
	slices.Sort(silent)
	return group{State: stateLeader, Leader: server, Term: -silent[(len(silent)+1)/2-1]}
}

// ask asks the server that nc is connected with for something of its own.
func ask(ctx context.Context, nc *natsgo.Conn, what string, request, said any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	m, err := nc.RequestWithContext(ctx, "$SYS.REQ.SERVER."+nc.ConnectedServerId()+"."+what, body)
	if err != nil {
		return err
	}
	answer := struct {
		Data  any `json:"data"`
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}{Data: said}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return errors.New(answer.Error.Description)
	}
	return nil
}

// streamTerms put every term of a stream above those of the servers' own group: a server that came back and does not know of the
// stream yet is not taken for its leader.
const streamTerms = 1 << 32

// deciding is the group that grants locks: that of the stream that holds them, once there is one.
func deciding(groups map[string]group) group {
	for name, g := range groups {
		if strings.HasPrefix(name, streamGroup) {
			g.Term += streamTerms
			return g
		}
	}
	return groups[metaGroup]
}
