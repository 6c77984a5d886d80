package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/cli"
)

func (v *verb) workCommand() *cobra.Command {
	var r reach
	var jobs int
	var idle time.Duration
	var dir string
	cmd := &cobra.Command{
		Use:   "work",
		Short: "make runs of the queue until the campaign is done",
		Long: `Takes runs that this machine can make (see doctor), as many at a time as processors and memory allow; first the
suite's controls, once a machine. All workers and campaign start need the same build. It ends when every run has an
outcome; Ctrl-C gives unfinished runs back.

Exit codes: 0 the campaign is done; 3 wrong usage; 4 the queue cannot be used, or this machine can make none of the runs;
130 interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return v.work(cmd.Context(), r, jobs, idle, dir) },
	}
	r.flags(cmd.Flags(), v)
	r.named(cmd.Flags())
	cli.Number(cmd.Flags(), &jobs, "jobs", 1, 0, "parallel runs (default: what processors and memory allow)")
	cmd.Flags().DurationVar(&idle, "idle", 0, "end after this time without work (default: when all is done)")
	cmd.Flags().StringVar(&dir, "dir", "", "directory of runs in progress (default: in the user's cache)")
	return cmd
}

func (v *verb) work(ctx context.Context, r reach, jobs int, idle time.Duration, parent string) error {
	q, c, err := r.find(ctx, v)
	if err != nil {
		return v.ended(ctx, err)
	}
	defer q.Close()
	build, err := campaign.Build()
	if err != nil {
		return harness.Environment(err)
	}
	if build != c.Build {
		return harness.Environment(fmt.Errorf("campaign %s was started by build %s, but this worker is build %s: copy the "+
			"program that started the campaign to this machine",
			c.Name, c.Build,
			build))
	}
	machine, err := campaign.MachineName()
	if err != nil {
		return harness.Environment(err)
	}
	dir, done, err := workDir(parent)
	if err != nil {
		return harness.Environment(err)
	}
	defer done()
	v.say("worker started: campaign %s (%s), queue %s", c.Name, cli.Plural(len(c.Tasks(v.Suites().Catalogue)), "run"), q.URL())
	w := &campaign.Worker{
		Campaign: c, Catalogue: v.Suites().Catalogue, Name: fmt.Sprintf("%s-%d-%d", machine, os.Getpid(), time.Now().UnixNano()%1e6),
		Machine: machine, Dir: dir, Jobs: jobs, Idle: idle,
		Progress: v.event,
	}
	switch err := w.Run(ctx); {
	case errors.Is(err, campaign.ErrIdle):
		v.say("%v, so this worker ends; the command campaign status shows the runs that are still missing", err)
		return nil
	case err != nil:
		return v.ended(ctx, err)
	}
	v.say("every run of campaign %s has an outcome; now judge the runs: %s campaign finish --queue %s --campaign %s --out DIR",
		c.Name, v.st.Name, q.URL(), c.Name)
	return nil
}

// event is a line for what a worker says.
func (v *verb) event(e campaign.WorkProgress) {
	switch {
	case e.Outcome != nil:
		note := ""
		if e.Note != "" {
			note = "; " + e.Note
		}
		v.say("%4d of %d  %s: %s%s  %s", e.Done, e.Of, e.Task, e.Outcome.Said(), note, e.Outcome.Took.Round(100*time.Millisecond))
	case e.Note != "":
		v.say("%s", e.Note)
	}
}
