package harness

import (
	"reflect"
	"testing"
)

// What a line says comes back as the same line, and as the same configuration.
func TestLinesThereAndBack(t *testing.T) {
	for _, line := range []string{
		"--backend redis-lua",
		"--backend redlock --topology redis-five-aof --provider process --clients 3 --nemesis client-pause:at=before-write,for=2ttl " +
			"--nemesis flap " +
			"--workload counter:fence=at-least --fencing on --discipline trusting --ttl 3s --locks 4 --time 4s --require " +
			"liveness,ownership --seed 7",
	} {
		c, err := ParseLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Line(); got != line {
			t.Errorf("%s\nbecomes\n%s", line, got)
		}
		again, err := ParseLine(c.Line())
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%v, want %v (%v)", again, c, err)
		}
	}
	for _, bad := range []string{"--backed redis-lua", "redis-lua", "--clients two"} {
		if _, err := ParseLine(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
