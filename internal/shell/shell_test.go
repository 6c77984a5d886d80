package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What a real shell makes of a joined command is the words that went in.
func TestJoin(t *testing.T) {
	words := []string{"plain", "", "two words", "it's", `"$HOME"`, "a\nb", "*", `back\slash`, "a;b|c&d", "~", "--flag=x,y"}
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+Join(words...)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("%q became %q", words, got)
	}
	if Quote("--seed") != "--seed" {
		t.Error("a plain word is quoted")
	}
}
