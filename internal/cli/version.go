package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// built says what this binary is, for a report of a bug and for programs that read its files.
type built struct {
	Program  string `json:"program"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the main module's repository; empty: built without one
	Modified bool   `json:"modified,omitempty"` // the revision had changes that were not committed
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Record   int    `json:"record_schema"`  // of history.jsonl
	Results  int    `json:"results_schema"` // of results.json
}

func (a *App) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version of this program and of its file formats",
		Long: `Prints version, revision (with uncommitted changes or not), Go, platform, and the schema versions of history.jsonl
and results.json.`,
		Example: fmt.Sprintf(`  %[1]s version
  %[1]s version --json`, a.st.Name),
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := builtFrom(a.st.Name, debug.ReadBuildInfo)
			if asJSON {
				return a.PrintJSON(b)
			}
			_, err := fmt.Fprint(a.st.Stdout, b)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// builtFrom reads what the linker left in the binary.
func builtFrom(program string, read func() (*debug.BuildInfo, bool)) built {
	b := built{
		Program: program, Version: Version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Record: history.Schema, Results: checker.ResultsSchema,
	}
	if info, ok := read(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return b
}

// String has a line for each thing.
func (b built) String() string {
	changes := ""
	if b.Modified {
		changes = " with uncommitted changes"
	}
	return fmt.Sprintf("%s %s\nrevision: %s%s\nGo: %s\nplatform: %s/%s\nschema of history.jsonl: %d\nschema of results.json: %d\n",
		b.Program, b.Version, cmp.Or(b.Revision, "not known"), changes, b.Go, b.OS, b.Arch, b.Record, b.Results)
}
