package operations

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEvent is how long the text of one event may be.
const maxEvent = 1 << 20

// maxDepth is how deep its values may be nested.
const maxDepth = 1000

// part is the text of one event.
type part struct {
	line int
	text []byte // only until the next one is asked for
}

// splitter cuts a stream into the maps at its top, or in the one vector (EDN) or array (JSON) that holds them.
type splitter struct {
	in       *bufio.Reader
	line     int
	json     bool
	edn      bool // none of both: not known yet
	inList   bool
	listDone bool
	text     []byte
}

func newSplitter(r io.Reader) *splitter {
	in := bufio.NewReaderSize(r, 64<<10)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" { // of UTF-8
		in.Discard(3) //nolint:errcheck // they are there
	}
	return &splitter{in: in, line: 1}
}

// next is the next event, or io.EOF.
func (s *splitter) next() (part, error) {
	for {
		b, err := s.read()
		if err != nil {
			return part{}, s.over(err)
		}
		switch {
		case blank(b):
		case b == ';' && !s.json:
			if err := s.comment(); err != nil {
				return part{}, err
			}
		case s.listDone:
			return part{}, fmt.Errorf("line %d: the file must end after its list of operations, but %q follows", s.line, b)
		case s.begins(b):
			s.inList = true
		case (b == ']' || b == ')') && s.inList:
			s.inList, s.listDone = false, true
		case b == '#': // the tag of a record, as in #jepsen.history.Op{...}
			if err := s.tag(); err != nil {
				return part{}, err
			}
		case b == '{':
			return s.event()
		default:
			return part{}, fmt.Errorf("line %d: an operation must begin with {, not with %q: the file is neither an EDN nor a JSON "+
				"history", s.line, b)
		}
	}
}

// over is the error of a file that is over, or cannot be read.
func (s *splitter) over(err error) error {
	if errors.Is(err, io.EOF) && s.inList {
		return fmt.Errorf("line %d: the file is incomplete: it ends inside its list of operations", s.line)
	}
	return err
}

// begins reports whether a list of operations begins, the only one of the file.
func (s *splitter) begins(b byte) bool {
	return (b == '[' || b == '(') && !s.inList && !s.json && !s.edn
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' || b == ',' }

func (s *splitter) read() (byte, error) {
	b, err := s.in.ReadByte()
	if b == '\n' && err == nil {
		s.line++
	}
	return b, err
}

func (s *splitter) comment() error {
	for {
		if b, err := s.read(); err != nil || b == '\n' {
			return ignoreEOF(err)
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil // whoever reads on is told
	}
	return err
}

// tag skips the name of a tag, up to the map that it is of.
func (s *splitter) tag() error {
	const most = 100
	for range most {
		b, err := s.in.Peek(1)
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: the file is incomplete: it ends after a tag (#NAME), but an operation must follow the tag", s.line)
		}
		if err != nil {
			return err
		}
		if b[0] == '{' {
			return nil
		}
		if bytes.IndexByte([]byte("_[(\"\n"), b[0]) >= 0 {
			break
		}
		if _, err := s.read(); err != nil {
			return err
		}
	}
	return fmt.Errorf("line %d: the tag after # must be the name of a record, as in #jepsen.history.Op{...}", s.line)
}

// event reads a map to its end; its first byte is read already.
func (s *splitter) event() (part, error) {
	p := part{line: s.line}
	s.text = append(s.text[:0], '{')
	depth, quoted := 1, false
	for depth > 0 {
		b, err := s.read()
		if errors.Is(err, io.EOF) {
			return part{}, fmt.Errorf("line %d: the file is incomplete: it ends inside the operation that begins on this line", p.line)
		}
		if err != nil {
			return part{}, err
		}
		if len(s.text) >= maxEvent {
			return part{}, fmt.Errorf("line %d: the operation that begins on this line is longer than the limit of %d bytes", p.line,
				maxEvent)
		}
		if !s.json && !s.edn && b > ' ' {
			s.json, s.edn = b == '"', b != '"'
		}
		s.text = append(s.text, b)
		if depth, quoted, err = s.take(b, depth, quoted); err != nil {
			return part{}, err
		}
	}
	p.text = s.text
	return p, nil
}

// take follows one byte of a map, which is in the text already: how deep it leads, and whether it is inside a text.
func (s *splitter) take(b byte, depth int, quoted bool) (int, bool, error) {
	switch {
	case b == '\\' && (quoted || !s.json): // the next one is itself
		if b, err := s.read(); err == nil {
			s.text = append(s.text, b)
		}
	case b == '"':
		return depth, !quoted, nil
	case quoted:
	case b == ';' && !s.json:
		s.text[len(s.text)-1] = '\n'
		return depth, quoted, s.comment()
	case b == '{' || b == '[' || b == '(':
		if depth > maxDepth {
			return depth, quoted, fmt.Errorf("line %d: values are nested deeper than the limit of %d levels", s.line, maxDepth)
		}
		return depth + 1, quoted, nil
	case b == '}' || b == ']' || b == ')':
		return depth - 1, quoted, nil
	}
	return depth, quoted, nil
}
