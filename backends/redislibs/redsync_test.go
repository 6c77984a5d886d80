package redislibs

import (
	"testing"

	"github.com/lockstorm/lockstorm/backends/internal/tap"
)

// What was sent to a node, what it said, and whether it may hold the key after that.
func TestMayHold(t *testing.T) {
	set, del := func(a tap.Reply) tap.Send { return tap.Send{Node: "n", Verb: "set", Answer: a} },
		func(a tap.Reply) tap.Send { return tap.Send{Node: "n", Verb: "evalsha", Answer: a} }
	var (
		yes   = tap.Reply{Kind: '+', Text: "OK"}
		one   = tap.Reply{Kind: ':', Text: "1"}
		gone  = tap.Reply{Kind: ':', Text: "-1"}
		taken = tap.Reply{Kind: '_'}
		noScr = tap.Reply{Kind: '-', Text: "NOSCRIPT No matching script"}
		lost  tap.Reply
	)
	for name, c := range map[string]struct {
		sends []tap.Send
		want  bool
	}{
		"never asked":                         {nil, false},
		"asked of another node":               {[]tap.Send{{Node: "m", Verb: "SET", Answer: yes}}, false},
		"taken":                               {[]tap.Send{set(taken)}, false},
		"granted":                             {[]tap.Send{set(yes)}, true},
		"granted and deleted":                 {[]tap.Send{set(yes), del(noScr), del(one)}, false},
		"granted, and expired before":         {[]tap.Send{set(yes), del(gone)}, false},
		"granted, the deletion was lost":      {[]tap.Send{set(yes), del(lost)}, true},
		"lost":                                {[]tap.Send{set(lost)}, true},
		"lost, then taken":                    {[]tap.Send{set(lost), set(taken)}, true},
		"lost, and there was none to delete":  {[]tap.Send{set(lost), del(gone)}, true},
		"granted again after it was deleted":  {[]tap.Send{set(yes), del(one), set(yes)}, true},
		"the server took no writes":           {[]tap.Send{set(tap.Reply{Kind: '-', Text: "READONLY no"})}, false},
		"deleted, and taken when tried again": {[]tap.Send{set(yes), del(one), set(taken)}, false},
	} {
		if got := mayHold(c.sends, "n"); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
