package structure

import (
	"cmp"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The walls of the house: how many folders there are at the top, and what anybody can import.
const maxFolders = 17

// public is what users import, the module's root (an empty word) included.
var public = strings.Fields(`lockstormtest history workloads harness suite reports cluster compose
	backends backends/etcd backends/file backends/nats backends/redis backends/redis/embedded backends/redislibs backends/sql
	backends/zookeeper backends/stores nemesis nemesis/faults checker checker/checks checker/causes checker/facts`)

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
	cmd = exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}} {{len .GoFiles}} {{.Doc}}", "./...")
	cmd.Dir = root
	packages, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(packages)) {
		name, rest, _ := strings.Cut(line, " ")
		path, rest, _ := strings.Cut(rest, " ")
		files, doc, _ := strings.Cut(rest, " ")
		if path += "/"; name == "main" || files == "0" || ours.MatchString(path) {
			continue
		}
		if path = strings.Trim(strings.TrimPrefix(path, module), "/"); path != "" && !slices.Contains(public, path) {
			t.Errorf("%s can be imported by anybody: put it under internal/", path)
		}
		if !strings.HasPrefix(doc, "Package "+name+" lets you ") {
			t.Errorf("the doc of %s does not begin with what its users do: %s", cmp.Or(path, name), doc)
		}
	}
}
