package compose

import (
	"strings"
	"testing"
)

func TestParseChoices(t *testing.T) {
	c, err := ParseChoices([]string{"redis=valkey/valkey:8", "etcd=localhost/etcd@sha256:0=1"})
	if err != nil || c["redis"] != "valkey/valkey:8" || c["etcd"] != "localhost/etcd@sha256:0=1" {
		t.Errorf("%v, %v", c, err)
	}
	for word, want := range map[string]string{
		"redis": "write NAME=REF", "redis=": "write NAME=REF", "oracle=a": `no image "oracle": choose one of redis`,
	} {
		if _, err := ParseChoices([]string{word}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", word, err)
		}
	}
	if _, err := ParseChoices([]string{"redis=a", "redis=b"}); err == nil || !strings.Contains(err.Error(), "both a and b") {
		t.Errorf("two of one: %v", err)
	}
}
