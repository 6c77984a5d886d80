package harness

import (
	"errors"
	"fmt"
	"os"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proof"
)

// Verified is a stored run whose proofs were checked against its record, without the code that found them.
type Verified struct {
	Dir     string
	Results *checker.Results
	Run     history.Run
	Proofs  []VerifiedProof // in the order of the findings
	// Grants is how many grants were checked again; only where mutual exclusion passed.
	Grants int
	// Wrong is what does not fit about the run as a whole; nil: nothing.
	Wrong error

	record *proof.Record
}

// VerifiedProof is the result of checking one proof.
type VerifiedProof struct {
	Check   string
	Finding *checker.Finding
	Story   []string // what it shows, line by line
	Err     error    // why it does not hold; proof.ErrRecord and proof.ErrJudge: undecided
}

// VerifyDir checks the proofs of a stored run. It judges nothing and writes nothing. If the run passed, it checks
// that no two clients took themselves for the holder of a lock at once.
func VerifyDir(dir string) (*Verified, error) {
	r, err := ReadResults(dir)
	if err != nil {
		return nil, err
	}
	in, rec, err := readRecord(history.FileIn(dir))
	if err != nil {
		return nil, err
	}
	v := &Verified{Dir: dir, Results: r, Run: rec.Run, record: in}
	for _, name := range r.Order {
		findings := r.Checks[name].Findings
		for i := range findings {
			f := &findings[i]
			switch {
			case f.Proof != nil:
				story, err := in.Verify(f.Claim(name), f.Proof)
				v.Proofs = append(v.Proofs, VerifiedProof{name, f, story, err})
			case provable(name, f):
				v.Proofs = append(v.Proofs, VerifiedProof{Check: name, Finding: f, Err: ErrNoProof})
			}
		}
	}
	v.Wrong = v.whole(history.FileIn(dir))
	return v, nil
}

// ErrNoProof is returned for findings of a lockstorm that gave none.
var ErrNoProof = errors.New("the results contain no proof of this finding: judge the run again with `lockstorm check`")

// readRecord reads a record for proofs.
func readRecord(path string) (*proof.Record, *history.Record, error) {
	h, err := history.ReadFile(path)
	if err != nil {
		return nil, nil, Usage(err)
	}
	if len(h.Damage) > 0 {
		return nil, nil, Usage(fmt.Errorf("%s is damaged: %s", path, h.Damage[0].String()))
	}
	rec, err := history.Build(h)
	if err != nil {
		return nil, nil, Usage(err)
	}
	return proof.New(rec), rec, nil
}

// whole says what does not fit: another record than the proofs are from, or two holders in a run that passed.
func (v *Verified) whole(path string) error {
	if v.Results.Record != "" {
		switch digest, err := proof.Digest(path); {
		case err != nil:
			return err
		case digest != v.Results.Record:
			return errors.New("the record was changed after it was judged: its SHA-256 differs from that in " + ResultsFile)
		}
	}
	if v.Results.Seed != v.Run.Seed || v.Results.Backend != v.Run.Backend {
		return fmt.Errorf("%s and the record belong to different runs", ResultsFile)
	}
	if v.Results.Checks[checker.MutualExclusion].Verdict != checker.Pass {
		return nil
	}
	var err error
	if v.Grants, err = v.record.Exclusive(); err != nil {
		return fmt.Errorf("%s says that the check mutual-exclusion passed, but %w", ResultsFile, err)
	}
	return nil
}

// Letter returns the proof of a finding, to be mailed.
func (v *Verified) Letter(n int) (*proof.Letter, error) {
	p := v.Proofs[n]
	if p.Finding.Proof == nil {
		return nil, Usage(p.Err)
	}
	return v.record.Letter(p.Finding.Claim(p.Check), p.Finding.Proof, p.Finding.Message, v.Results.Record)
}

// VerifyLetter checks a proof in a file of its own, against a history or a run directory if record names one.
func VerifyLetter(path, record string) (l *proof.Letter, story []string, err error) {
	if l, err = proof.ReadLetter(path); err != nil {
		return nil, nil, Usage(err)
	}
	if record == "" {
		story, err = l.Verify()
		return l, story, err
	}
	if st, err := os.Stat(record); err == nil && st.IsDir() {
		record = history.FileIn(record)
	}
	in, _, err := readRecord(record)
	if err != nil {
		return nil, nil, err
	}
	digest, err := proof.Digest(record)
	if err != nil {
		return nil, nil, Environment(err)
	}
	story, err = l.Against(in, digest)
	return l, story, err
}
