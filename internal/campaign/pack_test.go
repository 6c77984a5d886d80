package campaign

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A directory comes back as it was; links and sockets are left out.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "1", "sub/b": "22", "sub/empty/c": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := pack(&b, dir); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "x")
	if err := unpack(&b, to); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := fs.WalkDir(os.DirFS(to), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, rerr := os.ReadFile(filepath.Join(to, path))
			got, err = append(got, path+"="+string(text)), rerr
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0] != "a=1" || got[1] != "sub/b=22" || got[2] != "sub/empty/c=" {
		t.Errorf("%q", got)
	}
}

// An archive whose names lead out of the directory writes nothing there.
func TestUnpackStaysInside(t *testing.T) {
	for _, name := range []string{"../out", "/tmp/lockstorm-out", "a/../../out"} {
		var b bytes.Buffer
		zip := gzip.NewWriter(&b)
		w := tar.NewWriter(zip)
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		base := t.TempDir()
		if err := unpack(&b, filepath.Join(base, "run")); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := os.Stat(filepath.Join(base, "out")); err == nil {
			t.Errorf("%s: it was written", name)
		}
	}
}
