package redis

import "testing"

// A refusal and what changes nothing pass; an answer that something was done can be lost.
func TestRefusals(t *testing.T) {
	for answer, want := range map[string]bool{
		"$-1\r\n": true, "_\r\n": true, ":0\r\n": true, "-OOM\r\n": true, "*1\r\n": true, "%7\r\n": true, ">3\r\n": true,
		"+PONG\r\n":      true,
		"$7\r\n# Server": true,
		"+OK\r\n":        false, ":1\r\n": false, ":10\r\n": false, "$2\r\nc1\r\n": false,
	} {
		if got := refusal([]byte(answer)); got != want {
			t.Errorf("%q: refusal %v, want %v", answer, got, want)
		}
	}
}
