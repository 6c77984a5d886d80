package reports

import (
	"io"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// HTML writes one self-contained page.
func HTML(w io.Writer, r *checker.Results, rec *history.Record) error { return nil }
