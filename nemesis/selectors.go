package nemesis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// grantedBy reads by how many nodes the grant must be that a tied fault strikes.
func grantedBy(v Values, in Input) (int, error) {
	switch v[paramGrant] {
	case "", GrantAny:
		return 0, nil
	case GrantAll:
		return AllNodes, nil
	}
	n, err := v.Count(paramGrant, 0)
	if err != nil || n > len(in.Nodes) {
		return 0, fmt.Errorf("%s=%s: choose %s, %s, or a number from 1 to %d", paramGrant, v[paramGrant], GrantAny, GrantAll,
			len(in.Nodes))
	}
	return n, nil
}

// byVote reports whether a fault depends on which nodes granted the lock.
func byVote(v Values) bool {
	_, err := strconv.Atoi(v[paramGrant])
	return v[paramNodes] == RoleGranted || err == nil
}

// checkVoters refuses to look for nodes that granted where nobody tells them.
func checkVoters(v Values, in Input) error {
	leave := fmt.Sprintf("leave out nodes=%s and %s=N", RoleGranted, paramGrant)
	switch at := v[paramAt]; {
	case !byVote(v):
		return nil
	case !in.Setting.Voters:
		return fmt.Errorf("backend %s does not report which servers granted a lock: %s", in.Setting.Backend, leave)
	case at == history.AtBeforeAcquire || at == history.AtWaiting:
		return fmt.Errorf("at=%s: at this point the client does not hold the lock yet, so lockstorm does not know which servers will "+
			"grant it: name a later point, or %s", at, leave)
	case history.IsMessagePoint(at):
		return fmt.Errorf("at=%s: at a message lockstorm does not know which servers granted the lock: name a point of the "+
			"client, or %s", at, leave)
	case at == history.AtRandom:
		return fmt.Errorf("at=%s: at random times lockstorm does not know which servers granted the lock: name a point of the "+
			"client, or %s", history.AtRandom, leave)
	default:
		return nil
	}
}

// checkTargets refuses targets that cannot exist.
func checkTargets(s Spec, v Values, in Input) error {
	clients, nodes := v[paramClients], v[paramNodes]
	if s.Whom&Clients == 0 && clients != "" && pinned(clients) == nil { // it hurts servers: whose points count
		return fmt.Errorf("clients=%s: this fault acts on servers, so clients= must list the clients whose steps trigger the fault: "+
			"write names from %s, joined by +", clients, strings.Join(in.Clients, ", "))
	}
	if s.Gates && (clients == RoleAll || clients == RoleHalf || howMany(clients, 1) > 1) {
		return fmt.Errorf("clients=%s is not possible: this fault stops only the client that reaches the point. Write 1 (any "+
			"client), %s, or names joined by + (any of them)", clients, RoleHolder)
	}
	if _, err := strconv.Atoi(nodes); s.OfMaster &&
		(err == nil || slices.Contains([]string{RoleReplica, RoleFollower, RoleMajority, RoleAll, RoleGranted}, nodes)) {
		return fmt.Errorf("nodes=%s: this fault acts only on the master: use nodes=%s", nodes, RoleMaster)
	}
	if err := checkSelector(paramClients, clients, in.Clients, len(in.Clients), clientRoles); err != nil {
		return err
	}
	return checkSelector(paramNodes, nodes, in.Nodes, in.Setting.Data, nodeRoles)
}

// checkSelector reads a count, a role or names joined by +.
func checkSelector(param, selector string, names []string, most int, roles []string) error {
	if selector == "" || slices.Contains(roles, selector) {
		return nil
	}
	if n, err := strconv.Atoi(selector); err == nil {
		if n < 1 || n > most {
			return fmt.Errorf("%s=%d: choose from 1 to %d", param, n, most)
		}
		return nil
	}
	given := strings.Split(selector, "+")
	for i, name := range given {
		if slices.Contains(given[:i], name) {
			return fmt.Errorf("%s=%s: %s is named twice", param, selector, name)
		}
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s=%s: nothing is named %q at the start of the run; choose a number, %s, or names from %s joined by +",
				param, selector, name, strings.Join(roles, ", "), strings.Join(names, ", "))
		}
	}
	return nil
}
