package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/campaign/queue"
	"github.com/lockstorm/lockstorm/internal/cli"
)

type startFlags struct {
	reach

	embed, store, out, baseline string
	cert, key                   string
	room, seeds                 string
	replace                     []string
	settings                    campaign.Settings
}

// The limits of campaigns.
const (
	defaultAckWait = time.Minute
	leastAckWait   = time.Second
	defaultKeep    = 7 * 24 * time.Hour
	leastKeep      = time.Hour
	defaultRoom    = "10GB"
	defaultRetry   = 4
)

func (v *verb) startCommand() *cobra.Command {
	var f startFlags
	cmd := &cobra.Command{
		Use:   "start [FILE|PRESET]",
		Short: "publish the runs of a suite as tasks for workers",
		Long: `Stores the suite on the queue and publishes a task for each cell and seed, the longest first. Started again, it
publishes only what has no outcome and is not in the queue.

--embed runs the queue in this process until interrupted; with --out it ends when every run has an outcome, and writes
what campaign finish writes. After a kill run it again with the same flags: --store has the data.

Exit codes: 0 published; 3 wrong usage; 4 the queue cannot be used; with --out those of the suite.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.name = cmp.Or(append(args, "")...)
			return v.start(cmd.Context(), f)
		},
	}
	fs := cmd.Flags()
	f.flags(fs, v)
	fs.StringVar(&f.embed, "embed", "", "HOST:PORT: run the queue here, in place of --queue")
	fs.StringVar(&f.store, "store", "", "with --embed: directory of the queue (default: lockstorm-runs/campaign-NAME)")
	fs.StringVar(&f.cert, "embed-cert", "", "with --embed: file with its TLS certificate (key: --embed-key)")
	fs.StringVar(&f.key, "embed-key", "", "with --embed: file with the private key of the certificate in --embed-cert")
	fs.StringVar(&f.out, "out", "", "with --embed: write the result here when all is done, and end")
	fs.StringVar(&f.baseline, "baseline", "", "with --out: earlier results.json: its failures do not fail again")
	fs.StringVar(&f.settings.Name, "name", "", "name of the campaign (default: the name of the suite)")
	fs.StringVar(&f.seeds, "seeds", "", "seeds in place of the file's: 5 (1 to 5), 6-10, 1,4,9")
	fs.StringArrayVar(&f.replace, "replace", nil, "OLD=NEW: run NEW in place of OLD, with OLD's expectations")
	cli.Number(fs, &f.settings.Retry, "retry", 0, defaultRetry, "retries of a run that the worker's host disturbed")
	fs.DurationVar(&f.settings.AckWait, "ack-wait", defaultAckWait, "silence of a worker after which others get its run")
	fs.DurationVar(&f.settings.Keep, "keep", defaultKeep, "how long the queue keeps outcomes and runs")
	fs.StringVar(&f.room, "max-size", defaultRoom, "size of all runs that the queue keeps")
	return cmd
}

func (f *startFlags) check() error {
	room, err := units.RAMInBytes(f.room)
	switch {
	case err != nil || room <= 0:
		return fmt.Errorf("--max-size %s is not a size: write for example 10GB", f.room)
	case (f.embed == "") == (f.URL == ""):
		return errors.New("give one queue: --queue nats://HOST:PORT, or --embed HOST:PORT to run one here")
	case f.embed == "" && (f.out != "" || f.store != "" || f.cert != ""):
		return errors.New("--out, --store and --embed-cert work only with --embed: with --queue, campaign finish writes the result")
	case (f.cert == "") != (f.key == ""):
		return errors.New("only one of --embed-cert and --embed-key is given: give both")
	case f.out == "" && f.baseline != "":
		return errors.New("--baseline works only together with --out")
	case f.settings.AckWait < leastAckWait:
		return fmt.Errorf("--ack-wait %v is too short: the minimum is %v", f.settings.AckWait, leastAckWait)
	case f.settings.Keep < leastKeep:
		return fmt.Errorf("--keep %v is too short: the minimum is %v", f.settings.Keep, leastKeep)
	}
	f.settings.Room = room
	return nil
}

func (v *verb) start(ctx context.Context, f startFlags) error {
	if err := f.check(); err != nil {
		return harness.Usage(err)
	}
	def, err := v.Define(f.name, f.seeds, f.replace)
	if err != nil {
		return err
	}
	if f.settings.Build, err = campaign.Build(); err != nil {
		return harness.Environment(err)
	}
	f.settings.Name = cmp.Or(f.settings.Name, def.Name)
	m, err := campaign.Make(v.Suites().Catalogue, *def, f.settings)
	if err != nil {
		return harness.Usage(err)
	}
	if f.embed == "" {
		q, err := f.open(ctx, v)
		if err != nil {
			return err
		}
		defer q.Close()
		c, err := v.publish(ctx, q, m)
		if err != nil {
			return v.ended(ctx, err)
		}
		fmt.Fprintf(v.st.Stdout, "campaign %s: %s published on the queue %s\nstart workers with: %s campaign work --queue %s "+
			"--campaign %s\n", c.Name, cli.Plural(len(c.Tasks(v.Suites().Catalogue)), "run"), q.URL(), v.st.Name, q.URL(), c.Name)
		return nil
	}
	return v.embed(ctx, f, m)
}

func (v *verb) publish(ctx context.Context, q *queue.Queue, m *campaign.Manifest) (*campaign.Campaign, error) {
	c, err := campaign.Start(ctx, q, v.Suites().Catalogue, m,
		func(n, of int) { v.say("published %d of %s", n, cli.Plural(of, "task")) })
	if err == nil {
		if s, serr := c.State(ctx, v.Suites().Catalogue); serr == nil && s.Done > 0 {
			v.say("this campaign was started before, at %s, and now continues: %s", s.Started.Format(time.DateTime), line(s))
		}
		v.say("the queue (NATS %s) stores at most %s of runs, and deletes each run after %v", q.Version(),
			units.BytesSize(float64(m.Room)), m.Keep)
	}
	return c, err
}

// room is what the streams of a campaign need beside the runs.
const roomBeside = 4 << 30

// embed is the queue itself, until the campaign has ended or ctx does.
func (v *verb) embed(ctx context.Context, f startFlags, m *campaign.Manifest) (err error) {
	store := cmp.Or(f.store, filepath.Join("lockstorm-runs", "campaign-"+m.Name))
	token := v.env("LOCKSTORM_QUEUE_TOKEN")
	s, err := queue.Serve(queue.Serving{
		Addr: f.embed, Dir: store, Token: token, Cert: f.cert, Key: f.key,
		Room: 2*f.settings.Room + roomBeside,
	})
	if err != nil {
		return harness.Environment(err)
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	q, err := s.Open(ctx, token)
	if err != nil {
		return harness.Environment(err)
	}
	defer q.Close()
	c, err := v.publish(ctx, q, m)
	if err != nil {
		return v.ended(ctx, err)
	}
	fmt.Fprintf(v.st.Stdout, "the queue of campaign %s runs at %s\nstart workers with: %s campaign work --queue %s\n", c.Name,
		s.URL(), v.st.Name, s.URL())
	if f.out == "" {
		v.say("outcomes are stored in %s, and the queue runs until you press Ctrl-C: to continue later, run the same command again",
			store)
		<-ctx.Done()
		return v.Exit(harness.ExitInterrupted)
	}
	if err := v.wait(ctx, c); err != nil {
		return v.ended(ctx, err)
	}
	return v.gather(ctx, c, finishFlags{out: f.out, baseline: f.baseline})
}
