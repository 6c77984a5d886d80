package redis

import "bytes"

// refusals are how answers begin that say that nothing was done, or that answer what changes
// nothing: a nil, a 0, an error, a greeting, a PING, a push.
var refusals = [][]byte{
	[]byte("$-1\r"), []byte("_\r"), []byte(":0\r"), []byte("-"), []byte("*"), []byte("%"), []byte(">"), []byte("+PONG"),
}

// refusal reports whether an answer on the wire is one of these, or of INFO.
func refusal(answer []byte) bool {
	if _, body, ok := bytes.Cut(answer, []byte("\r\n")); ok && bytes.HasPrefix(body, []byte("# ")) {
		return true
	}
	for _, prefix := range refusals {
		if bytes.HasPrefix(answer, prefix) {
			return true
		}
	}
	return false
}
