package harness

import (
	"errors"
	"io/fs"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
)

// provable reports whether a finding is one about the lock or its clients, and not about the record itself.
func provable(check string, f *checker.Finding) bool {
	return check != checker.Coverage && (check != checker.Assumptions || len(f.Grants) > 0)
}

// prove looks for a proof of every finding that is listed, of several at once.
func prove(r *checker.Results, rec *history.Record) {
	var of []*checker.Finding
	var claims []proof.Claimed
	for _, name := range r.Order {
		findings := r.Checks[name].Findings
		for i := range findings {
			if f := &findings[i]; provable(name, f) {
				of, claims = append(of, f), append(claims, proof.Claimed{Claim: f.Claim(name), Events: f.Events})
			}
		}
	}
	if len(of) == 0 {
		return
	}
	for i, p := range proof.New(rec).ProveAll(claims) {
		of[i].Proof = p
	}
}

// sign says which record the proofs are from. A run whose logs were damaged has no merged history to name.
func sign(r *checker.Results, path string) (err error) {
	for _, name := range r.Order {
		for _, f := range r.Checks[name].Findings {
			if f.Proof == nil {
				continue
			}
			if r.Record, err = proof.Digest(path); errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
	}
	return nil
}
