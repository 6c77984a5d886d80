// Package campaign is the verb that spreads a suite over several machines.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cachedir"
	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/campaign/queue"
	"github.com/lockstorm/lockstorm/internal/cli"
)

// Verb is the verb campaign.
func Verb(app *cli.App) *cobra.Command {
	v := &verb{App: app, st: app.State()}
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "run a suite on several machines",
		Long: `Runs a suite on several machines. A NATS server with JetStream holds a queue of runs, from which workers on any number
of machines take. Workers and server may die: other workers make the runs, and none counts twice.

The queue is your NATS server (--queue, or LOCKSTORM_QUEUE) or one in lockstorm (campaign start --embed). Credentials
come from files (--queue-creds, --queue-nkey, --queue-cert) or from LOCKSTORM_QUEUE_USER, LOCKSTORM_QUEUE_PASSWORD,
LOCKSTORM_QUEUE_TOKEN. More: docs/campaigns.md.`,
		Example: fmt.Sprintf(`  %[1]s campaign start ci --embed 127.0.0.1:4222 --out result    (runs the queue on this machine;
                                                                 if others can reach it, set LOCKSTORM_QUEUE_TOKEN first)
  %[1]s campaign work --queue nats://127.0.0.1:4222              (starts a worker: once on each machine that takes part)
  %[1]s campaign status --queue nats://127.0.0.1:4222`, v.st.Name),
	}
	cmd.AddCommand(v.startCommand(), v.workCommand(), v.statusCommand(), v.finishCommand(), v.removeCommand())
	return cmd
}

// verb is the verb in a program.
type verb struct {
	*cli.App
	st cli.State
}

// reach is how the flags of a verb say where the campaign is.
type reach struct {
	queue.Access
	name string
}

func (v *verb) env(name string) string { return v.st.Env(name) }

func (r *reach) flags(f *pflag.FlagSet, v *verb) {
	f.StringVar(&r.URL, "queue", v.env("LOCKSTORM_QUEUE"), "NATS server of the campaign, nats://HOST:PORT or tls://HOST:PORT")
	f.StringVar(&r.Creds, "queue-creds", "", "file with the credentials of a NATS user (JWT and seed)")
	f.StringVar(&r.NKey, "queue-nkey", "", "file with the seed of an NKey")
	f.StringVar(&r.CA, "queue-ca", "", "file with the CA certificate of the queue's server")
	f.StringVar(&r.Cert, "queue-cert", "", "file with our TLS client certificate (key: --queue-key)")
	f.StringVar(&r.Key, "queue-key", "", "file with the private key of the certificate in --queue-cert")
}

// named adds the flag that chooses among several campaigns.
func (r *reach) named(f *pflag.FlagSet) {
	f.StringVar(&r.name, "campaign", "", "name of the campaign (needed only if the queue has several campaigns)")
}

// open connects to the queue.
func (r *reach) open(ctx context.Context, v *verb) (*queue.Queue, error) {
	if r.URL == "" {
		return nil, harness.Usage(errors.New("--queue is missing: write the address of the campaign's NATS server, such as " +
			"nats://127.0.0.1:4222"))
	}
	if (r.Cert == "") != (r.Key == "") {
		return nil, harness.Usage(errors.New("only one of --queue-cert and --queue-key is given: give both"))
	}
	r.User, r.Pass, r.Token = v.env("LOCKSTORM_QUEUE_USER"), v.env("LOCKSTORM_QUEUE_PASSWORD"), v.env("LOCKSTORM_QUEUE_TOKEN")
	q, err := queue.Open(ctx, r.Access)
	return q, harness.Environment(err)
}

// find connects to the queue and opens the campaign.
func (r *reach) find(ctx context.Context, v *verb) (*queue.Queue, *campaign.Campaign, error) {
	q, err := r.open(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	name, err := campaign.Choose(ctx, q, r.name)
	if err == nil {
		var c *campaign.Campaign
		if c, err = campaign.Open(ctx, q, name); err == nil {
			return q, c, nil
		}
	}
	q.Close()
	return nil, nil, harness.Environment(err)
}

// ended is the exit code of a verb that ctx may have ended.
func (v *verb) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return v.Exit(harness.ExitInterrupted)
	}
	return harness.Environment(err)
}

// say writes a line of progress.
func (v *verb) say(format string, args ...any) {
	fmt.Fprintf(v.st.Stderr, format+"\n", args...) // progress that nobody can read is no reason to stop
}

// workDir is where a worker makes its runs, locked while it lives; done removes it. What a killed worker has left there the next
// one removes.
func workDir(parent string) (dir string, done func(), err error) {
	if parent == "" {
		if parent, _, err = cachedir.Dir(); err != nil {
			return "", nil, err
		}
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", nil, err
	}
	return cachedir.Build(parent)
}
