package mutants

import (
	"fmt"
	"os"
	"strings"
)

// Entry is a mutant that is shown to be equivalent: no record can tell it from the judge.
type Entry struct{ Key, Why string }

// ReadEntries reads the list: blocks with an empty line between them. A block is a mutant as the survivors are
// printed (three lines), then the reason; a # begins a comment.
func ReadEntries(path string) ([]Entry, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for block := range strings.SplitSeq(string(b), "\n\n") {
		var lines []string
		for line := range strings.SplitSeq(block, "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		switch {
		case len(lines) == 0:
			continue
		case len(lines) < 4 || !strings.HasPrefix(lines[1], "- ") || !strings.HasPrefix(lines[2], "+ "):
			return nil, fmt.Errorf("%s: an entry needs a name, a line with -, a line with +, and a reason:\n%s", path, block)
		}
		out = append(out, Entry{strings.Join(lines[:3], "\n"), strings.Join(lines[3:], " ")})
	}
	return out, nil
}
