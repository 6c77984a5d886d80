package history

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

// logsOf writes the logs of a controller and two clients, the controller's with the checksums of all. c2 was killed:
// it has written no checksum of its own.
func logsOf(t *testing.T) (dir string) {
	t.Helper()
	dir, clock := t.TempDir(), NewClock()
	all := End{Sums: map[string]uint32{}, Parties: map[string]int64{}}
	controller := openTest(t, dir, PartyController, clock)
	for _, party := range []string{"c1", "c2"} {
		r := openTest(t, dir, party, clock)
		if _, err := r.Record(Line{Process: Process{N: 1}, Client: party, Type: Invoke, F: FWork, Lock: "L1"}); err != nil {
			t.Fatal(err)
		}
		finish := func() error { return r.Finish(End{}) }
		if party == "c2" {
			finish = r.Close
		}
		if err := finish(); err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(dir, LogDir, party+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		all.Sums[party], all.Parties[party] = FileSum(log)
	}
	if err := controller.Finish(all); err != nil {
		t.Fatal(err)
	}
	return dir
}

// alter changes one line of a file after it was written, as nobody who records does.
func alter(t *testing.T, path string) {
	t.Helper()
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(log, []byte(`"L1"`), []byte(`"L2"`), 1)
	if bytes.Equal(log, changed) {
		t.Fatalf("%s has no lock L1", path)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A line that was changed is blamed on the log that has it, whichever it is; where nothing was changed, on none.
func TestAChangedLineIsBlamedOnItsLog(t *testing.T) {
	for _, party := range []string{"", "c1", "c2"} {
		t.Run("changed:"+party, func(t *testing.T) {
			dir := logsOf(t)
			path := filepath.Join(dir, LogDir, party+".jsonl")
			if party != "" {
				alter(t, path)
			}
			h, err := MergeDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if party == "" {
				if len(h.Damage) > 0 {
					t.Errorf("damage of logs that are whole: %v", h.Damage)
				}
				return
			}
			if len(h.Damage) != 1 || filepath.Base(h.Damage[0].File) != party+".jsonl" {
				t.Errorf("%s was changed, the damage is %v", path, h.Damage)
			}
		})
	}
}

// In a history that is one file there is but that one to blame.
func TestAChangedLineOfAHistory(t *testing.T) {
	dir := logsOf(t)
	h, err := MergeDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, File)
	if err := h.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if h, err = ReadFile(path); err != nil || len(h.Damage) > 0 {
		t.Fatalf("%v, %v", h, err)
	}
	alter(t, path)
	if h, err = ReadFile(path); err != nil || len(h.Damage) != 1 || h.Damage[0].File != path {
		t.Errorf("%v, %v", h.Damage, err)
	}
}

// A chain is CRC-32C over the sums of its lines, as other programs compute it.
func TestChainIsACRC(t *testing.T) {
	var bytes []byte
	chain := uint32(0)
	for line := range uint32(1000) {
		bytes = binary.LittleEndian.AppendUint32(bytes, line*2654435761)
		if chain = chained(chain, line*2654435761); chain != crc32.Checksum(bytes, castagnoli) {
			t.Fatalf("after %d lines the chain is %08x, their CRC %08x", line+1, chain, crc32.Checksum(bytes, castagnoli))
		}
	}
}
