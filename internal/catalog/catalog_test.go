package catalog

import (
	"strings"
	"testing"
)

type entry struct{ name, doc string }

func (e entry) EntryName() string { return e.name }
func (e entry) EntryDoc() string  { return e.doc }

func TestGetSaysWhereElse(t *testing.T) {
	c := New("lock", entry{"a-lock", "doc"})
	c.Moved("c", "the other program has it")
	if _, err := c.Get("c"); err == nil || err.Error() != `lock "c" is not contained in this program: the other program has it` {
		t.Errorf("%v", err)
	}
}

func TestGetListsTheValidNames(t *testing.T) {
	c := New("lock", entry{"a-lock", "doc"}, entry{"b", "doc"})
	if e, err := c.Get("b"); err != nil || e.name != "b" {
		t.Fatalf("got %v, %v", e, err)
	}
	_, err := c.Get("c")
	if err == nil || err.Error() != `unknown lock "c": choose one of a-lock, b` {
		t.Fatalf("error %v", err)
	}
}

func TestAddPanicsOnProgrammersErrors(t *testing.T) {
	for name, bad := range map[string]entry{
		"empty doc": {"x", " "}, "bad name": {"X y", "doc"}, "empty name": {"", "doc"}, "duplicate": {"a", "doc"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p := recover(); p == nil || !strings.HasPrefix(p.(string), "catalogue: ") {
					t.Errorf("panic %v", p)
				}
			}()
			New("thing", entry{"a", "doc"}).Add(bad)
		})
	}
}
