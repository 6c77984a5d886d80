package sql

import (
	"encoding/binary"
	"testing"
)

func message(kind byte, body string) string {
	head := []byte{kind, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[1:], uint32(len(body)+4))
	return string(head) + body
}

// What was done is told from what was not.
func TestRefusals(t *testing.T) {
	const ready = "Z"
	for text, want := range map[string]bool{
		message('1', "") + message('t', "\x00\x00") + message('n', "") + message(ready[0], "T"):             true, // prepared
		message('2', "") + message('C', "UPDATE 1\x00") + message(ready[0], "T"):                            false,
		message('2', "") + message('C', "UPDATE 0\x00") + message(ready[0], "T"):                            true,
		message('C', "COMMIT\x00") + message(ready[0], "I"):                                                 false,
		message('C', "BEGIN\x00") + message(ready[0], "T"):                                                  true,
		message('2', "") + message('D', "\x00\x01") + message('C', "SELECT 1\x00") + message(ready[0], "T"): false,
		message('2', "") + message('E', "SERROR\x00C55P03\x00\x00") + message(ready[0], "E"):                true,
		// cut: it may have been done
		message('C', "COMMIT\x00")[:7]: false,
	} {
		if got := postgresRefusal([]byte(text)); got != want {
			t.Errorf("PostgreSQL, %q: refusal %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]bool{
		"\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00":                     false, // one row
		"\x0c\x00\x00\x01\x00\x01\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00": true,  // prepared
		"\x17\x00\x00\x01\xff\x15\x05#HY000":                               true,
		"\x01\x00\x00\x01\x01":                                             false, // rows
		"\x07\x00":                                                         true,
	} {
		if got := mariadbRefusal([]byte(text)); got != want {
			t.Errorf("MariaDB, %q: refusal %v, want %v", text, got, want)
		}
	}
}
