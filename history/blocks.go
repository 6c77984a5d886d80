package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"unsafe"
)

// blockSize is how much of a file is read at once, up to the last newline in it.
const blockSize = 2 << 20

// block is a part of a file that begins and ends with a line.
type block struct {
	at, size    int64
	line, lines int // number of the first one, from 1
}

// readBlocks reads a file in two passes: the first counts its lines, so that the second can
// decode several parts of it at once, each into its place.
func readBlocks(f io.ReaderAt, size int64, name string) (*History, error) {
	blocks, err := findBlocks(f, size)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	lines := 0
	for _, b := range blocks {
		lines += b.lines
	}
	if err := affordable(lines, size); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	parts := divide(blocks, lines, name)
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		wg.Go(func() { errs[i] = p.read(f) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	decoders := make([]*decoder, len(parts))
	for i, p := range parts {
		decoders[i] = p.decoder
	}
	return finish(name, decoders)
}

// findBlocks cuts a file at newlines.
func findBlocks(f io.ReaderAt, size int64) ([]block, error) {
	buf := make([]byte, blockSize)
	var out []block
	for at, line := int64(0), 1; at < size; {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if n == 0 {
			break // it became shorter meanwhile
		}
		end := n
		if at+int64(n) < size {
			if end = bytes.LastIndexByte(buf[:n], '\n') + 1; end == 0 {
				if len(buf) > maxLine {
					return nil, fmt.Errorf("line %d: %w: the line is longer than %d MB", line, ErrTooLarge, maxLine>>20)
				}
				buf = make([]byte, 2*len(buf))
				continue
			}
		}
		b := block{at: at, size: int64(end), line: line, lines: bytes.Count(buf[:end], []byte("\n"))}
		if buf[end-1] != '\n' {
			b.lines++ // a torn one
		}
		out = append(out, b)
		at, line = at+b.size, line+b.lines
	}
	return out, nil
}

// besideEvents is about what an event costs beside itself, its strings, calls and grants
// included, in bytes.
const besideEvents = 120

// affordable refuses what would not fit into the memory of this machine.
func affordable(lines int, size int64) error {
	if lines > maxEvents {
		return fmt.Errorf("%w: the history has %d lines, but the limit is %d", ErrTooLarge, lines, maxEvents)
	}
	need := int64(lines)*(int64(unsafe.Sizeof(Event{}))+besideEvents) + size/8
	if free, known := memoryAvailable(); known && need > free {
		return fmt.Errorf("%w: to judge the %d lines of the history, lockstorm needs about %d MB of memory, but only %d MB are free",
			ErrTooLarge, lines, need>>20, free>>20)
	}
	return nil
}

// part is what one goroutine decodes.
type part struct {
	*decoder
	blocks []block
}

// divide gives each processor about as many lines.
func divide(blocks []block, lines int, name string) []*part {
	n := max(1, min(runtime.GOMAXPROCS(0), len(blocks)/2))
	events, sums := slab[Event](lines), slab[partySum](lines)
	var parts []*part
	for i := range n {
		own := blocks[i*len(blocks)/n : (i+1)*len(blocks)/n]
		from, to := 0, 0
		if len(own) > 0 {
			from = own[0].line - 1
			to = own[len(own)-1].line - 1 + own[len(own)-1].lines
		}
		parts = append(parts, &part{newDecoder(name, events, events[from:from:to], sums[from:from:to]), own})
	}
	return parts
}

func (p *part) read(f io.ReaderAt) error {
	var buf []byte
	for _, b := range p.blocks {
		if int64(cap(buf)) < b.size {
			buf = make([]byte, max(b.size, blockSize))
		}
		n, err := f.ReadAt(buf[:b.size], b.at)
		if err != nil && (!errors.Is(err, io.EOF) || int64(n) < b.size) {
			return err
		}
		p.block(b.line, buf[:b.size])
	}
	return nil
}
