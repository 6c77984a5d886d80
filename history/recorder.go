package history

import (
	"errors"
	"fmt"
	"sync"
)

// Recorder appends the events of one party to its log. When Record returns, an event is in the log or in the tail beside it
// ([Settle]), so that a SIGKILL loses nothing that was recorded. It is safe for concurrent use; times and sequence numbers are
// assigned under its lock and therefore grow together.
type Recorder struct {
	clock Clock
	party string
	limit int64 // a write that takes longer is a stall

	mu    sync.Mutex
	log   *log  // nil: nothing is written
	moved int64 // when its tail was last moved because of the time
	buf   []byte
	seq   int64
	sum   uint32 // chained over the lines so far
	err   error
}

// moveEvery is after how many ns the tail of a log is moved though it is not full: who follows the file sees it grow.
const moveEvery = 100_000_000

// ErrRecorderClosed is returned by a recorder after Close.
var ErrRecorderClosed = errors.New("the log of events is closed: no more events can be recorded")

// Open creates the log of a party at path and writes its first event, f:run. The file
// must not exist yet: a log is never continued by a second process.
func Open(path, party string, clock Clock, run Run) (*Recorder, error) {
	log, err := createLog(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the log of %s: %w", party, err)
	}
	r := &Recorder{clock: clock, party: party, limit: run.StallLimit, log: log, buf: make([]byte, 0, 1024)}
	if _, err := r.Record(Line{Process: Process{Name: party}, Type: Info, F: FRun, Value: ValueOf(run)}); err != nil {
		return nil, errors.Join(err, r.log.close())
	}
	return r, nil
}

// Discard returns a recorder that keeps the clock and writes nothing, to measure what recording costs.
func Discard(party string, clock Clock) *Recorder { return &Recorder{clock: clock, party: party} }

// Clock returns the clock by which events are timed.
func (r *Recorder) Clock() Clock { return r.clock }

// Party returns the party whose log this is.
func (r *Recorder) Party() string { return r.party }

// Record stamps the event with time, party and sequence number, appends it to the log and returns the time. After a
// failed write every later call returns the same error: a party that cannot record must stop acting.
func (r *Recorder) Record(e Line) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	t := r.write(&e)
	// A disk that blocks holds the party up where no ticker sees it. Nothing follows the end.
	if took := r.clock.Now() - t; r.limit > 0 && took > r.limit && r.err == nil && e.F != FEnd {
		r.write(&Line{Process: Process{Name: r.party}, Type: Info, F: FStall, Value: ValueOf(Stall{Late: took})})
	}
	return t, r.err
}

// write stamps and appends one event; a failure is kept in r.err.
func (r *Recorder) write(e *Line) int64 {
	e.Time, e.Party, e.Seq = r.clock.Now(), r.party, r.seq
	r.seq++
	if r.log == nil {
		return e.Time
	}
	r.buf = append(e.AppendJSON(r.buf[:0], false), '\n')
	err := r.log.write(r.buf)
	if err == nil && e.Time-r.moved > moveEvery {
		r.moved = e.Time
		err = r.log.drain()
	}
	if err != nil {
		r.err = fmt.Errorf("cannot write the log of %s: %w", r.party, err)
	}
	r.sum = chained(r.sum, lineSum(r.buf[:len(r.buf)-1]))
	return e.Time
}

// Notice records an event of the party itself (no operation): a point, a loss, a stall.
func (r *Recorder) Notice(e Line) error {
	e.Process = Process{Name: r.party}
	if e.Type == "" {
		e.Type = Info
	}
	_, err := r.Record(e)
	return err
}

// Finish writes f:end, whose count includes itself, and closes the log in one step. others has what only the
// controller knows of the other logs; Finish sets the rest.
func (r *Recorder) Finish(others End) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		sum := r.sum
		others.Events, others.Sum = r.seq+1, &sum
		r.write(&Line{Process: Process{Name: r.party}, Type: Info, F: FEnd, Value: ValueOf(others)})
	}
	err := r.err
	return errors.Join(err, r.close())
}

// Close closes the log without an end, as an interrupted party leaves it.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.close()
}

func (r *Recorder) close() error {
	if r.err == nil {
		r.err = ErrRecorderClosed
	}
	if r.log == nil {
		return nil
	}
	log := r.log
	r.log = nil
	return log.close()
}
