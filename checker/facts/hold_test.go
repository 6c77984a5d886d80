package facts

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// Hold may be asked by all checks at once.
func TestHoldIsAskedAtOnce(t *testing.T) {
	var text strings.Builder
	text.WriteString("run\n")
	const grants = 200
	for i := range grants {
		at := 10 * i
		fmt.Fprintf(&text, "%dms 1 c1 invoke acquire lock=L grant=g%d\n%dms 1 c1 ok acquire lock=L grant=g%d\n", at, i, at+1, i)
		fmt.Fprintf(&text, "%dms 1 c1 invoke release lock=L grant=g%d\n%dms 1 c1 ok release lock=L grant=g%d\n", at+5, i, at+6, i)
	}
	text.WriteString("end\n")
	h, err := history.ParseText(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	in, err := New(h)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Grants) != grants {
		t.Fatalf("%d grants", len(in.Grants))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, g := range in.Grants {
				if in.Hold(g).Empty() {
					t.Errorf("grant %s was never held", g.ID)
				}
			}
		})
	}
	wg.Wait()
}
