package history

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
)

// A party chains a checksum over the lines of its log and writes it with its f:end, and the
// controller writes those of all logs with its own. So a reader tells a record that was changed
// after it was written from one that says something strange: the first is damage, and never
// judged. The sum of a line is CRC-32C of its text without the index, which a merged history
// has and a log has not; the chain is CRC-32C over the sums, in order.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// lineSum is the checksum of a line without its newline.
func lineSum(line []byte) uint32 {
	const index = `{"index":`
	if rest, ok := bytes.CutPrefix(line, []byte(index)); ok {
		if i := bytes.IndexByte(rest, ','); i >= 0 {
			return crc32.Checksum(rest[i+1:], castagnoli)
		}
	}
	return crc32.Checksum(bytes.TrimPrefix(line, []byte("{")), castagnoli)
}

// chained adds the sum of a line to a chain: crc32.Update of its four bytes, little end first, which would allocate them.
func chained(chain, line uint32) uint32 {
	chain = ^chain
	for range 4 {
		chain = castagnoli[byte(chain)^byte(line)] ^ chain>>8
		line >>= 8
	}
	return ^chain
}

// chain follows every party's lines, through the parts of a file in order, and compares them with what the party wrote of
// them.
func (h *History) chain(parts []*decoder) {
	h.sums = map[string]uint32{}
	chains := map[string]*uint32{}
	var all map[string]uint32 // as the controller knows them
	first := 0                // event of a part
	for _, d := range parts {
		of := make([]*uint32, len(d.parties))
		for i, party := range d.parties {
			if chains[party] == nil {
				chains[party] = new(uint32)
			}
			of[i] = chains[party]
		}
		ends := d.ends
		for i, line := range d.sums {
			if len(ends) > 0 && ends[0] == i {
				e := &h.Events[first+i]
				h.sums[e.Party()], ends = *of[line.party], ends[1:]
				all = h.ended(e, all)
			}
			*of[line.party] = chained(*of[line.party], line.sum)
		}
		first += len(d.sums)
	}
	h.files = map[string]string{}
	for party, sum := range chains {
		h.sums[party], h.files[party] = *sum, h.Sources[0]
	}
	h.compare(all)
}

// ended compares a party's chain with its own word, and takes what the controller says of
// all.
func (h *History) ended(e *Event, all map[string]uint32) map[string]uint32 {
	var end End
	if e.Value().Into(&end) != nil {
		return all // the judge of the record will say so
	}
	if end.Sum != nil && *end.Sum != h.sums[e.Party()] {
		h.changed(e.Party())
	}
	if e.Party() == PartyController && end.Sums != nil {
		return end.Sums
	}
	return all
}

// compare holds the chains of whole logs against what the controller wrote of them, as far as
// they are part of this history.
func (h *History) compare(all map[string]uint32) {
	for _, party := range slices.Sorted(maps.Keys(all)) {
		if sum, here := h.sums[party]; here && sum != all[party] {
			h.changed(party)
		}
	}
}

// compareMerged holds the logs that were merged against the controller's end.
func (h *History) compareMerged() {
	for i := range h.Events {
		if e := &h.Events[i]; e.F() == FEnd && e.Party() == PartyController {
			var end End
			if e.Value().Into(&end) == nil {
				h.compare(end.Sums)
			}
		}
	}
}

func (h *History) changed(party string) {
	what := fmt.Sprintf("the log lines of %s were changed after they were written (their checksum differs)", party)
	if !slices.ContainsFunc(h.Damage, func(d Damage) bool { return d.What == what }) {
		h.Damage = append(h.Damage, Damage{File: cmp.Or(h.files[party], h.Sources[0]), What: what})
	}
}

// FileSum returns the chained checksum over the lines of a log, for the controller's end, and their number.
func FileSum(log []byte) (sum uint32, lines int64) {
	for line := range bytes.Lines(log) {
		body, complete := bytes.CutSuffix(line, []byte("\n"))
		if !complete {
			break // its party died while it wrote
		}
		sum = chained(sum, lineSum(body))
		lines++
	}
	return sum, lines
}
