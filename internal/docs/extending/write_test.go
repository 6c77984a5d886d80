package extending

import (
	"bytes"
	_ "embed" // the text
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed page.md.tmpl
var text string

//go:embed own-lock.md.tmpl
var short string

// Page is the page of a text, with code from the folder of the example.
func Page(text, example string) (string, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"code": func(file string, names ...string) (string, error) { return code(filepath.Join(example, file), names) },
	}).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, nil)
	return b.String(), err
}

// code is a block of declarations of a file, by their names, in the order in which they are named:
// "Specs", "locker", "locker.Acquire" for a method, or "import".
func code(path string, names []string) (string, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, name := range names {
		part, err := declaration(src, name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		parts = append(parts, part)
	}
	return "```go\n// " + filepath.Base(path) + "\n\n" + strings.Join(parts, "\n\n") + "\n```", nil
}

// declaration is the source of one declaration, its comment included.
func declaration(src []byte, name string) (string, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", src, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, d := range f.Decls {
		from, declares := d.Pos(), false
		switch d := d.(type) {
		case *ast.FuncDecl:
			from, declares = start(d.Doc, d), funcName(d) == name
		case *ast.GenDecl:
			from, declares = start(d.Doc, d), declaresIt(d, name) || d.Tok == token.IMPORT && name == "import"
		}
		if declares {
			return string(bytes.TrimSpace(src[files.Position(from).Offset:files.Position(d.End()).Offset])), nil
		}
	}
	return "", fmt.Errorf("there is no declaration of %s", name)
}

// start is where a declaration begins, or its comment.
func start(doc *ast.CommentGroup, d ast.Decl) token.Pos {
	if doc != nil {
		return doc.Pos()
	}
	return d.Pos()
}

// funcName is the name of a function, or TYPE.NAME of a method.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

// declaresIt reports whether a declaration of types, constants or variables has the name.
func declaresIt(d *ast.GenDecl, name string) bool {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.Name == name {
				return true
			}
		case *ast.ValueSpec:
			for _, id := range s.Names {
				if id.Name == name {
					return true
				}
			}
		}
	}
	return false
}
