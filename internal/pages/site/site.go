// Package site shows a folder of runs and suites in a browser: a list with verdicts and ages, which goes on while runs are made,
// and the files behind it. It reads below that folder and nothing else, and it writes nothing.
//
//	folder -> scanner (heads of results.json, no more) -> list.gohtml, /-/events (server-sent events)
//	       -> os.Root -> report.html, index.html; everything else as text
//
// A report is a page with scripts of its own, whose policy names them by their digests. Any other file is shown as
// text, so that a page that somebody has put among the logs is not run.
package site

import (
	"embed"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
)

// Names of files that are looked for.
const (
	resultsFile = "results.json"
	reportFile  = "report.html"
	indexFile   = "index.html"
	suiteFile   = "suite.json"
	trialFile   = "trial.json"
	logsDir     = "logs"
)

//go:embed list.gohtml list.css list.js
var assets embed.FS

// Site is a folder that is shown.
type Site struct {
	root  *os.Root
	name  string
	hosts func(host string) bool
	scan  *scanner
}

// Open opens a folder for whoever asks for one of the hosts. Close it.
func Open(dir string, hosts func(host string) bool) (*Site, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Site{root: root, name: dir, hosts: hosts, scan: newScanner(root)}, nil
}

// Close ends it.
func (s *Site) Close() error { return s.root.Close() }

// Hosts are those by which a listener may be asked for: its own address, and localhost where it is on loopback. Whoever listens
// on all addresses is asked by any address, and by the name of the machine, but by no name that somebody else may point at it.
func Hosts(addr net.Addr, machine string) func(host string) bool {
	listens, _, err := net.SplitHostPort(addr.String())
	ip := net.ParseIP(listens)
	return func(host string) bool {
		name := strings.Trim(host, "[]")
		if h, _, split := net.SplitHostPort(host); split == nil {
			name = h
		}
		asked := net.ParseIP(name)
		switch {
		case err != nil:
			return false
		case ip == nil || name == listens:
			return name == listens
		case ip.IsLoopback():
			return name == "localhost" || (asked != nil && asked.IsLoopback())
		case ip.IsUnspecified():
			return asked != nil || name == "localhost" || strings.EqualFold(name, machine)
		}
		return asked != nil && asked.Equal(ip)
	}
}

// policies: the list runs its own script; a report runs its own, which its own policy names.
const (
	ownPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri " +
		"'none'; frame-ancestors 'none'"
	reportPolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri " +
		"'none'; form-action 'none'; frame-ancestors 'none'"
	textPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
)

// ServeHTTP answers requests to read.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", textPolicy)
	switch {
	case !s.hosts(r.Host):
		http.Error(w, "the server refuses requests for another host name: open the address that the command lockstorm serve printed",
			http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the server only reads files: use the HTTP method GET or HEAD", http.StatusMethodNotAllowed)
	case r.URL.Path == "/":
		h.Set("Content-Security-Policy", ownPolicy)
		s.list(w, r)
	case r.URL.Path == "/-/trend":
		h.Set("Content-Security-Policy", ownPolicy)
		s.trend(w, r)
	case r.URL.Path == "/-/events":
		s.events(w, r)
	case r.URL.Path == "/-/list.css" || r.URL.Path == "/-/list.js":
		http.ServeFileFS(w, r, assets, path.Base(r.URL.Path))
	default:
		s.file(w, r)
	}
}

// file serves a file below the folder.
func (s *Site) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		http.NotFound(w, r)
		return
	}
	f, err := s.root.Open(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		http.NotFound(w, r)
	case info.IsDir():
		s.folder(w, r, name)
	case !info.Mode().IsRegular():
		http.Error(w, "no regular file has this path: the server shows only folders and regular files", http.StatusForbidden)
	default:
		kind, policy := kindOf(name)
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Security-Policy", policy)
		http.ServeContent(w, r, "", info.ModTime(), f)
	}
}

// kindOf is what a file is shown as: its reports as pages, pictures and JSON as what they are, everything else as text.
func kindOf(name string) (kind, policy string) {
	switch base := path.Base(name); {
	case base == reportFile || base == indexFile:
		return "text/html; charset=utf-8", reportPolicy
	case path.Ext(base) == ".json":
		return "application/json; charset=utf-8", textPolicy
	case path.Ext(base) == ".png":
		return mime.TypeByExtension(".png"), textPolicy
	}
	return "text/plain; charset=utf-8", textPolicy
}

// folder leads to the report of a run or suite; a folder without one is listed.
func (s *Site) folder(w http.ResponseWriter, r *http.Request, name string) {
	for _, report := range []string{reportFile, indexFile} {
		if info, err := s.root.Stat(name + "/" + report); err == nil && info.Mode().IsRegular() {
			http.Redirect(w, r, "/"+urlPath(name+"/"+report), http.StatusFound) //nolint:gosec // name is a valid path below the root
			return
		}
	}
	if !strings.HasSuffix(r.URL.Path, "/") {
		http.Redirect(w, r, "/"+urlPath(name)+"/", http.StatusFound) //nolint:gosec // as above
		return
	}
	entries, err := fs.ReadDir(s.root.FS(), name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	page := listing{Name: name}
	for _, e := range entries[:min(len(entries), maxListed)] {
		entry := link{Text: e.Name(), Href: urlPath(e.Name())}
		if e.IsDir() {
			entry.Text, entry.Href = entry.Text+"/", entry.Href+"/"
		}
		page.Files = append(page.Files, entry)
	}
	page.More = len(entries) - len(page.Files)
	w.Header().Set("Content-Security-Policy", ownPolicy)
	s.show(w, "files", page)
}

// maxListed is how many files of a folder are listed.
const maxListed = 2000

type link struct{ Text, Href string }

type listing struct {
	Name  string
	Files []link
	More  int
}

// show writes a page; what cannot be written any more is nobody's.
func (s *Site) show(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	var b strings.Builder
	if err := pages().ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	io.WriteString(w, b.String()) //nolint:errcheck // the reader has gone
}
