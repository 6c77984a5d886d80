package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/operations"
	"github.com/lockstorm/lockstorm/internal/operations/export"
)

func (a *App) exportCommand() *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:   "export DIR|FILE",
		Short: "write a run as a history for Jepsen or Porcupine",
		Long: `Writes acquires and releases for tools that know no leases:

  jepsen     history.edn, one map a line; with several locks values are [lock value], as in jepsen.independent
  porcupine  a JSON array of porcupine.Operation, with f, key and client as input

Each grant has a process number of its own; the value names the client. A grant that ended without a release (expired,
or its client died) gets one of unknown outcome. Read-write locks are refused: several clients may hold them.`,
		Example: fmt.Sprintf("  %[1]s export lockstorm-runs/run-1 --as jepsen --out history.edn\n  %[1]s check --model mutex "+
			"history.edn", a.st.Name),
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.export(args[0], format, out) },
	}
	cmd.Flags().StringVar(&format, "as", "jepsen", "format: jepsen or porcupine")
	cmd.Flags().StringVar(&out, "out", "", "the file to write (default: standard output)")
	return cmd
}

func (a *App) export(path, format, out string) error {
	if format != "jepsen" && format != "porcupine" {
		return harness.Usage(fmt.Errorf("--as %q: unknown format: choose jepsen or porcupine", format))
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = history.FileIn(path)
	}
	h, err := history.ReadFile(path)
	if err != nil {
		return harness.Usage(fmt.Errorf("export: %w", err))
	}
	rec, err := history.Build(h)
	if err != nil {
		return harness.Usage(fmt.Errorf("export: %s: %w", path, err))
	}
	x, err := export.Of(rec)
	if err != nil {
		return harness.Usage(fmt.Errorf("export: %s: %w", path, err))
	}
	write := func(w io.Writer) error {
		if format == "porcupine" {
			return operations.WritePorcupine(w, x.Steps)
		}
		return operations.WriteJepsen(w, x.Steps, x.Keyed)
	}
	if out == "" {
		return write(a.st.Stdout)
	}
	if err := files.Write(out, write); err != nil {
		return harness.Environment(err)
	}
	words := []string{"check", "--model", x.Model, out}
	if x.Keyed {
		words = slices.Insert(words, 3, "--independent")
	}
	fmt.Fprintf(a.st.Stderr, "%s: %d events", out, len(x.Steps))
	if format == "jepsen" {
		fmt.Fprintf(a.st.Stderr, "; to judge these events: %s", a.named(words...))
	}
	fmt.Fprintln(a.st.Stderr)
	return nil
}
