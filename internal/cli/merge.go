package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/pages/matrix"
	"github.com/lockstorm/lockstorm/internal/suites/gate"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

func (a *App) mergeCommand() *cobra.Command {
	var s suiteFlags
	cmd := &cobra.Command{
		Use:   "merge DIR... --out DIR",
		Short: "make one report of the shards of a suite, or of an interrupted one",
		Long: `Judges the runs of several suite directories together: the shards of a suite, or one that was killed. The report
links to the runs where they are: do not move them. It exits as the whole suite does; with 2 if a cell has no run.`,
		Example: fmt.Sprintf("  %[1]s merge shard-1 shard-2 shard-3 --out all\n  %[1]s merge killed --out killed", a.st.Name),
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if s.out == "" {
				return errors.New("--out DIR is missing: where to write the merged suite")
			}
			before, err := s.readBaseline()
			if err != nil {
				return harness.Usage(err)
			}
			if err := newOrSame(s.out, args); err != nil {
				return harness.Usage(err)
			}
			all, err := gate.Merge(args, s.out)
			if err != nil {
				return harness.Usage(err)
			}
			r, err := matrix.Write(all, s.out, before)
			return a.concludeSuite(r, s.out, s, err)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.out, "out", "", "directory of the report: new, empty, or one of DIR")
	s.results(f)
	return cmd
}

// newOrSame keeps a directory from being overwritten that has something else in it.
func newOrSame(out string, dirs []string) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(entries) == 0) {
		return nil
	}
	if len(dirs) == 1 && filepath.Clean(dirs[0]) == filepath.Clean(out) {
		return nil
	}
	return fmt.Errorf("--out %s is not empty: choose a new directory", out)
}

func (a *App) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "write a commented suite file to start from",
		Long: "Writes " + suiteFile + ", or FILE (- prints it), never over an existing file: a suite of your program's own locks, " +
			"else of two of lockstorm's.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := cmp.Or(append(args, suiteFile)...)
			text, err := plan.Init(a.book, a.st.Name)
			if err != nil {
				return err
			}
			if path == "-" {
				_, err := a.st.Stdout.Write(text)
				return err
			}
			f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if errors.Is(err, fs.ErrExist) {
				return harness.Usage(fmt.Errorf("%s already exists: choose another file", path))
			}
			if err != nil {
				return harness.Usage(err)
			}
			_, err = f.Write(text)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			fmt.Fprintf(a.st.Stdout, "wrote %s: review the file, then run: %s\n", path, a.named("suite", path))
			return nil
		},
	}
}
