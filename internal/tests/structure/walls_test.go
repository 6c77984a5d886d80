package structure

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The walls of the house: how many folders there are at the top, and how many packages anybody can import.
const (
	maxFolders    = 17
	maxImportable = 30
)

var ours = regexp.MustCompile(`/internal(/|$)|/examples(/|$)|/tests(/|$)|/tools(/|$)`)

// What is public is what users import, and a few folders hold all of it.
func TestWalls(t *testing.T) {
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = root
	files, err := cmd.Output()
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("not a clone of the repository: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for file := range strings.Lines(string(files)) {
		if folder, _, below := strings.Cut(file, "/"); below && !strings.HasPrefix(folder, ".") {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	if folders = slices.Compact(folders); len(folders) > maxFolders {
		t.Errorf("%d folders at the top, at most %d: %s", len(folders), maxFolders, strings.Join(folders, " "))
	}
	cmd = exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...")
	cmd.Dir = root
	packages, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var public []string
	for line := range strings.Lines(string(packages)) {
		if name, path, _ := strings.Cut(strings.TrimSpace(line), " "); name != "main" && !ours.MatchString(path) {
			public = append(public, strings.TrimPrefix(path, module))
		}
	}
	if len(public) > maxImportable {
		t.Errorf("%d packages can be imported by anybody, at most %d: %s", len(public), maxImportable, strings.Join(public, " "))
	}
}
