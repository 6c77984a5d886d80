package nats

import (
	"encoding/json"
	"testing"
)

// A server leads if it says so and has members. Where two say so, the one whose followers answer has the higher term.
func TestListed(t *testing.T) {
	as := func(text string) group {
		t.Helper()
		var l listed
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		return l.as("nats-1")
	}
	for text, want := range map[string]group{
		`{"leader": "nats-2", "replicas": [{"active": 1000}, {"active": 0}]}`: {Leader: "nats-2"},
		// of the servers' own group a follower lists no others
		`{"leader": "nats-2"}`:                               {Leader: "nats-2"},
		`{"leader": "nats-1"}`:                               {},
		`{"replicas": [{"active": 1000}, {"active": 2000}]}`: {},
		`{"leader": "nats-1", "replicas": [{"active": 5000000000}, {"active": 9000}]}`: {
			State: stateLeader, Leader: "nats-1",
			Term: -9,
		},
	} {
		if got := as(text); got != want {
			t.Errorf("%s is %+v, want %+v", text, got, want)
		}
	}
	heard, silent, never := as(`{"leader": "nats-1", "replicas": [{"active": 800000000}, {"active": 0}]}`),
		as(`{"leader": "nats-1", "replicas": [{"active": 7000000000}, {"active": 7000000000}]}`),
		as(`{"leader": "nats-1", "replicas": [{"active": 0}, {"active": 0}]}`)
	if heard.Term <= silent.Term || silent.Term <= never.Term || never.Term+streamTerms <= heard.Term {
		t.Errorf("the terms are %d, %d and %d", heard.Term, silent.Term, never.Term)
	}
}
