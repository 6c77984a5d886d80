package ownlock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/workloads"
)

// Names of the workloads, for --workload.
const (
	Ledger = "ledger"
	Late   = "ledger-late"
)

// PointNumbered is a point (a named step) of this workload.
const PointNumbered = "entry-numbered"

// The workload's own parameters.
const (
	paramAccounts = "accounts"
	paramOpening  = "opening"
)

// Workloads describes the two workloads for the catalogue: a correct workload, and a workload with a planted bug. The second
// workload shows that the check in [Checks] finds such a bug.
func Workloads() []workloads.Spec {
	return []workloads.Spec{
		workload(Ledger, "each critical section moves money between two accounts, and writes the move to a ledger (a file) as an "+
			"entry with the next entry number", (*ledger).transfer),
		workload(Late, "like the workload ledger, but the client writes the entry a while after it has released the lock (a "+
			"planted bug)", (*ledger).transferLate),
	}
}

func workload(name, doc string, section func(*ledger, context.Context, *workloads.Client, workloads.Turn) (bool,
	error),
) workloads.Spec {
	return workloads.Spec{
		Name: name, Doc: doc,
		Params: append(workloads.Params(),
			workloads.Param{Name: paramAccounts, Default: "4", Doc: "number of accounts, 2 or more"},
			workloads.Param{Name: paramOpening, Default: "100", Doc: "initial balance of each account"}),
		Points: []history.Point{{Name: PointNumbered, Doc: "the client has read the last entry and numbered the new entry, but has " +
			"not yet written the new entry"}},
		Check: func(s workloads.Settings) error {
			_, err := newLedger(s)
			return err
		},
		New: func(s workloads.Settings) workloads.Workload {
			l, err := newLedger(s)
			if err != nil {
				panic(err) // cannot happen: Check has already refused wrong parameters
			}
			l.section = section
			return l
		},
	}
}

// Entry is the record of one transfer. The check in [Checks] judges the entries.
type Entry struct {
	Number int64 `json:"number"` // the number of the previous entry + 1
	From   int   `json:"from"`
	To     int   `json:"to"`
	Amount int64 `json:"amount"`
	Total  int64 `json:"total"` // sum of all accounts after this transfer
}

// book is the content of a ledger file. Each lock protects its own file.
type book struct {
	Entries  int64   `json:"entries"`
	Balances []int64 `json:"balances"`
}

// ledger is the workload of one client:
//
//	acquire  [read the book, number the entry]  ...hold...  [write the book]  release
type ledger struct {
	workloads.Settings
	accounts int
	opening  int
	section  func(*ledger, context.Context, *workloads.Client, workloads.Turn) (bool, error)
}

// newLedger reads the parameters.
func newLedger(s workloads.Settings) (*ledger, error) {
	l := &ledger{Settings: s}
	var errs [2]error
	l.accounts, errs[0] = s.Values.Count(paramAccounts, 0)
	l.opening, errs[1] = s.Values.Count(paramOpening, 0)
	if errs[0] == nil && l.accounts < 2 {
		errs[0] = fmt.Errorf("%s=%d: choose 2 accounts or more, because money moves between two accounts", paramAccounts, l.accounts)
	}
	return l, errors.Join(errs[:]...)
}

// Section makes one transfer under one of the locks.
func (l *ledger) Section(ctx context.Context, c *workloads.Client, t workloads.Turn) (bool, error) {
	return l.section(l, ctx, c, t)
}

// transfer reads the book, waits for a while, and writes the book. Before every access, it does the same steps in the same order:
// it checks the lease, reaches the point, and accesses the data. Between the point and the access it checks nothing. Real
// programs have the same gap.
func (l *ledger) transfer(ctx context.Context, c *workloads.Client, t workloads.Turn) (bool, error) {
	return l.Run(ctx, c, t, func(h *workloads.Hold) error {
		if !h.Valid() {
			return nil
		}
		h.Reach(ctx, history.AtBeforeRead)
		b, entry, err := l.number(h.Lock)
		if err != nil {
			return err // the client cannot continue without its data
		}
		h.Reach(ctx, PointNumbered)
		l.Stay(ctx, t)
		if !h.Valid() {
			return nil
		}
		h.Reach(ctx, history.AtBeforeWrite)
		return l.post(ctx, h, b, entry)
	})
}

// transferLate has a planted bug: it releases the lock before it writes the entry.
func (l *ledger) transferLate(ctx context.Context, c *workloads.Client, t workloads.Turn) (bool, error) {
	h, err := l.Begin(ctx, c, t)
	if h == nil || err != nil {
		return false, err
	}
	b, entry, err := l.number(h.Lock)
	if err = errors.Join(err, h.Release(ctx)); err != nil {
		return true, err
	}
	l.Stay(ctx, t)
	return true, l.post(ctx, h, b, entry)
}

// post writes the book. Hold.Work records the entry before and after the write.
func (l *ledger) post(ctx context.Context, h *workloads.Hold, b book, entry Entry) error {
	return h.Work(ctx, entry, func(context.Context) error { return b.write(l.path(h.Lock), h.Grant) })
}

// path returns the name of a lock's ledger file, in the folder that all clients share.
func (l *ledger) path(lock string) string { return filepath.Join(l.Dir, lock+".ledger") }

// number reads the book of a lock and makes its next entry.
func (l *ledger) number(lock string) (book, Entry, error) {
	b, err := l.read(l.path(lock))
	if err != nil {
		return b, Entry{}, err
	}
	return b, l.next(&b), nil
}

// next moves money between two accounts and numbers the entry.
func (l *ledger) next(b *book) Entry {
	from := l.Rand.IntN(len(b.Balances))
	to := (from + 1 + l.Rand.IntN(len(b.Balances)-1)) % len(b.Balances)
	e := Entry{Number: b.Entries + 1, From: from, To: to, Amount: 1 + l.Rand.Int64N(10)}
	b.Entries = e.Number
	b.Balances[from] -= e.Amount
	b.Balances[to] += e.Amount
	for _, balance := range b.Balances {
		e.Total += balance
	}
	return e
}

// read reads the book. If the file does not exist yet, read opens the accounts.
func (l *ledger) read(path string) (b book, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		b.Balances = make([]int64, l.accounts)
		for i := range b.Balances {
			b.Balances[i] = int64(l.opening)
		}
		return b, nil
	}
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(text, &b)
}

// write replaces the whole file in one step (rename). So a client that dies leaves either the old file or the new file.
// If the write certainly did not happen, write returns ErrNotSent. After any other error, the outcome is unknown.
func (b book) write(path, grant string) error {
	text, err := json.Marshal(b)
	if err == nil {
		err = os.WriteFile(path+"."+grant, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	return os.Rename(path+"."+grant, path)
}
