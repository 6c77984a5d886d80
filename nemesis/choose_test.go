package nemesis

import (
	"slices"
	"strings"
	"testing"
)

type thing struct {
	name  string
	doing Doing
	Client
}

func (t thing) Name() string { return t.name }

func (t thing) Doing() Doing { return t.doing }

func TestChooseClients(t *testing.T) {
	clients := []Client{thing{name: "c1", doing: Waits}, thing{name: "c2", doing: Holds}, thing{name: "c3", doing: Idle}}
	names := func(cs []Client) []string {
		var out []string
		for _, c := range cs {
			out = append(out, c.Name())
		}
		return out
	}
	for selector, want := range map[string]int{"": 1, "1": 1, "2": 2, "9": 3, "holder": 1, "c1+c3": 2} {
		got, err := chooseClients(clients, selector, nil, 3)
		if err != nil || len(got) != want {
			t.Errorf("%q: %v, %v", selector, names(got), err)
		}
		again, err := chooseClients(clients, selector, nil, 3)
		if err != nil || !slices.Equal(names(got), names(again)) {
			t.Errorf("%q: %v, then %v", selector, names(got), names(again))
		}
	}
	if got, _ := chooseClients(clients, "holder", nil, 1); got[0].Name() != "c2" { // checked above
		t.Errorf("holder is %v", names(got))
	}
	if _, err := chooseClients(clients, "c9", nil, 1); err == nil || !strings.Contains(err.Error(), `client "c9" is not running`) {
		t.Errorf("error %v", err)
	}
	if got, err := chooseClients(clients, "c1+c3", &Hit{Client: clients[2]}, 1); err != nil || len(got) != 2 ||
		got[0].Name() != "c3" {
		t.Errorf("c3 stands at the point, c1 is named, too: %v, %v", names(got), err)
	}
	got, err := chooseClients(clients, "2", &Hit{Client: clients[2]}, 1)
	if err != nil || len(got) != 2 || got[0].Name() != "c3" || got[1].Name() == "c3" {
		t.Errorf("with a hit of c3: %v, %v", names(got), err)
	}
}

type place struct {
	name, role string
	data       bool
}

func (p place) Name() string { return p.name }

func (p place) Role() string { return p.role }

func (p place) Data() bool   { return p.data }
func (p place) Addr() string { return "" }
func (p place) Admin() any   { return nil }

// nodesWorld is a world of which only the nodes are asked for.
type nodesWorld struct {
	World
	nodes []Node
}

func (w nodesWorld) Nodes() []Node { return w.nodes }

func (w nodesWorld) Fleet() Fleet { return nil }

// Sentinels are hurt only by name; those that granted come first.
func TestChooseNodes(t *testing.T) {
	w := nodesWorld{nodes: []Node{
		place{"r1", RoleMaster, true}, place{"r2", RoleReplica, true}, place{"r3", RoleReplica, true}, place{"s1", "sentinel", false},
	}}
	hit := &Hit{Nodes: []string{"r2", "r3"}}
	for _, c := range []struct {
		selector string
		hit      *Hit
		want     []string // one of these sets of names
	}{
		{"all", nil, []string{"r1 r2 r3"}},
		{"", nil, []string{"r1", "r2", "r3"}},
		{"2", hit, []string{"r2 r3"}},
		{"3", hit, []string{"r2 r3 r1"}},
		{"1", hit, []string{"r2", "r3"}},
		{"granted", hit, []string{"r2 r3"}},
		{"granted", nil, []string{""}},
		{"master", nil, []string{"r1"}},
		{"replica", nil, []string{"r2", "r3"}},
		{"s1", nil, []string{"s1"}},
	} {
		for draw := range uint64(20) {
			nodes, err := chooseNodes(t.Context(), w, c.selector, draw > 10, c.hit, draw)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, n := range nodes {
				names = append(names, n.Name())
			}
			if got := strings.Join(names, " "); !slices.Contains(c.want, got) {
				t.Errorf("%q: %q, want one of %q", c.selector, got, c.want)
			}
		}
	}
	if _, err := chooseNodes(t.Context(), w, "r9", false, nil, 0); err == nil {
		t.Error("found a node that is not there")
	}
}

// hidden is a node that clients do not call.
type hidden struct{ place }

func (hidden) Hidden() bool { return true }

// Where servers stand in front of those that keep the data, a fault of the clients' links strikes the former.
func TestChooseFronts(t *testing.T) {
	w := nodesWorld{nodes: []Node{place{"front", "server", false}, hidden{place{"store", RoleMaster, true}}}}
	for ofClients, want := range map[bool]string{true: "front", false: "store"} {
		for _, selector := range []string{"all", "1"} {
			nodes, err := chooseNodes(t.Context(), w, selector, ofClients, nil, 1)
			if err != nil || len(nodes) != 1 || nodes[0].Name() != want {
				t.Errorf("%s, %v: %v, %v", selector, ofClients, nodes, err)
			}
		}
	}
}
