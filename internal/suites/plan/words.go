package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxName bounds the name of a suite, in characters.
const maxName = 100

// validWords looks at the name, the doc and the mode of a file: the name is shown everywhere, and a directory
// is called after it.
func (f *File) validWords(wrong func(line int, format string, args ...any)) {
	if name := f.Name.Value; f.Name.Line > 0 {
		switch {
		case strings.TrimSpace(name) == "":
			wrong(f.Name.Line, "the key `name` has no value: remove the key, or write a name for the suite")
		case strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, "."):
			wrong(f.Name.Line, "name %q: the suite uses the name for a directory, so the name must not contain / or \\, or start "+
				"with a dot", name)
		case len([]rune(name)) > maxName:
			wrong(f.Name.Line, "the name of the suite has more than %d characters: choose a shorter name", maxName)
		}
	}
	for key, t := range map[string]text{"name": f.Name, "doc": f.Doc} {
		if i := strings.IndexFunc(t.Value, hidden); i >= 0 {
			wrong(t.Line, "the key `%s` contains an invisible character (%+q): remove the character", key, []rune(t.Value[i:])[0])
		}
	}
	if f.Compare.Line > 0 && f.Compare.Value != "true" && f.Compare.Value != "false" {
		wrong(f.Compare.Line, "the key `compare` has the value %q: choose true or false", f.Compare.Value)
	}
}

// hidden reports whether a character does something other than being shown: it controls a terminal, or
// turns the direction of the text. Line ends are text.
func hidden(r rune) bool { return !strconv.IsPrint(r) && r != '\n' && r != '\t' }

// Compares reports whether the suite compares its locks, and expects nothing of them.
func (f *File) Compares() bool { return f.Compare.Value == "true" }

// maxSeeds bounds the seeds of a cell.
const maxSeeds = 1000

// seedsOf are the seeds that the file means; the default where it names none.
func (f *File) seedsOf(s seeds, def []uint64) ([]uint64, error) {
	l := s.words
	if len(l) == 0 {
		return def, nil
	}
	var out []uint64
	for _, t := range l {
		n, err := strconv.ParseUint(t.Value, 10, 64)
		switch {
		case err != nil || n == 0:
			return nil, f.at(t.Line, fmt.Errorf("seed %q: write a whole number, 1 or more", t.Value))
		case slices.Contains(out, n):
			return nil, f.at(t.Line, fmt.Errorf("seed %d is listed twice, but each seed makes one run: list each seed once", n))
		}
		out = append(out, n)
	}
	if len(out) > maxSeeds {
		return nil, f.at(l[0].Line, fmt.Errorf("%d seeds for each cell: at most %d are allowed", len(out), maxSeeds))
	}
	if s.single {
		return out, nil
	}
	if out[0] > maxSeeds {
		return nil, f.at(l[0].Line, fmt.Errorf("%d seeds for each cell: at most %d are allowed (to choose single seeds, write a list "+
			"of them)", out[0], maxSeeds))
	}
	return counted(1, out[0]), nil
}

func counted(from, to uint64) (out []uint64) {
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

// SetSeeds replaces the seeds of the cells that choose none themselves: N for 1 to N, A-B for A to B, or
// several with commas between them.
func (f *File) SetSeeds(spec string) error {
	var out []uint64
	for _, part := range strings.Split(spec, ",") {
		from, to, span := strings.Cut(strings.TrimSpace(part), "-")
		a, errA := strconv.ParseUint(from, 10, 64)
		b, errB := a, error(nil)
		if span {
			b, errB = strconv.ParseUint(to, 10, 64)
		}
		if errA != nil || errB != nil || a == 0 || b < a || b-a >= maxSeeds {
			return fmt.Errorf("--seeds %s: write 5 (for the seeds 1 to 5), 6-10, or 1,4,9; at most %d seeds", spec, maxSeeds)
		}
		if !span && !strings.Contains(spec, ",") {
			if b > maxSeeds {
				return fmt.Errorf("--seeds %s: at most %d seeds for each cell", spec, maxSeeds)
			}
			a = 1
		}
		out = append(out, counted(a, b)...)
	}
	f.seeds = out
	if unique := slices.Compact(slices.Sorted(slices.Values(out))); len(unique) < len(out) {
		return fmt.Errorf("--seeds %s: a seed is listed twice, but each seed makes one run: list each seed once", spec)
	}
	return nil
}
