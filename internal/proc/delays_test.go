package proc

import (
	"os"
	"testing"
	"time"
)

// Two threads that spin on one processor have both waited for it; a process that has ended has not.
func TestDelays(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil && os.Getenv("CI") == "" {
		t.Skip("this kernel does not count for how long threads wait: ", err)
	}
	ctx, p := start(t, "sh", "-c", "spin='while :; do :; done'; taskset -c 0 sh -c \"$spin\" & taskset -c 0 sh -c \"$spin\" & wait")
	waited := 0
	for waited < 2 && ctx.Err() == nil {
		waited = 0
		for _, d := range Delays([]int{p.Pid()}) {
			if d > 10*time.Millisecond {
				waited++
			}
		}
	}
	if waited < 2 {
		t.Errorf("waited: %v", Delays([]int{p.Pid()}))
	}
	if err := p.Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if left := Delays([]int{p.Pid()}); left != nil {
		t.Errorf("of a process that has ended: %v", left)
	}
}
