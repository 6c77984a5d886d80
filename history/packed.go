package history

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// PackedSuffix ends the name of a record that was compressed with the program zstd, to be kept.
const PackedSuffix = ".zst"

// FileIn returns the path of the merged history of a run directory: that of [File], or where only the compressed one is there,
// of that.
func FileIn(dir string) string {
	path := filepath.Join(dir, File)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(path + PackedSuffix); err == nil {
			return path + PackedSuffix
		}
	}
	return path
}

// OpenText opens a record for reading. The program zstd, which must be on PATH, unpacks one whose name ends in [PackedSuffix]
// while it is read.
func OpenText(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, PackedSuffix) {
		return f, err
	}
	defer f.Close() //nolint:errcheck // the program has its own
	p := &unpacked{cmd: exec.Command("zstd", "-dcq")}
	p.cmd.Stdin, p.cmd.Stderr = f, &p.said
	if p.pipe, err = p.cmd.StdoutPipe(); err == nil {
		err = p.cmd.Start()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%s is compressed: to read it, lockstorm needs the program zstd on PATH (Debian: apt-get install "+
			"zstd)", path)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// unpacked is what zstd writes. Its end is the end of the text only if zstd says that it was whole.
type unpacked struct {
	cmd   *exec.Cmd
	pipe  io.Reader
	said  strings.Builder
	ended bool
}

func (p *unpacked) Read(b []byte) (int, error) {
	n, err := p.pipe.Read(b)
	if errors.Is(err, io.EOF) && !p.ended {
		p.ended = true
		if failed := p.cmd.Wait(); failed != nil {
			return n, fmt.Errorf("zstd cannot unpack it: %w: %s", failed, strings.TrimSpace(p.said.String()))
		}
	}
	return n, err
}

// Close ends the program where not all was read.
func (p *unpacked) Close() error {
	if !p.ended {
		p.ended = true
		p.cmd.Process.Kill() //nolint:errcheck // it has ended
		p.cmd.Wait()         //nolint:errcheck // it was killed
	}
	return nil
}
