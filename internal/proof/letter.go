package proof

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// LetterSchema is the version of a proof in a file of its own.
const LetterSchema = 1

// Letter is a proof that can be mailed: with its events, and the digest of the record that they are from.
type Letter struct {
	Schema int   `json:"lockstorm_proof"`
	Claim  Claim `json:"claim"`
	// Message is what the judge said of it; the proof does not need it.
	Message string `json:"message"`
	// NeedsRecord: it rests on what did not happen, and holds only with the whole record.
	NeedsRecord bool `json:"needs_record,omitempty"`
	// Record is the SHA-256 of the record's history.jsonl.
	Record string         `json:"record_sha256"`
	Events []history.Line `json:"events"`
	// Seal is the SHA-256 of all of the above: it shows that the letter was damaged on its way, not who wrote it.
	Seal string `json:"seal"`
}

// Letter is a proof of a finding with its events.
func (r *Record) Letter(finding Claim, p *Certificate, message, digest string) (*Letter, error) {
	events, err := r.pick(p)
	if err != nil {
		return nil, err
	}
	if p.Record && r.run != nil && (len(events) == 0 || events[0].F() != history.FRun) {
		events = slices.Insert(events, 0, *r.run)
	}
	l := &Letter{
		Schema: LetterSchema, Claim: p.Of(finding), Message: message, NeedsRecord: p.Record, Record: digest,
		Events: history.Lines(events),
	}
	l.Seal, err = l.seal()
	return l, err
}

// SealAgain seals a letter after a change: it is for tests of what shows tampering beside the seal.
func (l *Letter) SealAgain() (err error) {
	l.Seal, err = l.seal()
	return err
}

// seal is what the seal of a letter must be.
func (l *Letter) seal() (string, error) {
	open := *l
	open.Seal = ""
	text, err := json.Marshal(open)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// ErrNoLetter is the answer for files that are no proof.
var ErrNoLetter = errors.New("the file is not a lockstorm proof: `lockstorm verify DIR --save FILE` writes a proof")

// ReadLetter reads a proof from a file.
func ReadLetter(path string) (*Letter, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var l Letter
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil || l.Schema == 0 {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(ErrNoLetter, err))
	}
	if l.Schema > LetterSchema {
		return nil, fmt.Errorf("%s has schema version %d, but this lockstorm reads only versions up to %d: use a newer lockstorm", path,
			l.Schema, LetterSchema)
	}
	for i := range l.Events { // as a record has them: its files are indented
		var compact bytes.Buffer
		if v := &l.Events[i].Value; len(v.JSON) > 0 && json.Compact(&compact, v.JSON) == nil {
			v.JSON = compact.Bytes()
		}
	}
	return &l, nil
}

// ErrExcuse is the answer where the events of a letter show a violation, and its class turns on that nothing excuses it.
var ErrExcuse = fmt.Errorf("the events show the violation, but not that no fault or stall excuses it: %w", ErrRecord)

// Verify checks a letter by itself: it is whole, its events prove its claim, and none of them can be left out. The answer is
// [ErrRecord] where they alone prove nothing.
func (l *Letter) Verify() (story []string, err error) {
	seal, err := l.seal()
	switch {
	case err != nil:
		return nil, err
	case seal != l.Seal:
		return nil, errors.New("the checksum in the field \"seal\" does not match: the proof file was changed after lockstorm wrote " +
			"the file")
	case l.NeedsRecord:
		return nil, ErrRecord
	}
	if story, err = Check(history.Events(l.Events...), l.Claim); err != nil {
		return nil, err
	}
	if err := Minimal(history.Events(l.Events...), l.Claim); err != nil {
		return nil, err
	}
	var run history.Run
	connected := l.Events[0].Value.Into(&run) == nil && run.Ends == history.EndsConnection
	if l.Claim.Reason == toldLate || (connected && l.Claim.Class == defect) {
		return story, ErrExcuse
	}
	return story, nil
}

// Against holds a letter against the record that it is from, of which the digest is given.
func (l *Letter) Against(r *Record, digest string) (story []string, err error) {
	if seal, err := l.seal(); err != nil || seal != l.Seal {
		return nil, errors.Join(errors.New("the checksum in the field \"seal\" does not match: the proof file was changed after "+
			"lockstorm wrote the file"), err)
	}
	if digest != l.Record {
		return nil, errors.New("the SHA-256 of the record differs from the SHA-256 in the proof: the proof belongs to another " +
			"record, or the record was changed")
	}
	for i := range l.Events {
		e := &l.Events[i]
		own := r.at(e.Index)
		if own == nil || !bytes.Equal(own.AppendJSON(nil, true), e.AppendJSON(nil, true)) {
			return nil, fmt.Errorf("event %d differs between the proof and the record", e.Index)
		}
	}
	if l.NeedsRecord {
		return r.all().shows(l.Claim)
	}
	return r.few(l.Claim, history.Events(l.Events...))
}

// Digest is the SHA-256 of a record's text.
func Digest(path string) (string, error) {
	f, err := history.OpenText(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
