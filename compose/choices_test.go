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
	if _, err := ParseChoices([]string{"redis=a", "redis=b"}); err == nil ||
		!strings.Contains(err.Error(), "two images are given for redis (a and b)") {
		t.Errorf("two of one: %v", err)
	}
}

// An image of another module is built from its own Dockerfile, and can be chosen by its name.
func TestOwnImage(t *testing.T) {
	own := Image{Name: "mystore", Build: []byte("FROM debian\n")}
	if string(own.Dockerfile()) != "FROM debian\n" || !strings.HasPrefix(own.Built(), "localhost/lockstorm-mystore:") {
		t.Errorf("%q, built as %s", own.Dockerfile(), own.Built())
	}
	other := Image{Name: "mystore", Build: []byte("FROM debian:12\n")}
	if other.Built() == own.Built() {
		t.Error("another Dockerfile makes an image of the same name")
	}
	if _, err := ParseChoices([]string{"mystore=a:1"}); err == nil {
		t.Error("an image that nobody has was chosen")
	}
	if c, err := ParseChoices([]string{"mystore=a:1"}, "mystore"); err != nil || c["mystore"] != "a:1" {
		t.Errorf("%v, %v", c, err)
	}
}
