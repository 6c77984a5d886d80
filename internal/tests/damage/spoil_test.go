package damage

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
)

// Logs are the logs of a run by party, as they stand on the disk.
type Logs map[string][]byte

// Clone is a copy whose logs can be replaced.
func (l Logs) Clone() Logs { return maps.Clone(l) }

// Kind is a way to spoil a record.
type Kind struct {
	Name string
	// Spoil changes one thing; false where it found nothing that could be changed.
	Spoil func(l Logs, rnd *rand.Rand) bool
}

// Kinds are all ways, in a fixed order.
func Kinds() []Kind {
	return []Kind{
		{"cut off anywhere", cutOff},
		{"cut off at the start of a line", cutAtLine},
		{"a bit flipped", flipBit},
		{"a byte changed in a value", changeValue},
		{"a byte lost", loseByte},
		{"a line lost", loseLine},
		{"a line doubled", doubleLine},
		{"two lines swapped", swapLines},
		{"a line moved within its log", moveLine},
		{"a line moved to the log of another party", moveToOther},
		{"a log lost", loseLog},
		{"a log replaced by the log of another party", swapLogs},
		{"garbage between lines", garbage},
		{"a block of zeros", zeros},
	}
}

// some chooses a log that has a line at least.
func (l Logs) some(rnd *rand.Rand) (party string, lines [][]byte) {
	names := slices.Sorted(maps.Keys(l))
	party = names[rnd.IntN(len(names))]
	return party, bytes.SplitAfter(bytes.TrimSuffix(l[party], []byte("\n")), []byte("\n"))
}

func (l Logs) put(party string, lines [][]byte) {
	text := bytes.Join(lines, nil)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	l[party] = text
}

// whole gives every line its newline, the last one too.
func whole(lines [][]byte) [][]byte {
	out := make([][]byte, len(lines))
	for i, line := range lines {
		out[i] = append(bytes.TrimSuffix(bytes.Clone(line), []byte("\n")), '\n')
	}
	return out
}

func cutOff(l Logs, rnd *rand.Rand) bool {
	party, _ := l.some(rnd)
	l[party] = l[party][:rnd.IntN(len(l[party]))]
	return true
}

func cutAtLine(l Logs, rnd *rand.Rand) bool {
	party, lines := l.some(rnd)
	l.put(party, whole(lines)[:rnd.IntN(len(lines))])
	return true
}

func flipBit(l Logs, rnd *rand.Rand) bool {
	party, _ := l.some(rnd)
	text := bytes.Clone(l[party])
	text[rnd.IntN(len(text))] ^= 1 << rnd.IntN(8)
	l[party] = text
	return true
}

// changeValue puts another digit or letter in the place of one: the line stays JSON.
func changeValue(l Logs, rnd *rand.Rand) bool {
	party, _ := l.some(rnd)
	text := bytes.Clone(l[party])
	for range 100 {
		i := rnd.IntN(len(text))
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			text[i] = '0' + (c-'0'+byte(1+rnd.IntN(9)))%10
		case c >= 'a' && c <= 'z':
			text[i] = 'a' + (c-'a'+byte(1+rnd.IntN(25)))%26
		default:
			continue
		}
		l[party] = text
		return true
	}
	return false
}

func loseByte(l Logs, rnd *rand.Rand) bool {
	party, _ := l.some(rnd)
	i := rnd.IntN(len(l[party]))
	l[party] = slices.Delete(bytes.Clone(l[party]), i, i+1)
	return true
}

func loseLine(l Logs, rnd *rand.Rand) bool {
	party, lines := l.some(rnd)
	i := rnd.IntN(len(lines))
	l.put(party, slices.Delete(whole(lines), i, i+1))
	return true
}

func doubleLine(l Logs, rnd *rand.Rand) bool {
	party, lines := l.some(rnd)
	i := rnd.IntN(len(lines))
	all := whole(lines)
	l.put(party, slices.Insert(all, i, all[i]))
	return true
}

func swapLines(l Logs, rnd *rand.Rand) bool {
	party, lines := l.some(rnd)
	if len(lines) < 2 {
		return false
	}
	all, i := whole(lines), rnd.IntN(len(lines)-1)
	all[i], all[i+1] = all[i+1], all[i]
	l.put(party, all)
	return true
}

func moveLine(l Logs, rnd *rand.Rand) bool {
	party, lines := l.some(rnd)
	if len(lines) < 3 {
		return false
	}
	all, from := whole(lines), rnd.IntN(len(lines))
	line := all[from]
	all = slices.Delete(all, from, from+1)
	to := rnd.IntN(len(all))
	if to == from {
		return false
	}
	l.put(party, slices.Insert(all, to, line))
	return true
}

func moveToOther(l Logs, rnd *rand.Rand) bool {
	from, lines := l.some(rnd)
	to, others := l.some(rnd)
	if from == to {
		return false
	}
	all, i := whole(lines), rnd.IntN(len(lines))
	l.put(to, slices.Insert(whole(others), rnd.IntN(len(others)+1), all[i]))
	l.put(from, slices.Delete(all, i, i+1))
	return true
}

func loseLog(l Logs, rnd *rand.Rand) bool {
	party, _ := l.some(rnd)
	delete(l, party)
	return len(l) > 0
}

func swapLogs(l Logs, rnd *rand.Rand) bool {
	a, _ := l.some(rnd)
	b, _ := l.some(rnd)
	if a == b {
		return false
	}
	l[a] = l[b]
	return true
}

func garbage(l Logs, rnd *rand.Rand) bool {
	party, lines := l.some(rnd)
	text := make([]byte, 1+rnd.IntN(60))
	for i := range text {
		text[i] = byte(rnd.IntN(256))
	}
	l.put(party, slices.Insert(whole(lines), rnd.IntN(len(lines)+1), append(text, '\n')))
	return true
}

func zeros(l Logs, rnd *rand.Rand) bool {
	party, _ := l.some(rnd)
	text := bytes.Clone(l[party])
	i := rnd.IntN(len(text))
	clear(text[i:min(len(text), i+1+rnd.IntN(512))])
	l[party] = text
	return true
}
