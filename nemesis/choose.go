package nemesis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Roles that can be named in `clients` and `nodes`.
const (
	RoleHolder = "holder" // a client that holds a lock now
	RoleMaster = "master" // a node that takes writes
)

// pinned is the clients that a selector names outright, for tied faults; nil where any
// client may hit.
func pinned(selector string) []string {
	if _, err := strconv.Atoi(selector); err == nil || selector == "" || selector == RoleHolder {
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
		n := 1
		if v, err := strconv.Atoi(selector); err == nil {
			n = v
		}
		return append([]Client{hit.Client}, drawn(others, n-1, draw)...), nil
	}
	if names := pinned(selector); names != nil {
		return byName(all, names, "client")
	}
	if selector == RoleHolder {
		holders := slices.DeleteFunc(slices.Clone(all), func(c Client) bool { return c.Doing() != Holds })
		if len(holders) == 0 {
			return nil, fmt.Errorf("no client holds a lock now")
		}
		return drawn(holders, 1, draw), nil
	}
	return drawn(all, count(selector), draw), nil
}

// chooseNodes resolves a selector among the nodes.
func chooseNodes(all []Node, selector string, draw uint64) ([]Node, error) {
	_, err := strconv.Atoi(selector)
	switch {
	case err == nil || selector == "":
		return drawn(all, count(selector), draw), nil
	case selector == RoleMaster:
		masters := slices.DeleteFunc(slices.Clone(all), func(n Node) bool { return n.Role() != RoleMaster })
		return drawn(masters, 1, draw), nil
	default:
		return byName(all, strings.Split(selector, "+"), "node")
	}
}

func count(selector string) int {
	if n, err := strconv.Atoi(selector); err == nil {
		return n
	}
	return 1
}

// drawn chooses n of all by the seed, in their order.
func drawn[T any](all []T, n int, seed uint64) []T {
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
			return nil, fmt.Errorf("there is no %s %q now", kind, name)
		}
		out = append(out, all[i])
	}
	return out, nil
}
