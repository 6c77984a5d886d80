package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness/internal/control"
	"github.com/lockstorm/lockstorm/harness/internal/watch"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/clockshim"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/internal/proc"
	"github.com/lockstorm/lockstorm/internal/register"
	"github.com/lockstorm/lockstorm/nemesis"
)

// session is a run while its processes live.
type session struct {
	r        *resolved
	trial    *Trial
	plan     *nemesis.Plan
	dir      string
	progress *Progress
	clock    history.Clock
	run      history.Run
	starter  *proc.Starter
	workers  *proc.Starter // of the clients, which are nicer than we are
	net      *link.Network
	provider cluster.Provider
	cluster  *cluster.Cluster
	register *register.Server
	tail     *tail
	points   *lookout

	rec         *history.Recorder // the controller's log
	nemesisRec  *history.Recorder
	registerRec *history.Recorder
	watches     []func() error

	mu         sync.Mutex
	clients    []*client
	lastClient int64
	retiring   sync.WaitGroup

	limits limits
	cutAt  time.Time // when the run is cut
	worked time.Duration

	hopeless context.Context // ends when a client cannot go on
	giveUp   context.CancelFunc
}

func newSession(t *Trial, dir string, p *Progress) *session {
	s := &session{
		r: t.r, trial: t, plan: t.Plan, dir: dir, progress: p, clock: history.NewClock(), starter: proc.NewStarter(),
		workers: proc.NewNicer(clientNice), net: link.New(), tail: newTail(!t.r.backend.Model.Shares()),
		limits: cmp.Or(t.limits, endLimits),
	}
	s.hopeless, s.giveUp = context.WithCancel(context.Background())
	s.points = newLookout(s.living)
	return s
}

// up starts servers, register and clients, and returns when all are ready.
func (s *session) up(ctx context.Context) error {
	provider, err := cluster.Choose(s.r.provider.Name(), s.r.topology, s.r.cat.Providers(s.r.means(s.starter, s.progress.note)))
	if err != nil {
		return Environment(err)
	}
	s.provider = provider
	if err := s.fetch(ctx, provider); err != nil {
		return Environment(err)
	}
	name := provider.Name()
	if len(s.r.topology.Nodes) == 0 {
		name = cluster.NoServers
	}
	s.run = s.trial.run(name, time.Now())
	if err := s.openLogs(); err != nil {
		return Environment(err)
	}
	opts := cluster.Options{Network: s.net, Disks: s.r.disks}
	if s.r.jumps {
		if opts.Shim, err = clockshim.Build(ctx); err != nil {
			return Environment(err)
		}
	}
	s.progress.phase("servers", fmt.Sprintf("topology %s, provider %s", s.r.Topology, name))
	if s.cluster, err = cluster.Start(ctx, s.r.topology, provider, filepath.Join(s.dir, nodesDir), opts); err != nil {
		return Environment(err)
	}
	s.watches = append(s.watches, watch.Pressure(s.rec, s.serverPids))
	if err := s.moveIn(ctx); err != nil {
		return Environment(err)
	}
	for _, n := range s.cluster.Servers() {
		n.OnMove(func(addr string) {
			if s.r.links&nemesis.ToServers == 0 { // links notice by themselves
				s.tellAll(control.Message{Op: control.Move, Node: n.Name(), Addr: addr})
			}
		})
	}
	if !s.r.ourRegister() {
		return s.startClients(ctx)
	}
	fenced := register.New(s.r.settings.Fence(), s.r.startValues())
	if s.register, err = register.Serve(fenced.Handle, s.registerRec); err != nil {
		return Environment(err)
	}
	s.net.Serve(history.PartyRegister, "", s.register.Addr())
	return s.startClients(ctx)
}

const nodesDir = "nodes"

func (s *session) openLogs() (err error) {
	open := func(party string) (*history.Recorder, error) {
		return history.Open(s.logPath(party), party, s.clock, s.run)
	}
	if s.rec, err = open(history.PartyController); err != nil {
		return err
	}
	if s.nemesisRec, err = open(history.PartyNemesis); err != nil {
		return err
	}
	if s.r.ourRegister() {
		if s.registerRec, err = open(history.PartyRegister); err != nil {
			return err
		}
	}
	s.watches = append(s.watches, watch.Stalls(s.rec, time.Duration(s.run.StallLimit)), watch.WallClock(s.rec))
	return nil
}

// serverPids are the processes of the servers, as far as they can be looked into.
func (s *session) serverPids() (pids []int) {
	for _, n := range s.cluster.Servers() {
		if pid := n.Pid(); pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (s *session) startClients(ctx context.Context) error {
	s.progress.phase("clients", fmt.Sprintf("%d processes", s.r.Clients))
	errs := make([]error, s.r.Clients)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = s.startClient(ctx) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return Environment(err)
	}
	return nil
}

// logPath is where a party records.
func (s *session) logPath(party string) string {
	return filepath.Join(s.dir, history.LogDir, party+".jsonl")
}

// runID is unique to the run, for names in shared stores.
func (s *session) runID() string { return fmt.Sprintf("%x-%x", s.r.Seed, s.clock.Base()) }

// reach is how a client reaches a server or the register: through a link of its own
// where a fault of the plan touches such links, else directly.
func (s *session) reach(client, to, direct string, kind nemesis.Links) (string, error) {
	if s.r.links&kind == 0 {
		return direct, nil
	}
	return s.net.Between(cluster.Loopback, client, to, "")
}

func (s *session) workerConfig(name string, index int64) (control.Config, error) {
	cfg := control.Config{
		Head: s.run, Client: name, Index: index, Seed: s.r.Seed, RunID: s.runID(), ClockBase: s.clock.Base(),
		StallsAt: s.run.StallLimit,
		LogPath:  s.logPath(name), Dir: filepath.Join(s.dir, nodesDir),
		Backend: control.Choice{Name: s.r.backend.Name, Values: s.r.values}, TTL: s.run.TTL, Addrs: map[string]string{},
		Retry: (s.r.crowd() * retryLimit(s.r.TTL)).Nanoseconds(), Timeout: requestTimeout(s.r.TTL).Nanoseconds(),
		Workload: control.Choice{Name: s.r.workload.Name, Values: s.r.settings.Values}, Locks: s.r.locks, Clients: s.r.Clients,
		Registers: s.r.registerNames(), Fencing: s.r.Fencing, NoTokens: !s.r.backend.Tokens,
		Trusting: s.r.Discipline == history.Trusting, OnlyTold: !s.run.ByDeadline(), AsksMethod: s.r.Discipline == history.Told &&
			s.run.ByDeadline(),
	}
	var err error
	if s.r.store != nil {
		cfg.Register = s.r.store.Name
	}
	if s.r.ourRegister() {
		if cfg.Addrs[history.PartyRegister], err = s.reach(name, history.PartyRegister, s.register.Addr(),
			nemesis.ToRegister); err != nil {
			return cfg, err
		}
	}
	for _, n := range s.cluster.Servers() {
		cfg.Nodes = append(cfg.Nodes, cluster.Ref{Name: n.Name(), Role: n.Recipe().Role, Announced: n.Announced()})
		if cfg.Addrs[n.Name()], err = s.reach(name, n.Name(), n.Addr(), nemesis.ToServers); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// deadServers names servers that are down although every fault is healed: they died by
// themselves, or a restart failed. What a lock does without its server is not its fault.
func (s *session) deadServers() error {
	var errs []error
	for _, n := range s.cluster.Servers() {
		if n.Down() {
			errs = append(errs, fmt.Errorf("server %s is down, although no fault is active at this time (its log is %s)", n.Name(),
				filepath.Join(nodesDir, n.Name(), "server.log")))
		}
	}
	return errors.Join(errs...)
}

// down ends everything that was started, and waits for nothing for long: what outlives SIGKILL is a [proc.ErrAlive].
// It is safe to call at any time, once.
func (s *session) down(ctx context.Context) error {
	s.giveUp()
	s.mu.Lock()
	clients := slices.Clone(s.clients)
	s.mu.Unlock()
	killing, cancel := context.WithTimeout(ctx, s.limits.kill)
	defer cancel()
	ends := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			c.ending.Store(true)
			ends[i] = errors.Join(c.Process.Kill(killing), c.out.Close())
			<-c.ended
			removeEmpty(c.errPath)
		})
	}
	wg.Wait()
	s.retiring.Wait()
	errs := ends
	if s.register != nil {
		errs = append(errs, s.register.Close())
	}
	if s.cluster != nil {
		stopping, cancel := ctx, context.CancelFunc(func() {})
		if !s.cutAt.IsZero() {
			stopping, cancel = context.WithDeadline(ctx, s.cutAt.Add(s.limits.undo+s.limits.kill)) // then they are killed
		}
		errs = append(errs, s.moveOut(ctx), s.cluster.Stop(stopping))
		cancel()
	}
	errs = append(errs, closeProvider(s.provider))
	errs = append(errs, s.net.Close())
	s.tail.close()
	for _, stop := range s.watches {
		errs = append(errs, stop())
	}
	s.workers.Close()
	s.starter.Close()
	return errors.Join(errs...)
}
