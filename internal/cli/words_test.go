package cli_test

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/cli/campaign"
	"github.com/lockstorm/lockstorm/internal/cli/claims"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

var byDefault = regexp.MustCompile(`\(default.*?\)`)

// A flag is told in twelve words or fewer, its default aside: pages have the rest.
func TestFlagsAreToldInTwelveWords(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if n := len(strings.Fields(byDefault.ReplaceAllString(f.Usage, ""))); n > 12 {
				t.Errorf("%s --%s: %d words: %s", c.CommandPath(), f.Name, n, f.Usage)
			}
		})
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walked := false
	probe := func(*cli.App) *cobra.Command {
		return &cobra.Command{Use: "probe", Run: func(c *cobra.Command, _ []string) { walk(c.Root()); walked = true }}
	}
	var out bytes.Buffer
	st := cli.State{Context: context.Background(), Name: "lockstorm", Args: []string{"probe"}, Stdout: &out, Stderr: &out}
	if code := cli.Main(cases.Suites(harness.New(stores.All()...)), st, claims.Verb, campaign.Verb, probe); code != 0 || !walked {
		t.Fatalf("exit %d: %s", code, out.String())
	}
}
