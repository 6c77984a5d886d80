package tap

import (
	"bytes"
	"strconv"
)

// Reply is what a server said: its first byte in the protocol, and its line or text, which is
// cut off at maxText.
type Reply struct {
	Kind byte // 0: no answer; else + - : $ * and so on, and '_' also for a nil of the older protocol
	Text string
}

const (
	maxText  = 120
	maxBulk  = 1 << 20 // of one string, beyond which a connection is not looked at any more
	maxParts = 1 << 16
	maxDepth = 8
	maxLine  = 32 // of one that is a number
)

// requests reads the commands that a client sends: arrays of strings. It keeps an incomplete one for the next bytes.
type requests struct{ rest []byte }

// feed calls each for every complete command; false: these are no commands.
func (r *requests) feed(p []byte, each func(words [][]byte)) bool {
	if len(r.rest) > 0 {
		r.rest = append(r.rest, p...)
		p = r.rest
	}
	var buf [8][]byte
	for len(p) > 0 {
		words, n, ok := command(p, buf[:0])
		if !ok {
			return false
		}
		if n == 0 {
			break
		}
		each(words)
		p = p[n:]
	}
	r.rest = append(r.rest[:0:0], p...)
	return true
}

// command reads one; n is 0 where it is not complete.
func command(p []byte, words [][]byte) (_ [][]byte, n int, ok bool) {
	count, n, ok := number(p, '*')
	if !ok || n == 0 {
		return nil, 0, ok
	}
	if count < 1 || count > maxParts {
		return nil, 0, false
	}
	for range count {
		size, used, ok := number(p[n:], '$')
		if !ok || used == 0 {
			return nil, 0, ok
		}
		if size < 0 || size > maxBulk {
			return nil, 0, false
		}
		n += used
		if len(p) < n+size+2 {
			return nil, 0, true
		}
		words = append(words, p[n:n+size])
		n += size + 2
	}
	return words, n, true
}

// number reads a line of a kind that is a number; n is 0 where the line is not complete.
func number(p []byte, kind byte) (val, n int, ok bool) {
	if len(p) == 0 {
		return 0, 0, true
	}
	if p[0] != kind {
		return 0, 0, false
	}
	end := bytes.IndexByte(p, '\n')
	if end < 0 || end >= maxLine {
		return 0, 0, end < 0 && len(p) < maxLine
	}
	val, err := strconv.Atoi(string(bytes.TrimSuffix(p[1:end], []byte{'\r'})))
	return val, end + 1, err == nil
}

// answers reads what a server sends, of both versions of the protocol. Pushes are left out.
type answers struct{ rest []byte }

// feed calls each for every complete answer; false: these are none.
func (r *answers) feed(p []byte, each func(Reply)) bool {
	if len(r.rest) > 0 {
		r.rest = append(r.rest, p...)
		p = r.rest
	}
	for len(p) > 0 {
		if p[0] == '|' { // attributes, before the answer that they belong to
			n, ok := skip(p, 0)
			if !ok {
				return false
			}
			if n == 0 {
				break
			}
			p = p[n:]
			continue
		}
		n, ok := skip(p, 0)
		if !ok {
			return false
		}
		if n == 0 {
			break
		}
		if p[0] != '>' {
			each(answer(p[:n]))
		}
		p = p[n:]
	}
	r.rest = append(r.rest[:0:0], p...)
	return true
}

// answer is what people see of a complete one.
func answer(p []byte) Reply {
	line, rest, _ := bytes.Cut(p[1:], []byte("\r\n"))
	a := Reply{Kind: p[0], Text: string(line)}
	switch {
	case (p[0] == '$' || p[0] == '*') && a.Text == "-1":
		a = Reply{Kind: '_'}
	case p[0] == '$', p[0] == '=', p[0] == '!':
		a.Text = string(bytes.TrimSuffix(rest, []byte("\r\n")))
	}
	a.Text = a.Text[:min(len(a.Text), maxText)]
	return a
}

// skip returns the length of the value at the beginning of p; false: it is not complete.
func skip(p []byte, depth int) (n int, ok bool) {
	if len(p) == 0 {
		return 0, true
	}
	if depth > maxDepth {
		return 0, false
	}
	switch p[0] {
	case '+', '-', ':', '_', ',', '#', '(':
		return skipLine(p)
	case '$', '=', '!':
		return skipText(p)
	case '*', '~', '>', '%', '|':
		return skipParts(p, depth)
	}
	return 0, false
}

func skipLine(p []byte) (n int, ok bool) {
	end := bytes.IndexByte(p, '\n')
	if end < 0 || end >= maxBulk {
		return 0, end < 0 && len(p) < maxBulk
	}
	return end + 1, true
}

func skipText(p []byte) (n int, ok bool) {
	size, used, ok := number(p, p[0])
	switch {
	case !ok || used == 0 || size < 0:
		return used, ok
	case size > maxBulk:
		return 0, false
	case len(p) < used+size+2:
		return 0, true
	}
	return used + size + 2, true
}

func skipParts(p []byte, depth int) (n int, ok bool) {
	count, used, ok := number(p, p[0])
	if !ok || used == 0 || count < 0 {
		return used, ok
	}
	if p[0] == '%' || p[0] == '|' {
		count *= 2
	}
	if count > maxParts {
		return 0, false
	}
	for range count {
		one, ok := skip(p[used:], depth+1)
		if !ok || one == 0 {
			return 0, ok
		}
		used += one
	}
	return used, true
}
