package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

const paramPolicy = "policy"

func evict() nemesis.Spec {
	return nemesis.Spec{
		Name: "evict", Doc: "fills a server's memory up to its limit (maxmemory) until it evicts the lock's key",
		Proven: "The key was there, and the server reports that it evicted it.",
		End:    "Memory is freed as soon as the key is gone (until then nobody can acquire); the key stays evicted.",
		Family: history.FamilyStore, Whom: nemesis.Nodes, Strikes: strikeAcquired, Check: checkPolicy,
		Fault: fault{canEvict, injectEvict}, Params: nemesis.ServerParams(nemesis.AtOnce, "2ttl", nemesis.RoleMaster,
			catalog.Param{Name: paramPolicy, Doc: "the server's eviction policy (default: shortest time to live first)"}),
	}
}

// canEvict says whether there is a store that evicts.
func canEvict(s nemesis.Setting) error {
	return cmp.Or(needsStore(s),
		lack(len(s.Policies) > 0,
			"this fault needs servers that evict keys, but the servers of topology %s never evict keys", s.Topology),
		lack(s.RealOnly, "the embedded server never evicts keys: this fault needs a real server (--provider process or container)"),
		needsKeys(s))
}

func checkPolicy(own catalog.Values, in nemesis.Input) error {
	p, policies := own[paramPolicy], in.Setting.Policies
	if p != "" && !slices.Contains(policies, p) {
		return fmt.Errorf("%s=%s: choose one of %s", paramPolicy, p, strings.Join(policies, ", "))
	}
	return nil
}

// injectEvict fills the memory of servers until they evict the keys of a lock, then makes room
// again: while memory is short nobody could acquire anything.
// It fills until the keys are gone. Keys that do not exist have nothing to lose: it
// waits for them.
func injectEvict(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	keys := struckKeys(w, t)
	var filled []filledNode
	var began int64
	proof, err := onEach(t.Nodes, "never evicts keys", func(n nemesis.Node, s cluster.Evictor) (string, error) {
		filled = append(filled, filledNode{n.Name(), s})
		return evictKeys(ctx, n, s, t.Params[paramPolicy], keys, func() { began = cmp.Or(began, w.Now()) })
	})
	return nemesis.Effect{Proof: proof, Began: began, Heal: func(ctx context.Context) (string, error) {
		return makeRoom(ctx, filled)
	}}, err
}

// filledNode is a server whose memory may be short because of us.
type filledNode struct {
	name string
	cluster.Evictor
}

// makeRoom makes room on every server, whatever fails.
func makeRoom(ctx context.Context, filled []filledNode) (string, error) {
	var proofs []string
	var errs []error
	for _, f := range filled {
		if err := f.MakeRoom(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.name, err))
			continue
		}
		proofs = append(proofs, f.name+" has free memory again")
	}
	return strings.Join(proofs, "; "), errors.Join(errs...)
}

// evictKeys fills the memory of a server while it has one of the keys, and tells before it does so.
func evictKeys(ctx context.Context, n nemesis.Node, s cluster.Evictor, policy string, keys []string, fills func()) (string,
	error,
) {
	k, ok := nemesis.As[cluster.Keeper](n)
	if !ok {
		return "", errors.New("the server stores no keys, so it cannot evict the lock's key")
	}
	var text string
	err := nemesis.Until(ctx, func() (bool, error) {
		found, err := k.Has(ctx, keys)
		if err != nil || len(found) == 0 {
			return false, err
		}
		fills()
		text, err = s.Evict(ctx, policy, found)
		if errors.Is(err, cluster.ErrNotEvicted) {
			return false, nil
		}
		return true, err
	})
	if err != nil && ctx.Err() != nil {
		return "", errors.New("none of the lock's keys (" + strings.Join(keys, ", ") + ") existed long enough for an eviction, so " +
			"the server evicted no key of the lock")
	}
	return text, err
}
