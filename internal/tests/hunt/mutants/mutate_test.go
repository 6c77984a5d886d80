package mutants

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is what gremlins says of a mutant: the file from the root of the repository, and where in it.
type Place struct {
	File         string
	Line, Column int
	Kind         string // CONDITIONALS_BOUNDARY
}

// Mutant is one small change: at one place one token in the stead of another.
type Mutant struct {
	Place
	Function string // with its receiver; "package" outside of functions
	Was, Is  string // the line before and after, without the space around it
	Nth      int    // among equal changes to equal lines of the function, from 1 on

	offset   int
	from, to string
}

// swaps are the changes of gremlins v0.6.0 (internal/engine/mappings.go). Two of its kinds make of a minus
// a plus; one of them changes %= into itself, which is left out.
var swaps = map[string]map[string]string{
	"ARITHMETIC_BASE":       {"+": "-", "*": "/", "/": "*", "%": "*", "-": "+"},
	"CONDITIONALS_BOUNDARY": {">=": ">", ">": ">=", "<=": "<", "<": "<="},
	"CONDITIONALS_NEGATION": {"==": "!=", ">=": "<", ">": "<=", "<=": ">", "<": ">=", "!=": "=="},
	"INCREMENT_DECREMENT":   {"--": "++", "++": "--"},
	"INVERT_ASSIGNMENTS":    {"+=": "-=", "*=": "/=", "/=": "*=", "-=": "+="},
	"INVERT_BITWISE":        {"&": "|", "|": "&", "^": "&", "&^": "&", "<<": ">>", ">>": "<<"},
	"INVERT_BWASSIGN":       {"&=": "|=", "|=": "&=", "^=": "&=", "&^=": "&=", "<<=": ">>=", ">>=": "<<="},
	"INVERT_LOGICAL":        {"&&": "||", "||": "&&"},
	"INVERT_LOOPCTRL":       {"break": "continue", "continue": "break"},
	"INVERT_NEGATIVES":      {"-": "+"},
	"REMOVE_SELF_ASSIGNMENTS": {
		"+=": "=", "&=": "=", "&^=": "=", "*=": "=", "|=": "=", "/=": "=", "%=": "=", "<<=": "=", ">>=": "=", "-=": "=", "^=": "=",
	},
}

// Key names a mutant by what it changes and not by its line number, so that it stays the same while the
// code around it is edited.
func (m *Mutant) Key() string {
	name := fmt.Sprintf("%s: %s: %s", m.File, m.Function, m.Kind)
	if m.Nth > 1 {
		name += fmt.Sprintf(" #%d", m.Nth)
	}
	return name + "\n- " + m.Was + "\n+ " + m.Is
}

// Apply is the file with the change.
func (m *Mutant) Apply(src []byte) []byte {
	return slices.Concat(src[:m.offset], []byte(m.to), src[m.offset+len(m.from):])
}

// Locate finds the tokens of places in the files below root. A change that two kinds make is one mutant.
func Locate(root string, places []Place) ([]Mutant, error) {
	files := map[string]*file{}
	var out []Mutant
	seen, nth := map[string]bool{}, map[string]int{}
	for _, p := range places {
		f := files[p.File]
		if f == nil {
			var err error
			if f, err = readFile(root, p.File); err != nil {
				return nil, err
			}
			files[p.File] = f
		}
		m, err := f.locate(p)
		if err != nil {
			return nil, err
		}
		if m == nil || seen[fmt.Sprint(p.File, m.offset, m.to)] {
			continue
		}
		seen[fmt.Sprint(p.File, m.offset, m.to)] = true
		key := m.Key()
		nth[key]++
		m.Nth = nth[key]
		out = append(out, *m)
	}
	return out, nil
}

// Draw orders mutants by seed. What stands where hangs on each mutant's key alone: an edit elsewhere in the
// judge leaves the draw nearly as it was.
func Draw(all []Mutant, seed uint64) []Mutant {
	rank := func(m Mutant) []byte {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", seed, m.Key()))
		return sum[:]
	}
	out := slices.Clone(all)
	slices.SortFunc(out, func(a, b Mutant) int { return bytes.Compare(rank(a), rank(b)) })
	return out
}

// file is a source file with the functions in it.
type file struct {
	src       []byte
	starts    []int // of the lines
	functions []function
}

type function struct {
	name     string
	from, to int
}

func readFile(root, name string) (*file, error) {
	src, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &file{src: src, starts: []int{0}}
	for i, c := range src {
		if c == '\n' {
			f.starts = append(f.starts, i+1)
		}
	}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			f.functions = append(f.functions, function{nameOf(fn, src, set), set.Position(fn.Pos()).Offset, set.Position(fn.End()).Offset})
		}
	}
	return f, nil
}

func nameOf(fn *ast.FuncDecl, src []byte, set *token.FileSet) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	return fmt.Sprintf("(%s).%s", src[set.Position(t.Pos()).Offset:set.Position(t.End()).Offset], fn.Name.Name)
}

func (f *file) functionAt(offset int) string {
	for _, fn := range f.functions {
		if fn.from <= offset && offset < fn.to {
			return fn.name
		}
	}
	return "package"
}

// line is the text of a line, without the space around it.
func (f *file) line(n int) string {
	rest := f.src[f.starts[n-1]:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return string(bytes.TrimSpace(rest))
}

// locate is the mutant of a place, nil where the change would change nothing.
func (f *file) locate(p Place) (*Mutant, error) {
	table, ok := swaps[p.Kind]
	if !ok || p.Line < 1 || p.Line > len(f.starts) {
		return nil, fmt.Errorf("%s:%d:%d: the kind of mutant %q is unknown, or the file has no such line", p.File, p.Line, p.Column,
			p.Kind)
	}
	m := &Mutant{Place: p, offset: f.starts[p.Line-1] + p.Column - 1}
	for from := range table {
		if len(from) > len(m.from) && bytes.HasPrefix(f.src[min(m.offset, len(f.src)):], []byte(from)) {
			m.from = from
		}
	}
	if m.from == "" {
		if p.Kind == "INVERT_ASSIGNMENTS" { // %=
			return nil, nil
		}
		return nil, fmt.Errorf("%s:%d:%d: no token here that a mutant of kind %s changes", p.File, p.Line, p.Column, p.Kind)
	}
	m.to = table[m.from]
	m.Function = f.functionAt(m.offset)
	m.Was = f.line(p.Line)
	changed := &file{src: m.Apply(f.src), starts: f.starts[:p.Line]}
	m.Is = strings.TrimSpace(changed.line(p.Line))
	return m, nil
}
