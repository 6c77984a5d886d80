package sql

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// postgresHead is the length of the head of a message: its type, and the length of the rest.
const postgresHead = 5

// postgresRefusal tells the answers by which nothing was done: an error, a statement that was only
// prepared or has changed no row, or one that begins or ends a transaction without applying it.
func postgresRefusal(answer []byte) bool {
	for len(answer) >= postgresHead {
		kind, size := answer[0], int(binary.BigEndian.Uint32(answer[1:postgresHead]))+1
		size = min(max(size, postgresHead), len(answer))
		body := answer[postgresHead:size]
		switch kind {
		case 'E': // ErrorResponse
			return true
		case 'C': // CommandComplete
			if !undone(string(bytes.TrimRight(body, "\x00"))) {
				return false
			}
		}
		answer = answer[size:]
	}
	return true
}

// undone are the tags of commands that have done nothing.
func undone(tag string) bool {
	switch tag {
	case "BEGIN", "ROLLBACK", "SET", "UPDATE 0", "DELETE 0", "INSERT 0 0", "SELECT 0", "CREATE TABLE":
		return true
	}
	return strings.HasPrefix(tag, "SHOW")
}

// The head of a packet of MariaDB is its length, in three bytes, and its number; a statement that was
// prepared is answered by twelve bytes that begin with a 0.
const (
	mariadbHead     = 4
	mariadbPrepared = 12
	mariadbErr      = 0xff
)

// mariadbRefusal tells the answers by which nothing was done: an error, and a statement that was only
// prepared. What a row or an OK says cannot be told without knowing the question.
func mariadbRefusal(answer []byte) bool {
	if len(answer) <= mariadbHead {
		return true
	}
	size := int(answer[0]) | int(answer[1])<<8 | int(answer[2])<<16
	first := answer[mariadbHead]
	return first == mariadbErr || (first == 0 && size == mariadbPrepared)
}
