package harness

import (
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
)

// A word counts as a word: part of a longer one is another.
func TestHasWord(t *testing.T) {
	for data, want := range map[string]bool{
		"*5\r\n$3\r\nset\r\n$1\r\nl": true, "client setinfo": false, "asset": false, "reset set": true, "set": true, "": false,
		"se": false, "set_2": false, "{set}": true,
	} {
		if got := hasWord([]byte(data), []byte("set")); got != want {
			t.Errorf("%q: %v", data, got)
		}
	}
	if !hasWord([]byte("x$kv.a"), []byte("$kv.")) {
		t.Error("signs have no border")
	}
}

// Requests count by their word; of answers the first one after such a request, on its connection.
func TestCounts(t *testing.T) {
	of := func(connection, data string) link.Message {
		return link.Message{Connection: connection, Data: []byte(data)}
	}
	answer := func(connection string) link.Message { return link.Message{Connection: connection, Reply: true} }
	c := &carriage{point: history.AtRequest, text: []byte("set"), asked: map[any]bool{}}
	for _, w := range []struct {
		m    link.Message
		want bool
	}{{of("a", "GET x"), false}, {of("a", "SET x"), true}, {answer("a"), false}} {
		if c.counts(w.m) != w.want {
			t.Errorf("request %+v: %v", w.m, !w.want)
		}
	}
	c = &carriage{point: history.AtReply, text: []byte("set"), asked: map[any]bool{}}
	for _, w := range []struct {
		m    link.Message
		want bool
	}{{answer("a"), false}, {of("a", "SET x"), false}, {answer("b"), false}, {answer("a"), true}, {answer("a"), false}} {
		if c.counts(w.m) != w.want {
			t.Errorf("answer %+v: %v", w.m, !w.want)
		}
	}
}
