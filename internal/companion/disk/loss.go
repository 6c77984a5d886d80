package disk

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/internal/companion"
)

// sector is what a disk writes whole or not at all.
const sector = 512

// Cut loses the power. The folder then has what a disk would have, and keeps it: whatever is asked of d from now on fails. The
// loss says which files lost what; of the words, those that were in it.
func (d *Disk) Cut(mode string, draw uint64, words []string) (companion.Loss, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut {
		return companion.Loss{}, errors.New("its power is lost already")
	}
	d.cut = true
	rnd := rand.New(rand.NewPCG(draw, 0))
	kept := 0
	switch mode {
	case companion.KeepPrefix:
		kept = rnd.IntN(len(d.journal) + 1)
	case companion.KeepTorn:
		kept = len(d.journal)
	}
	if err := d.commit(kept); err != nil {
		return companion.Loss{}, err
	}
	loss := companion.Loss{Changes: len(d.journal)}
	for _, id := range slices.Sorted(maps.Keys(d.nodes)) {
		n := d.nodes[id]
		if len(n.writes) == 0 || n.names == 0 {
			continue
		}
		lost, err := n.tear(mode, rnd, d.done)
		if err != nil {
			return loss, err
		}
		if f := describe(n, lost, words); f.Bytes > 0 {
			loss.Files = append(loss.Files, f)
		}
	}
	slices.SortStableFunc(loss.Files, func(a, b companion.LostFile) int {
		return cmp.Or(cmp.Compare(len(b.Words), len(a.Words)), cmp.Compare(b.Bytes, a.Bytes))
	})
	return loss, nil
}

// tear makes durable what a mode leaves of a file's writes, and returns the others.
func (n *node) tear(mode string, rnd *rand.Rand, done uint64) (lost []write, err error) {
	kept := 0
	for kept < len(n.writes) && n.fd >= 0 && n.writes[kept].after <= done {
		kept++
	}
	cut := 0 // of the first that is not kept whole
	switch {
	case mode == companion.KeepPrefix:
		if kept = rnd.IntN(kept + 1); kept < len(n.writes) && n.fd >= 0 && n.writes[kept].after <= done {
			cut = rnd.IntN(len(n.writes[kept].data)) / sector * sector
		}
	case mode == companion.KeepTorn && kept > 0:
		kept--
		cut = n.writes[kept].torn(rnd)
	default:
		kept = 0
	}
	for _, w := range n.writes[:kept] {
		if err := n.store(w.off, w.data); err != nil {
			return nil, err
		}
	}
	lost = slices.Clone(n.writes[kept:])
	if cut > 0 {
		w := &lost[0]
		err = n.store(w.off, w.data[:cut])
		w.off, w.data = w.off+int64(cut), w.data[cut:]
	}
	return lost, err
}

// torn is how much of a write is left where the power went while its last page was written: a sector of that or more, where it
// has several.
func (w write) torn(rnd *rand.Rand) int {
	end := w.off + int64(len(w.data))
	last := max(w.off, (end-1)/page*page)
	first := last/sector + 1
	if n := (end-1)/sector - first + 1; n > 0 {
		last = (first + rnd.Int64N(n)) * sector
	}
	return int(last - w.off)
}

// describe says what the writes were that a file lost.
func describe(n *node, lost []write, words []string) companion.LostFile {
	f := companion.LostFile{Path: n.path(), New: n.fd < 0}
	for _, word := range words {
		if slices.ContainsFunc(lost, func(w write) bool { return bytes.Contains(w.data, []byte(word)) }) {
			f.Words = append(f.Words, word)
		}
	}
	slices.SortFunc(lost, func(a, b write) int { return cmp.Compare(a.off, b.off) })
	var end int64
	for _, w := range lost { // each byte once
		to := w.off + int64(len(w.data))
		f.Bytes += max(0, to-max(end, w.off))
		end = max(end, to)
	}
	return f
}

// alive is nil while there is power.
func (d *Disk) alive() error {
	if d.cut {
		return unix.EIO
	}
	return nil
}
