package reports

import (
	"bytes"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/files"
)

// The part of a page that Retrail writes anew; nothing in it has elements of its kind.
const trailFrom, trailTo = `<div id="trail">`, `</div>`

// maxPage bounds a page that is read again, in bytes.
const maxPage = 64 << 20

// Retrail updates the links of a run (about.Trail) and how often its outcome showed again (about.Rate) in the page at
// path. When the page was made, the runs after it did not exist.
func Retrail(path string, about Context) error {
	old, err := files.Read(path, maxPage)
	if err != nil {
		return err
	}
	from := bytes.Index(old, []byte(trailFrom)) // names from a record are escaped: the first is the page's own
	if from < 0 {
		return fmt.Errorf("cannot update the links from the report %s to the previous and the next run: another version of lockstorm "+
			"wrote this report, in another format", path)
	}
	to := bytes.Index(old[from:], []byte(trailTo))
	if to < 0 {
		return fmt.Errorf("the report %s is truncated", path)
	}
	var b bytes.Buffer
	b.Write(old[:from])
	if err := page().ExecuteTemplate(&b, "trail", about); err != nil {
		return err
	}
	b.Write(old[from+to+len(trailTo):])
	return files.WriteBytes(path, b.Bytes())
}
