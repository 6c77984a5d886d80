//go:build series

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// renamed are the lines of testdata/surface.txt that went, or have another name, and why.
var renamed = map[string]string{}

// Nothing that a user could name in state 2fac625 is lost: commands, flags, and what list prints, with parameters and their
// defaults, points and topologies. testdata/surface.txt has a line for each; new ones need none.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/surface.txt")
	if err != nil {
		t.Fatal(err)
	}
	now := append(commands(t), listed(t)...)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if why, went := renamed[line]; !slices.Contains(now, line) && !went {
			t.Errorf("lost: %s", line)
		} else if went && slices.Contains(now, line) {
			t.Errorf("%s is here, and is said to have gone: %s", line, why)
		}
	}
}

var (
	flagLine    = regexp.MustCompile(`(?m)^\s+(?:-\w, )?(--[\w-]+)`)
	commandList = regexp.MustCompile(`(?s)Available Commands:\n(.*?)\n\n`)
)

// commands are the commands below one, with their flags.
func commands(t *testing.T, path ...string) (lines []string) {
	t.Helper()
	help := string(output(t, append(slices.Clone(path), "--help")...))
	name := strings.Join(append([]string{"lockstorm"}, path...), " ")
	lines = append(lines, name)
	for _, f := range flagLine.FindAllStringSubmatch(help, -1) {
		lines = append(lines, name+" "+f[1])
	}
	if below := commandList.FindStringSubmatch(help); below != nil {
		for line := range strings.Lines(below[1]) {
			if sub := strings.Fields(line)[0]; sub != "help" && sub != "completion" {
				lines = append(lines, commands(t, append(slices.Clone(path), sub)...)...)
			}
		}
	}
	return lines
}

// listed is what list prints, by kind and name.
func listed(t *testing.T) (lines []string) {
	t.Helper()
	for _, kind := range []string{"backends", "nemeses", "workloads", "checks", "topologies", "registers"} {
		var items []map[string]any
		if err := json.Unmarshal(output(t, "list", kind, "--json"), &items); err != nil {
			t.Fatalf("list %s: %v", kind, err)
		}
		for _, item := range items {
			head := "list " + kind + " " + named(item)
			lines = append(lines, head)
			for _, field := range []string{"params", "points", "topologies", "calls"} {
				parts, _ := item[field].([]any)
				for _, part := range parts {
					lines = append(lines, head+": "+field+" "+named(part)+byDefault(part))
				}
			}
		}
	}
	return lines
}

// named is the name of something that is a name, or has one.
func named(v any) string {
	if of, is := v.(map[string]any); is {
		v = of["name"]
	}
	return v.(string)
}

// byDefault is the default of a parameter.
func byDefault(v any) string {
	of, _ := v.(map[string]any)
	if value, has := of["default"].(string); has {
		return "=" + value
	}
	return ""
}

func output(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, args...).Output()
	if err != nil {
		t.Fatalf("lockstorm %v: %v", args, err)
	}
	return out
}
