package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

const paramKeeps = "keeps"

func powerLoss() nemesis.Spec {
	return nemesis.Spec{
		Name: "power-loss", Doc: "takes the power of a server's machine away: kills it (kill -9), throws away what it wrote but did " +
			"not sync, and starts it again",
		Notes: "Its files are on a file system of ours with the promises of ext4. What was written before the first grant is durable.",
		Proven: "Each file that lost data, and how much; the server answers, with a new process id. Where nothing was unsynced, it " +
			"says so, and counts as no hit.",
		End:    "Nothing to undo.",
		Family: history.FamilyServer, Whom: nemesis.Nodes, Disks: true, Fault: fault{canLosePower, injectPowerLoss},
		Params: nemesis.ServerParams(nemesis.AtOnce, "2ttl", "1", catalog.Param{
			Name: paramKeeps, Default: "nothing", Choices: []string{"nothing", "prefix", "torn"},
			Doc: "what is left of the unsynced: nothing; prefix (a random beginning of each file); torn (all but part of each file's " +
				"last page)",
		}),
	}
}

func canLosePower(s nemesis.Setting) error {
	return cmp.Or(needsServer(s), lack(s.NoDisks == "", "%s", s.NoDisks))
}

// injectPowerLoss kills servers, throws away what they had not synced, and starts them again. When that fails, its heal tries
// again to start them.
func injectPowerLoss(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var disks []nemesis.Disker
	for _, n := range t.Nodes {
		d, ok := nemesis.As[nemesis.Disker](n)
		if !ok {
			return nemesis.Effect{}, fmt.Errorf("the power of %s cannot be taken away", n.Name())
		}
		if err := d.Synced(ctx); err != nil {
			return nemesis.Effect{}, err
		}
		disks = append(disks, d)
	}
	e := nemesis.Effect{Began: w.Now(), Vain: true}
	dead, _, err := killAll(ctx, w, t.Nodes)
	e.Heal = dead.restart
	if err != nil {
		return e, err
	}
	var proofs []string
	for i, d := range disks {
		lost, err := d.LosePower(ctx, t.Params[paramKeeps], t.Draw+uint64(i), struckKeys(w, t))
		if err != nil {
			return e, err
		}
		e.Vain = e.Vain && lost == ""
		proofs = append(proofs, cmp.Or(lost, t.Nodes[i].Name()+" had nothing unsynced to lose"))
	}
	again, err := dead.restart(ctx)
	if err != nil {
		return e, errors.Join(fmt.Errorf("%s, but what is left does not start", strings.Join(proofs, "; ")), err)
	}
	e.Heal, e.Proof = nil, strings.Join(append(proofs, again), "; ")
	return e, nil
}
