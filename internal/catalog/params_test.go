package catalog

import (
	"strings"
	"testing"
	"time"
)

var valid = []Param{{Name: "at"}, {Name: "for", Default: "1.5ttl"}, {Name: "nth", Default: "1"}, {Name: "try", Default: "0.1"}}

func TestParse(t *testing.T) {
	v, err := Parse("fault", "at=before-write,for=200ms", valid)
	if err != nil {
		t.Fatal(err)
	}
	if v["at"] != "before-write" || v["nth"] != "1" {
		t.Errorf("values %v", v)
	}
	for text, want := range map[string]string{
		"at":       `parameter "at" of fault needs a value`,
		"at=":      `parameter "at" of fault needs a value`,
		"speed=9":  `fault has no parameter "speed": choose from at, for, nth, try`,
		"at=x,,":   `fault has no parameter ""`,
		"for=1,=2": `fault has no parameter ""`,
	} {
		if _, err := Parse("fault", text, valid); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	if _, err := Parse("none", "at=x", nil); err == nil || !strings.Contains(err.Error(), "takes no parameters") {
		t.Errorf("error %v", err)
	}
}

func TestLength(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "1.5ttl": 3 * time.Second, "250ms": 250 * time.Millisecond, "0s": 0,
		"0ttl": 0,
	} {
		if got, err := (Values{"for": text}).Length("for", 2*time.Second); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"ttl", "-1s", "-1ttl", "5", "x", "1.5 ttl"} {
		if _, err := (Values{"for": text}).Length("for", time.Second); err == nil {
			t.Errorf("%q is no length, but there was no error", text)
		}
	}
}

func TestNumbers(t *testing.T) {
	if n, err := (Values{"nth": "3"}).Count("nth", 1); err != nil || n != 3 {
		t.Errorf("%d, %v", n, err)
	}
	for _, bad := range []string{"0", "-1", "x", "1.5"} {
		if _, err := (Values{"nth": bad}).Count("nth", 1); err == nil {
			t.Errorf("nth=%s was taken", bad)
		}
	}
	for _, bad := range []string{"-0.1", "1.1", "x", ""} {
		if _, err := (Values{"try": bad}).Fraction("try"); err == nil {
			t.Errorf("try=%s was taken", bad)
		}
	}
}
