package zookeeper

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// An introduction is rewritten as a whole, also where the address is of another length; what is no
// introduction is refused.
func TestIntroduce(t *testing.T) {
	head := func(addr string) []byte {
		b := binary.BigEndian.AppendUint64(nil, ^uint64(0xffff)) // a version
		b = binary.BigEndian.AppendUint64(b, 3)                  // an id
		return append(binary.BigEndian.AppendUint32(b, uint32(len(addr))), addr...)
	}
	said := bytes.NewReader(append(head("127.0.0.1:31234"), "votes"...))
	got, err := introduce(said, "127.0.0.1:5")
	if err != nil || !bytes.Equal(got, head("127.0.0.1:5")) || said.Len() != len("votes") {
		t.Errorf("%q, %v, and %d bytes left", got, err, said.Len())
	}
	for _, bad := range []string{"", "short", string(head(strings.Repeat("x", 5000)))} {
		if _, err := introduce(strings.NewReader(bad), "127.0.0.1:5"); err == nil {
			t.Errorf("%d bytes are taken for an introduction", len(bad))
		}
	}
}

// Frames are whole, however the stream is cut.
func TestFrames(t *testing.T) {
	var stream []byte
	want := []string{"connect", "", "a ping", strings.Repeat("long", 100)}
	for _, s := range want {
		stream = append(binary.BigEndian.AppendUint32(stream, uint32(len(s))), s...)
	}
	for step := 1; step < len(stream); step += 3 {
		var f frames
		var got []string
		for rest := stream; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			err := f.each(rest[:min(step, len(rest))], func(n int, frame []byte) error {
				if n != len(got) {
					return fmt.Errorf("frame %d comes after %d", n, len(got))
				}
				got = append(got, string(frame))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("in steps of %d: %q", step, got)
		}
	}
	var f frames
	if err := f.each([]byte{0xff, 0, 0, 0}, func(int, []byte) error { return nil }); err == nil {
		t.Error("a frame of 4 GB is waited for")
	}
}

// Names of nodes say whose they are, of which kind, and in which order they came.
func TestParse(t *testing.T) {
	got, ok := parse("c1-2-00ff.read-0000000012")
	if !ok || got.kind != reader || got.seq != 12 {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, bad := range []string{"lock", "c1-2.write", "c1.write-x", "no-0000000001"} {
		if got, ok := parse(bad); ok {
			t.Errorf("%s is %+v", bad, got)
		}
	}
}
