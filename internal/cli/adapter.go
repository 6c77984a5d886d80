package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/adapter"
	"github.com/lockstorm/lockstorm/internal/adapter/conform"
)

type adapterFlags struct {
	topology string
	provider string
	ttl      time.Duration
	seed     uint64
}

func (a *App) adapterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "adapter",
		Short: "test a lock through an adapter: a program in any language",
		Long:  "An adapter is a program in any language through which a lock is tested (--backend exec:cmd=FILE, docs/adapters.md).",
	}
	f := adapterFlags{provider: cluster.Auto, ttl: 10 * time.Second, seed: 1}
	check := &cobra.Command{
		Use:   "check [--topology NAME] [--] CMD [ARGUMENT...]",
		Short: "check whether an adapter keeps to the protocol",
		Long: `Starts the adapter's servers and two instances of it, behind proxies that count requests and hold back answers, and
says of each rule of the protocol who breaks it: the adapter, or its lock. A "--" right after CMD is not passed on.

Exit codes: 0 none broken, 1 broken, 3 wrong usage, 4 it cannot run here.`,
		Example: fmt.Sprintf("  %[1]s adapter check adapters/python/flock.py\n  %[1]s adapter check --topology zk-single -- java "+
			"-jar my-lock.jar", a.st.Name),
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.checkAdapter(cmd, args, f) },
	}
	check.Flags().SetInterspersed(false)
	check.Flags().StringVar(&f.topology, "topology", "", "servers to start (default: the first topology of the description)")
	check.Flags().StringVar(&f.provider, "provider", f.provider, "how servers are started")
	check.Flags().DurationVar(&f.ttl, "ttl", f.ttl, "time to live of leases")
	check.Flags().Uint64Var(&f.seed, "seed", f.seed, "seed of the random owner names")
	cmd.AddCommand(check)
	return cmd
}

func (a *App) checkAdapter(cmd *cobra.Command, argv []string, f adapterFlags) error {
	file, err := adapter.Find(argv[0])
	if err != nil {
		return harness.Usage(err)
	}
	argv[0] = file
	if len(argv) > 1 && argv[1] == "--" { // as `lockstorm run` divides a backend from its arguments
		argv = slices.Delete(argv, 1, 2)
	}
	about, err := adapter.Describe(argv)
	if errors.Is(err, backends.ErrMissing) {
		return harness.Environment(err)
	}
	t := conform.Target{Argv: argv, Hello: err, TTL: f.ttl, Seed: f.seed}
	var spec backends.Spec
	if t.Hello == nil {
		spec, t.Hello = adapter.SpecOf(about, argv)
	}
	if f.topology == "" && t.Hello == nil {
		f.topology = spec.Topologies[0]
	}
	if f.topology != "" {
		servers, err := harness.StartServers(cmd.Context(), a.cat, spec, f.topology, f.provider)
		if err != nil {
			return err
		}
		defer servers.Stop() //nolint:errcheck // what was found counts
		t.Servers, t.Nodes, t.Dir = servers.Addrs, servers.Nodes, servers.Dir
	}
	if t.Dir == "" {
		if t.Dir, err = os.MkdirTemp("", "lockstorm-adapter-"); err != nil {
			return harness.Environment(err)
		}
		defer os.RemoveAll(t.Dir) //nolint:errcheck // as above
	}
	var log strings.Builder
	t.Log = &log
	all := conform.Check(cmd.Context(), t)
	a.printRules(all, about)
	if adapter, lock, _, _ := conform.Count(all); adapter+lock > 0 {
		if said := strings.TrimSpace(log.String()); said != "" {
			fmt.Fprintf(a.st.Stderr, "last output of the adapter:\n%s\n", lastLines(said, 12))
		}
		return a.Exit(harness.ExitViolation)
	}
	return nil
}

// printRules prints the result of every rule, and at the end the number of each result.
func (a *App) printRules(all []conform.Result, about adapter.Description) {
	for _, r := range all {
		switch {
		case r.NotTried != "":
			fmt.Fprintf(a.st.Stdout, "-        %s: not checked (%s)\n", r.Rule, r.NotTried)
		case r.Broken != "" && r.Lock:
			fmt.Fprintf(a.st.Stdout, "BROKEN   %s: the lock: %s\n", r.Rule, r.Broken)
		case r.Broken != "":
			fmt.Fprintf(a.st.Stdout, "BROKEN   %s: the adapter: %s\n", r.Rule, r.Broken)
		case r.Skipped != "":
			fmt.Fprintf(a.st.Stdout, "skipped  %s: %s\n", r.Rule, r.Skipped)
		default:
			fmt.Fprintf(a.st.Stdout, "ok       %s\n", r.Rule)
		}
	}
	adapter, lock, skipped, notTried := conform.Count(all)
	fmt.Fprintf(a.st.Stdout, "\n%d rules: %d ok, broken by the adapter: %d, broken by the lock: %d, skipped: %d, not checked: %d\n",
		len(all), len(all)-adapter-lock-skipped-notTried, adapter, lock, skipped, notTried)
	fmt.Fprintf(a.st.Stdout, "only a run with faults shows: %s\n", strings.Join(conform.Unchecked(about), ", "))
}

// lastLines are so many of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
