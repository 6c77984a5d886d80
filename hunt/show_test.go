package hunt

import (
	"os"
	"strings"
	"testing"
)

func TestShow(t *testing.T) {
	kind := os.Getenv("HUNT_SHOW")
	if kind == "" {
		return
	}
	left := 2
	for seed := uint64(number(t, "HUNT_SEED", 1)); seed < uint64(number(t, "HUNT_SEED", 1))+400 && left > 0; seed++ {
		o, err := Cases(seed).Play()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range o.Disagreements {
			if d.Kind() == kind && left > 0 {
				left--
				c := o.Trace.Config
				t.Logf("seed %d %s %s %s fenc=%s faults=%v loss=%d late=%d stalls=%d renew=%v overrun=%v bug=%s\n%s %v", seed, c.Service, c.Model, c.Discipline, c.Fencing, c.Faults, c.Loss, c.Late, c.Stalls, c.Renew, c.Overrun, c.Bug, d.Text, d.Grants)
				for i := range o.Trace.History.Events {
					e := &o.Trace.History.Events[i]
					line := string(e.AppendJSON(nil, true))
					for _, g := range d.Grants {
						if strings.Contains(line, `"`+g+`"`) || strings.Contains(line, `"fault"`) || e.F == "kill" || (e.F == "lease" || e.F == "renew" && e.Grant == "") && strings.HasPrefix(g, e.Client+"-") {
							t.Log(line)
							break
						}
					}
				}
				break
			}
		}
	}
}
