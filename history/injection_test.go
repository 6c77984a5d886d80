package history

import "testing"

// A fault begins when it struck, where its proof says when; a time that cannot be right is not believed.
func TestBegan(t *testing.T) {
	asked, proven := &Event{Time: 100}, &Event{Time: 900, Type: OK}
	for name, tc := range map[string]struct {
		began  int64
		effect *Event
		want   int64
	}{
		"an old record, or a fault that struck at once": {0, proven, 100},
		"it prepared first":                             {700, proven, 700},
		"before it was asked for":                       {50, proven, 100},
		"after its proof":                               {901, proven, 100},
		"without a proof":                               {700, nil, 100},
	} {
		f := &Injection{Fault: Fault{Began: tc.began}, Invoke: asked, Effect: tc.effect}
		if f.Began() != tc.want || f.Span().From != tc.want {
			t.Errorf("%s: began at %d, at work from %d; want %d", name, f.Began(), f.Span().From, tc.want)
		}
	}
}

// A trigger is said as people would; one without a client is none.
func TestTrigger(t *testing.T) {
	for point, want := range map[string]string{
		"before-write": "just before c2's write", "acquired": "just after c2 was granted the lock", "waiting": "as c2 began to wait",
		"releasing": "as c2's release was about to leave", "between-get-and-del": "at between-get-and-del of c2", "": "",
	} {
		if got := (Fault{Point: point, By: "c2"}).Trigger(); got != want {
			t.Errorf("%q: %q, want %q", point, got, want)
		}
		if got := (Fault{Point: point}).Trigger(); got != "" {
			t.Errorf("%q of nobody: %q", point, got)
		}
	}
}
