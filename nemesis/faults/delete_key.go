package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func deleteKey() nemesis.Spec {
	return nemesis.Spec{
		Name: "delete-key", Doc: "deletes the lock's key, as an operator might by mistake",
		Proven: "The server confirmed the deletion.",
		End:    "The key stays deleted.",
		Family: history.FamilyStore, Whom: nemesis.Nodes, Strikes: strikeAcquired,
		Params: nemesis.ServerParams(nemesis.AtOnce, "2ttl", nemesis.RoleMaster), Fault: fault{needsKeys, injectDeleteKey},
	}
}

// injectDeleteKey deletes the keys of a lock and says how many there were. If none exists it waits for one: it
// strikes a lock that is held.
func injectDeleteKey(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	keys := struckKeys(w, t)
	var began int64
	proof, err := onEach(t.Nodes, "stores no keys", func(_ nemesis.Node, s cluster.Keeper) (string, error) {
		text, at, err := deleteOne(ctx, w, s, keys)
		began = cmp.Or(began, at)
		return text, err
	})
	return nemesis.Effect{Proof: proof, Began: began}, err
}

// deleteOne deletes what a server has of the keys as soon as it has one, and says when it asked for that.
func deleteOne(ctx context.Context, w nemesis.World, s cluster.Keeper, keys []string) (text string, at int64, err error) {
	var n int64
	err = nemesis.Until(ctx, func() (bool, error) {
		at = w.Now()
		var err error
		n, err = s.Delete(ctx, keys)
		return n > 0, err
	})
	if err != nil && ctx.Err() != nil {
		return "", 0, errors.New("until the time limit the server had none of the lock's keys (" + strings.Join(keys, ", ") +
			"), so there was nothing to delete")
	}
	return fmt.Sprintf("deleted %d of the lock's keys (%s)", n, strings.Join(keys, ", ")), at, err
}
