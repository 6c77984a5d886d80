package history

import (
	"bytes"
	"encoding/json"
	"testing"
)

// What may be held together, by kind.
func TestTogether(t *testing.T) {
	reader := func(client, owner string) *Grant { return &Grant{Client: client, Owner: owner, Mode: ModeShared} }
	writer := func(client, owner string) *Grant { return &Grant{Client: client, Owner: owner} }
	for name, tc := range map[string]struct {
		a, b                             *Grant
		exclusive, readWrite, reentrancy bool
	}{
		"two readers":              {reader("c1", "o"), reader("c2", "p"), false, true, false},
		"a reader and a writer":    {reader("c1", "o"), writer("c2", "p"), false, false, false},
		"two writers":              {writer("c1", "o"), writer("c2", "p"), false, false, false},
		"an upgrade":               {reader("c1", "o"), writer("c1", "o"), false, true, true},
		"the same owner twice":     {writer("c1", "o"), writer("c1", "o"), false, true, true},
		"two owners of one client": {writer("c1", "o"), writer("c1", "p"), false, false, false},
		"one owner, two clients":   {writer("c1", "o"), writer("c2", "o"), false, false, false},
	} {
		for kind, want := range map[string]bool{
			"": tc.exclusive, ModelExclusive: tc.exclusive, ModelReadWrite: tc.readWrite,
			ModelReentrant: tc.reentrancy,
		} {
			m := Model{Kind: kind}
			if m.Together(tc.a, tc.b) != want || m.Together(tc.b, tc.a) != want {
				t.Errorf("%s, %q: want %v, either way", name, kind, want)
			}
		}
	}
	if (Model{Kind: "semaphore"}).Known() || !(Model{}).Known() {
		t.Error("an unknown kind is known, or none is not")
	}
}

// The model is on record in JSON and in text, and left out where there is none to state.
func TestModelOnRecord(t *testing.T) {
	r := record(t, "run model=read-write session=true\n")
	if want := (Model{Kind: ModelReadWrite, Session: true}); r.Model != want || r.Run.Model != want {
		t.Errorf("%+v and %+v, want %+v", r.Model, r.Run.Model, want)
	}
	raw, err := json.Marshal(r.Run)
	if err != nil || !bytes.Contains(raw, []byte(`"model":{"kind":"read-write","session":true}`)) {
		t.Errorf("%v: %s", err, raw)
	}
	if raw, err = json.Marshal(Run{}); err != nil || bytes.Contains(raw, []byte("model")) {
		t.Errorf("%v: %s", err, raw)
	}
	const reader = "0ms 1 c1 invoke acquire lock=L grant=g mode=shared\n"
	if r := record(t, "run\n"+reader); r.Model.Kind != ModelReadWrite || r.Run.Model.Kind != "" {
		t.Errorf("readers without a model: %+v, on record %+v", r.Model, r.Run.Model)
	}
	if r := record(t, "run model=exclusive\n"+reader); r.Model.Kind != ModelExclusive {
		t.Errorf("readers of an exclusive lock: %+v", r.Model)
	}
}
