package history

import "testing"

// What recording one event costs its client. The aim: at most half a microsecond.
func BenchmarkRecord(b *testing.B) {
	r := openTest(b, b.TempDir(), "c1", NewClock())
	e := Line{
		Process: Process{N: 1000001}, Type: OK, F: FAcquire, Client: "c1", Lock: "L1", Grant: "c1-123",
		Owner: "c1-123-0123456789abcdef",
		Lease: "c1-123-0123456789abcdef", Sent: Some(123456789), TTL: Some(1e9), Deadline: Some(1123456789), Token: Some(77),
	}
	for b.Loop() {
		if _, err := r.Record(e); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "us/event")
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}
