package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/campaign/queue"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/nemesis"
)

type finishFlags struct {
	out, baseline     string
	wait, now, asJSON bool
}

func (v *verb) finishCommand() *cobra.Command {
	var r reach
	var f finishFlags
	cmd := &cobra.Command{
		Use:   "finish --out DIR",
		Short: "judge the campaign, and write the report",
		Long: `Fetches the runs of the campaign and judges them as one suite. A run without an outcome that the queue has lost is
published again.

Exit codes: those of suite; 2 while runs have no outcome.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return v.finish(cmd.Context(), r, f) },
	}
	fs := cmd.Flags()
	r.flags(fs, v)
	r.named(fs)
	fs.StringVar(&f.out, "out", "", "directory of the result: new, empty, or of this campaign")
	fs.BoolVar(&f.wait, "wait", false, "wait until every run has an outcome")
	fs.BoolVar(&f.now, "now", false, "do not wait: missing runs count as not run")
	fs.StringVar(&f.baseline, "baseline", "", "earlier results.json: failures that it has do not fail again")
	fs.BoolVar(&f.asJSON, "json", false, "print results.json on stdout")
	cmd.MarkFlagsMutuallyExclusive("wait", "now")
	return cmd
}

func (v *verb) finish(ctx context.Context, r reach, f finishFlags) error {
	if f.out == "" {
		return harness.Usage(errors.New("--out is missing: name the directory of the result"))
	}
	q, c, err := r.find(ctx, v)
	if err != nil {
		return v.ended(ctx, err)
	}
	defer q.Close()
	if f.wait {
		if err := v.wait(ctx, c); err != nil {
			return v.ended(ctx, err)
		}
	}
	s, again, err := v.look(ctx, c, !f.now)
	if err != nil {
		return v.ended(ctx, err)
	}
	if missing := s.Of - s.Done; missing > 0 && !f.now {
		return &harness.Error{Code: harness.ExitUnknown, Err: fmt.Errorf("%d of %d runs have no outcome yet (%s; %s running): "+
			"start workers and finish again; --wait waits for them, --now judges the others",
			missing, s.Of, lost(again), cli.Plural(len(s.Workers), "worker"))}
	}
	return v.gather(ctx, c, f)
}

func lost(again int) string {
	if again == 0 {
		return "the queue still has their tasks"
	}
	return fmt.Sprintf("the queue had lost %s, which are now published again",
		cli.Plural(again, "task"))
}

// look asks how far a campaign is, and publishes again what the queue has lost.
func (v *verb) look(ctx context.Context, c *campaign.Campaign, republish bool) (s *campaign.State, again int, err error) {
	if s, err = c.State(ctx, v.Suites().Catalogue); err != nil {
		return nil, 0, err
	}
	if republish && len(s.Lost) > 0 {
		again, err = c.Republish(ctx, s)
	}
	return s, again, err
}

// How often a campaign is looked at, and how often something is said.
const (
	lookEach = 2 * time.Second
	sayEach  = 15
	waitAway = 10 * time.Minute // for a queue that does not answer
)

// wait until every run has its outcome.
func (v *verb) wait(ctx context.Context, c *campaign.Campaign) error {
	away := time.Time{}
	for n := 0; ; n++ {
		s, again, err := v.look(ctx, c, true)
		if err != nil && queue.Away(err) && ctx.Err() == nil { // it may be started again
			if away.IsZero() {
				away = time.Now()
				v.say("the NATS server of the campaign does not answer, asking again every few seconds: %v", err)
			}
			if time.Since(away) < waitAway && nemesis.Wait(ctx, lookEach) {
				continue
			}
		}
		if err != nil {
			return err
		}
		away = time.Time{}
		if again > 0 {
			v.say("the queue had lost %s, which are now published again", cli.Plural(again, "task"))
		}
		if s.Done >= s.Of {
			return nil
		}
		if n%sayEach == 0 {
			v.say("%s", line(s))
		}
		if !nemesis.Wait(ctx, lookEach) {
			return context.Cause(ctx)
		}
	}
}

// line is how far a campaign is.
func line(s *campaign.State) string {
	text := fmt.Sprintf("%d of %s finished, %s running", s.Done, cli.Plural(s.Of, "run"), cli.Plural(len(s.Workers), "worker"))
	if s.Left > 0 && s.Done < s.Of {
		text += fmt.Sprintf(", %.1f runs per minute, about %v remaining", s.Rate, s.Left)
	}
	return text
}

// gather writes the result, and says it.
func (v *verb) gather(ctx context.Context, c *campaign.Campaign, f finishFlags) error {
	s, err := c.Gather(ctx, f.out)
	if err != nil {
		return v.ended(ctx, err)
	}
	return v.Conclude(s, f.out, f.baseline, f.asJSON, nil)
}

func (v *verb) statusCommand() *cobra.Command {
	var r reach
	var asJSON, follow bool
	var out string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "show the progress",
		Long: `Shows finished runs and their statuses, workers, runs a minute and the time left. --out also writes a report of
what is finished (serve shows it); --follow goes on every few seconds.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return v.status(cmd.Context(), r, out, asJSON, follow) },
	}
	r.flags(cmd.Flags(), v)
	r.named(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&follow, "follow", false, "print the progress every few seconds until the campaign is done")
	cmd.Flags().StringVar(&out, "out", "", "directory of the report: new, empty, or of this campaign")
	return cmd
}

func (v *verb) status(ctx context.Context, r reach, out string, asJSON, follow bool) error {
	q, c, err := r.find(ctx, v)
	if err != nil {
		return v.ended(ctx, err)
	}
	defer q.Close()
	for {
		s, _, err := v.look(ctx, c, false)
		if err == nil {
			err = v.show(s, asJSON)
		}
		if err == nil && out != "" {
			err = v.page(ctx, c, out)
		}
		switch {
		case err != nil:
			return v.ended(ctx, err)
		case !follow || s.Done >= s.Of:
			return nil
		case !nemesis.Wait(ctx, lookEach):
			return v.Exit(harness.ExitInterrupted)
		}
	}
}

// page writes the report of the finished runs.
func (v *verb) page(ctx context.Context, c *campaign.Campaign, out string) error {
	s, err := c.Gather(ctx, out)
	if err != nil {
		return err
	}
	_, err = matrix.Write(s, out, nil)
	return err
}

// fullSoon is the part of the room from which on it is said.
const fullSoon = 0.8

func (v *verb) show(s *campaign.State, asJSON bool) error {
	if asJSON {
		return v.PrintJSON(s)
	}
	fmt.Fprintf(v.st.Stdout, "campaign %s: %s\n", s.Name, line(s))
	counts := lists.Map(slices.Sorted(maps.Keys(s.Statuses)), func(status gate.Status) string {
		return fmt.Sprintf("%d %s", s.Statuses[status], status)
	})
	if len(counts) > 0 {
		fmt.Fprintf(v.st.Stdout, "  %s\n", strings.Join(counts, ", "))
	}
	if worse := s.Statuses[gate.Violation]; worse > 0 {
		fmt.Fprintf(v.st.Stdout, "  %s ended with an unexpected violation: to see the report, run campaign finish --now\n",
			cli.Plural(worse, "run"))
	}
	for _, cell := range slices.Sorted(maps.Keys(s.Found)) {
		fmt.Fprintf(v.st.Stdout, "  the search of cell %s found %s: %s\n",
			cell, cli.Plural(len(s.Found[cell]), "distinct violation"), strings.Join(s.Found[cell], "; "))
	}
	if n := s.Attempts - s.Done; n > 0 {
		fmt.Fprintf(v.st.Stdout, "  %s had to be repeated. In %s the host disturbed the run, or a server or tool was missing on "+
			"the host\n", cli.Plural(n, "attempt"), cli.Plural(s.Disturbed, "attempt"))
	}
	if len(s.Lost) > 0 {
		fmt.Fprintf(v.st.Stdout, "  the queue has lost %s: run campaign finish to publish them again\n",
			cli.Plural(len(s.Lost), "task"))
	}
	full := ""
	if float64(s.Bytes) > fullSoon*float64(s.Room) {
		full = "; the storage is nearly full: remove other campaigns, or remove this campaign and start it again with a larger " +
			"--max-size"
	}
	fmt.Fprintf(v.st.Stdout, "  size of the stored runs: %s of at most %s%s\n", units.BytesSize(float64(s.Bytes)),
		units.BytesSize(float64(s.Room)), full)
	w := tabwriter.NewWriter(v.st.Stdout, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(s.Workers)) {
		fmt.Fprintf(w, "  worker %s\t%s\n", name, strings.Join(s.Workers[name].Running, ", "))
	}
	return w.Flush()
}

func (v *verb) removeCommand() *cobra.Command {
	var r reach
	var force bool
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "delete a campaign from the queue",
		Long:  "Deletes a campaign from the queue, not what campaign finish has written. While workers run it, --force is needed.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.remove(cmd.Context(), r, args[0], force)
		},
	}
	r.flags(cmd.Flags(), v)
	cmd.Flags().BoolVar(&force, "force", false, "delete the campaign even if workers are executing its runs")
	return cmd
}

func (v *verb) remove(ctx context.Context, r reach, name string, force bool) error {
	q, err := r.open(ctx, v)
	if err != nil {
		return err
	}
	defer q.Close()
	if _, err := campaign.Choose(ctx, q, name); err != nil {
		return harness.Environment(err)
	}
	if !force {
		if c, err := campaign.Open(ctx, q, name); err == nil { // one that is not whole has no workers
			s, err := c.State(ctx, v.Suites().Catalogue)
			if err != nil {
				return harness.Environment(err)
			}
			if len(s.Workers) > 0 {
				return harness.Usage(fmt.Errorf("campaign %s still has %s: stop its workers first, or add --force",
					name, cli.Plural(len(s.Workers), "worker")))
			}
		}
	}
	if err := campaign.Remove(ctx, q, name); err != nil {
		return harness.Environment(err)
	}
	fmt.Fprintf(v.st.Stdout, "campaign %s was deleted from the queue %s\n", name, q.URL())
	return nil
}
