package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Roles that can be named in `clients` and `nodes`, beside those of package history.
const (
	RoleHolder   = "holder"             // a client that holds a lock now
	RoleMaster   = history.RoleMaster   // a node that takes writes
	RoleLeader   = history.RoleLeader   // another word for it
	RoleReplica  = history.RoleReplica  // a node that follows a master
	RoleFollower = history.RoleFollower // another word for it
	RoleMajority = "majority"           // more than half of the nodes that hold data
	RoleGranted  = "granted"            // the nodes that granted the lock to the client at the point
	RoleAll      = "all"                // every client, or every node that holds data
	RoleHalf     = "half"               // half of the clients, rounded up
)

var (
	clientRoles = []string{RoleHolder, RoleAll, RoleHalf}
	nodeRoles   = []string{RoleMaster, RoleLeader, RoleReplica, RoleFollower, RoleMajority, RoleAll, RoleGranted}
)

// pinned is the clients that a selector names outright, for tied faults; nil where any
// client may hit.
func pinned(selector string) []string {
	if _, err := strconv.Atoi(selector); err == nil || selector == "" || slices.Contains(clientRoles, selector) {
		return nil
	}
	return strings.Split(selector, "+")
}

// chooseClients resolves a selector among the living clients. The client of a hit comes
// first.
func chooseClients(all []Client, selector string, hit *Hit, draw uint64) ([]Client, error) {
	if hit != nil {
		others := slices.DeleteFunc(slices.Clone(all), func(c Client) bool { return c.Name() == hit.Client.Name() })
		if names := pinned(selector); names != nil {
			named := slices.DeleteFunc(others, func(c Client) bool { return !slices.Contains(names, c.Name()) })
			return append([]Client{hit.Client}, named...), nil
		}
		return append([]Client{hit.Client}, Choose(others, howMany(selector, len(all))-1, draw)...), nil
	}
	if names := pinned(selector); names != nil {
		return byName(all, names, "client")
	}
	if selector == RoleHolder {
		holders := slices.DeleteFunc(slices.Clone(all), func(c Client) bool { return c.Doing() != Holds })
		if len(holders) == 0 {
			return nil, fmt.Errorf("no client holds a lock at this moment, so the fault has no target")
		}
		return Choose(holders, 1, draw), nil
	}
	return Choose(all, howMany(selector, len(all)), draw), nil
}

// chooseNodes resolves a selector among the nodes that hold data or, for a fault of the clients' links where clients call only
// servers in front of those, among these; by its name it takes any. Where the client at the point was granted by some of the
// nodes, a count takes these first.
func chooseNodes(ctx context.Context, w World, selector string, ofClients bool, hit *Hit, draw uint64) ([]Node, error) {
	every := w.Nodes()
	data := slices.Clone(every)
	if ofClients && slices.ContainsFunc(every, Hidden) {
		data = slices.DeleteFunc(data, Hidden)
	} else {
		data = slices.DeleteFunc(data, func(n Node) bool { return !n.Data() })
	}
	granted := func(n Node) bool { return hit != nil && slices.Contains(hit.Nodes, n.Name()) }
	switch selector {
	case RoleMaster, RoleLeader:
		return ofRole(ctx, w, data, history.Leads, granted, draw)
	case RoleReplica, RoleFollower:
		return ofRole(ctx, w, data, history.Follows, granted, draw)
	case RoleAll:
		return data, nil
	case RoleGranted:
		return slices.DeleteFunc(data, func(n Node) bool { return !granted(n) }), nil
	}
	if _, err := strconv.Atoi(selector); err != nil && selector != "" && selector != RoleMajority {
		return byName(every, strings.Split(selector, "+"), "node")
	}
	first := slices.DeleteFunc(slices.Clone(data), func(n Node) bool { return !granted(n) })
	rest := slices.DeleteFunc(data, granted)
	n := howMany(selector, len(data))
	return append(Choose(first, n, draw), Choose(rest, n-len(first), draw)...), nil
}

// ofRole is the master that those who decide have chosen, else one that claims the role,
// of those that granted the lock to the client at the point where some did.
func ofRole(ctx context.Context, w World, data []Node, role func(string) bool, granted func(Node) bool, draw uint64) ([]Node,
	error,
) {
	if f := w.Fleet(); f != nil && role(RoleMaster) {
		m, err := f.Master(ctx)
		if err != nil {
			return nil, err
		}
		return []Node{m}, nil
	}
	claim := slices.DeleteFunc(data, func(n Node) bool { return !role(n.Role()) })
	if first := slices.DeleteFunc(slices.Clone(claim), func(n Node) bool { return !granted(n) }); len(first) > 0 {
		claim = first
	}
	return Choose(claim, 1, draw), nil
}

// howMany is the number that a selector stands for, of so many.
func howMany(selector string, all int) int {
	n, err := strconv.Atoi(selector)
	switch {
	case err == nil:
		return n
	case selector == RoleAll:
		return all
	case selector == RoleHalf:
		return (all + 1) / 2
	case selector == RoleMajority:
		return all/2 + 1
	default:
		return 1
	}
}

// Choose returns n of all, chosen by the seed, in their order.
func Choose[T any](all []T, n int, seed uint64) []T {
	n = max(0, min(n, len(all)))
	picks := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:n]
	slices.Sort(picks)
	out := make([]T, 0, n)
	for _, i := range picks {
		out = append(out, all[i])
	}
	return out
}

func byName[T interface{ Name() string }](all []T, names []string, kind string) ([]T, error) {
	var out []T
	for _, name := range names {
		i := slices.IndexFunc(all, func(t T) bool { return t.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("the %s %q is not running at this moment, so the fault cannot hit it", kind, name)
		}
		out = append(out, all[i])
	}
	return out, nil
}
