package history

import "testing"

// A fault begins when it struck, where its proof says when; a time that cannot be right is not believed.
func TestBegan(t *testing.T) {
	events := Events(Line{Time: 100}, Line{Time: 900, Type: OK})
	asked, proven := &events[0], &events[1]
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
