package proof_test

import (
	"os"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
)

// What the proofs of a run's findings cost, against judging it: BENCH_RUN is its directory (make bench).
func BenchmarkProofs(b *testing.B) {
	dir := os.Getenv("BENCH_RUN")
	if dir == "" {
		b.Skip("BENCH_RUN names no run: make bench makes one")
	}
	h, err := history.ReadFile(dir + "/" + history.File)
	if err != nil {
		b.Fatal(err)
	}
	var judging, proving time.Duration
	for b.Loop() {
		began := time.Now()
		in, err := checker.NewInput(h)
		if err != nil {
			b.Fatal(err)
		}
		r := checker.Judge(in, checks.Default())
		judging += time.Since(began)
		var claims []proof.Claimed
		for name, c := range r.Checks {
			for i := range c.Findings {
				claims = append(claims, proof.Claimed{Claim: c.Findings[i].Claim(name), Events: c.Findings[i].Events})
			}
		}
		began = time.Now()
		proof.New(in.Record).ProveAll(claims)
		proving += time.Since(began)
	}
	b.ReportMetric(float64(proving)/float64(judging), "of-judging")
}
