package campaign

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/internal/lists"
)

// pack writes the directory of a run as an archive.
func pack(w io.Writer, dir string) error {
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zip)
	err = archive.AddFS(plainFiles{os.DirFS(dir)})
	return errors.Join(err, archive.Close(), zip.Close())
}

// plainFiles is a directory whose files are what they are: sockets and links of servers are left out.
type plainFiles struct{ fs.FS }

// ReadDir leaves out everything but files and directories.
func (p plainFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(p.FS, name)
	out := lists.Filter(all, func(e fs.DirEntry) bool { return e.IsDir() || e.Type().IsRegular() })
	return out, err
}

// mostUnpacked bounds what one archive may hold: a run is bounded, too.
const mostUnpacked = 4 << 30

// unpack makes the directory of a run from its archive. Nothing of it ends up outside, whatever its names say.
func unpack(r io.Reader, dir string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	zip, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	archive, left := tar.NewReader(zip), int64(mostUnpacked)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if left -= h.Size; left < 0 {
			return fmt.Errorf("the archive of the run is too large: the limit is %d bytes", int64(mostUnpacked))
		}
		name := filepath.Clean(filepath.FromSlash(h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o755)
		case tar.TypeReg:
			err = unpackFile(root, name, archive)
		default:
			continue // of such files a run has none
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(root *os.Root, name string, r io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
