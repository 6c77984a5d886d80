package hunt

import (
	"os"
	"strconv"
	"testing"
)

func number(t *testing.T, name string, def int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func TestHunt(t *testing.T) {
	table, err := Hunt(uint64(number(t, "HUNT_SEED", 1)), number(t, "HUNT_N", 4000), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	table.Print(os.Stdout, nil)
}
