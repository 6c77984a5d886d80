package tap

import "testing"

// BenchmarkSection is what looking costs for the requests and answers of one section of a Redis
// lock: an acquire by script, two extensions, a release, each followed. A section through links
// takes some hundreds of microseconds (BenchmarkRecordedSection of package harness); the aim is 2 %
// of that.
func BenchmarkSection(b *testing.B) {
	const owner = "c1-1-0123456789abcdef"
	sha := "9eb62214c9af87ae5f9a9f12bb4520281c0d2ae1"
	request := []byte(cmd("evalsha", sha, "1", "1-42747fa73bb:lock:L1", owner, "1000"))
	answer := []byte(":1\r\n")
	t := New(clock())
	w := &wire{}
	c := t.Conn(w, "redis-1")
	buf := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		for range 4 {
			trail := t.Follow(owner)
			c.Write(request) //nolint:errcheck // it cannot fail
			w.in = answer
			c.Read(buf) //nolint:errcheck // it cannot fail
			trail.Fate(nil)
			trail.End()
		}
	}
}
