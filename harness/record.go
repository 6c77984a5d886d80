package harness

import (
	"runtime"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/workloads"
)

// run is what the record says of the run.
func (t *Trial) run(provider string, started time.Time) history.Run {
	r := t.r
	run := history.Run{
		Schema: history.Schema, Backend: r.Backend, Topology: r.Topology, Provider: provider, Nodes: r.nodeNames(), Nemesis: r.Nemesis,
		Workload: r.Workload, Model: r.backend.Model, Fencing: r.Fencing, Discipline: r.Discipline, Seed: r.Seed, Clients: r.Clients,
		Locks: r.locks, TTL: r.TTL.Nanoseconds(), Duration: r.Time.Nanoseconds(), Tolerance: r.tolerance().Nanoseconds(),
		StallLimit:    r.tolerance().Nanoseconds(), // from there on lateness counts
		LivenessBound: r.livenessBound(t.Plan).Nanoseconds(),
		Recovery:      r.topology.Recovery.Nanoseconds(),
		Ends:          r.backend.Ends, Renews: r.backend.Renews, NoClock: r.backend.NoClock, Signals: r.backend.SignalKinds(),
		Tokens: r.backend.Tokens, Resource: len(r.registers) > 0, OwnFence: r.backend.Settles, Fair: r.backend.Fair,
		Required: r.Require, Started: started, Versions: t.Versions, Command: t.Config.Command,
		Registers: r.startValues(),
	}
	if r.workload.Model != "" {
		run.Model.Kind = r.workload.Model
	}
	if r.workload.Bounds != nil {
		run.Bounds = map[string]int64{}
		for name, d := range r.workload.Bounds(r.settings) {
			run.Bounds[name] = d.Nanoseconds()
		}
	}
	if r.FailOn != failOnAll {
		run.FailOn = r.FailOn
	}
	for _, q := range t.Plan.Requests {
		if q.Family == "" {
			continue
		}
		run.RequestedFaults = append(run.RequestedFaults, history.RequestedFault{
			Spec: q.Spec, Family: q.Family, Skipped: q.Skipped,
			Without: q.Without,
		})
		run.ClientFaults = run.ClientFaults || q.Draws(nemesis.Of(history.FamilyClient), r.cat.Nemeses)
	}
	return run
}

// crowd is by how much clients do less often what costs processor time, because there are so many of them: 1 is as usual.
func (r *resolved) crowd() time.Duration {
	return time.Duration(1 + (r.Clients-1)/(easyClients*runtime.GOMAXPROCS(0)))
}

// tolerance is how exactly times are known: a ticker of each client measures them.
func (r *resolved) tolerance() time.Duration { return min(tolerance*r.crowd(), r.TTL/4) }

// livenessBound is how long recovery may take: the longest lease, the stated recovery
// of topology and backend, what the plan makes stores keep longer, the queue (every client may
// have to wait for every other one's section, and for its last ones), and some slack.
func (r *resolved) livenessBound(plan *nemesis.Plan) time.Duration {
	turn := r.settings.Hold + 2*retryLimit(r.TTL)
	queue := time.Duration(r.Clients) * (turn + time.Duration(r.Locks)*lastSection)
	return r.TTL + r.topology.Recovery + r.backend.Recovery + plan.SetBack() + queue + slack
}

// registerNames are the registers that a section uses, in order.
func (r *resolved) registerNames() []string {
	return lists.Map(r.registers, func(reg workloads.Register) string { return reg.Name })
}

// startValues are what the registers start with.
func (r *resolved) startValues() map[string]int64 {
	values := map[string]int64{}
	for _, reg := range r.registers {
		values[reg.Name] = reg.Start
	}
	return values
}
