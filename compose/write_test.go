package compose_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/backends/etcd"
	"github.com/lockstorm/lockstorm/backends/redis"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/internal/shell"
)

const (
	firstPort = 17000
	inside    = "/tmp/lockstorm" // in the container: it is there again after a restart, and gone with the container
	nobody    = "65534:65534"
)

// Stack is the compose file of a topology; the port is the first one of its servers, and the one after
// the last is returned.
func Stack(t cluster.Topology, port int) (text string, next int, err error) {
	services := map[string]any{}
	places, next, err := add(services, t, port)
	if err != nil {
		return "", 0, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Made by `make docs` from the descriptions of the servers. Do not edit.\n# %s: %s.\n", t.Name, t.Doc)
	fmt.Fprintf(&b, "#   docker compose -f compose/%s.yml up --build       (or docker-compose, version 1.27 or later)\n", t.Name)
	var named []string
	for i, r := range t.Nodes {
		named = append(named, r.Name+"="+places[i].Addr())
	}
	if shared(t) {
		fmt.Fprintf(&b, "#   lockstorm run --topology %s --servers %s --backend ...\n", t.Name, strings.Join(named, ","))
	} else {
		fmt.Fprintf(&b, "# The servers listen at %s.\n", strings.Join(named, ", "))
	}
	err = encode(&b, map[string]any{"services": services})
	return b.String(), next, err
}

// add makes a service of each server of a topology.
func add(services map[string]any, t cluster.Topology, port int) (places []cluster.Place, next int, err error) {
	places, next = cluster.Sketch(t, inside, port)
	for i, r := range t.Nodes {
		if services[r.Name], err = service(t, r, places[i]); err != nil {
			return nil, 0, fmt.Errorf("%s of %s: %w", r.Name, t.Name, err)
		}
	}
	return places, next, nil
}

func encode(b *strings.Builder, v any) error {
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return err
	}
	return e.Close()
}

const (
	labPort = 17080
	labAddr = "127.0.0.1:8377"
)

// Lab is servers, lockstorm that hurts their clients as compose/lab.yaml says, and its reports on a web
// server.
func Lab(topologies ...cluster.Topology) (string, error) {
	services := map[string]any{}
	port := labPort
	var err error
	for _, t := range topologies {
		if _, port, err = add(services, t, port); err != nil {
			return "", err
		}
	}
	servers := slices.Sorted(maps.Keys(services))
	services["lockstorm"] = map[string]any{
		"image": "localhost/lockstorm", "network_mode": "host", "init": true, "depends_on": servers, "mem_limit": "2g",
		"volumes": []string{"runs:/runs", "./lab.yaml:/lab.yaml:ro"},
		"command": []string{"suite", "/lab.yaml", "--out", "/runs/lab", "--resume"},
	}
	services["reports"] = map[string]any{
		"image": "localhost/lockstorm", "network_mode": "host", "init": true, "depends_on": []string{"lockstorm"}, "mem_limit": "256m",
		"volumes": []string{"runs:/runs:ro"},
		"command": []string{"serve", "/runs", "--addr", labAddr},
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Made by %[1]smake docs%[1]s. Do not edit.
# A lab: servers, lockstorm, which runs the suite lab.yaml against these servers, and a web server with the reports at
# http://%[2]s/lab/.
#   make image && docker compose -f compose/lab.yml up --build
# For new runs, first delete the old runs:
#   docker compose -f compose/lab.yml down -v
`, "`", labAddr)
	err = encode(&b, map[string]any{"services": services, "volumes": map[string]any{"runs": nil}})
	return b.String(), err
}

// shared reports whether --provider external can use the servers.
func shared(t cluster.Topology) bool {
	return !t.Any(func(r cluster.Recipe) bool { return !cluster.Can[cluster.Tenant](r) })
}

func service(t cluster.Topology, r cluster.Recipe, place cluster.Place) (map[string]any, error) {
	img, err := r.ContainerImage()
	if err != nil {
		return nil, err
	}
	script, err := Script(r, place)
	if err != nil {
		return nil, err
	}
	s := map[string]any{
		"image":        "localhost/lockstorm-" + img.Name,
		"build":        map[string]any{"context": "images/" + img.Name, "network": "host"},
		"network_mode": "host",
		"entrypoint":   []string{"sh", "-ec"},
		"command":      []string{strings.ReplaceAll(script, "$", "$$")},
		"mem_limit":    "1g",
	}
	if r.Contained {
		s["user"] = nobody
	}
	var before []string
	for _, other := range t.Nodes {
		if other.Stage < r.Stage {
			before = append(before, other.Name)
		}
	}
	if len(before) > 0 {
		s["depends_on"] = before
	}
	return s, nil
}

// Script is what a shell does to start a server: what its recipe says.
func Script(r cluster.Recipe, place cluster.Place) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "mkdir -p %[1]s\ncd %[1]s\n", inside)
	once, err := commands(r, place)
	if err != nil {
		return "", err
	}
	kept, err := files(place, r.Files)
	if err != nil {
		return "", err
	}
	if once+kept != "" {
		fmt.Fprintf(&b, "if [ ! -e .made ]; then\n%s%s: >.made\nfi\n", once, kept)
	}
	fresh, err := files(place, r.Fresh)
	if err != nil {
		return "", err
	}
	b.WriteString(fresh)
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		fmt.Fprintf(&b, "export %s=%s\n", name, shell.Quote(r.Env[name]))
	}
	if r.Wrap != "" {
		b.WriteString(r.Wrap + "\n")
	}
	args, err := place.ExpandAll(r.Args)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "exec %s\n", shell.Join(append([]string{r.Binary}, args...)...))
	return b.String(), nil
}

// commands are those that make a data directory.
func commands(r cluster.Recipe, place cluster.Place) (string, error) {
	var b strings.Builder
	for _, c := range r.Commands() {
		expanded, err := place.ExpandAll(c)
		if err != nil {
			return "", err
		}
		b.WriteString(shell.Join(expanded...) + "\n")
	}
	return b.String(), nil
}

// files are written by the shell itself.
func files(place cluster.Place, named map[string]string) (string, error) {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(named)) {
		text, err := place.ExpandAll([]string{named[name]})
		if err != nil {
			return "", err
		}
		if dir, _, in := strings.Cut(name, "/"); in {
			fmt.Fprintf(&b, "mkdir -p %s\n", shell.Quote(dir))
		}
		body := strings.TrimSuffix(text[0], "\n")
		if body != "" {
			body += "\n"
		}
		fmt.Fprintf(&b, "cat >%s <<'END'\n%sEND\n", shell.Quote(name), body)
	}
	return b.String(), nil
}

// Stacks are the compose files of all topologies whose servers have images, and that of the lab, by name. A topology that only
// keeps its data on disk (-aof) has the file of its twin.
func Stacks(topologies []cluster.Topology) (map[string]string, error) {
	out := map[string]string{}
	port := firstPort
	var lab []cluster.Topology
	for _, t := range topologies {
		if len(t.Nodes) == 0 || t.Any(func(r cluster.Recipe) bool { return r.Image == "" }) {
			continue
		}
		text, next, err := Stack(t, port)
		if err != nil {
			return nil, err
		}
		if port = next; !strings.HasSuffix(t.Name, "-aof") {
			out[t.Name+".yml"] = text
		}
		if t.Name == redis.Single || t.Name == etcd.Single {
			lab = append(lab, t)
		}
	}
	var err error
	out["lab.yml"], err = Lab(lab...)
	return out, err
}
