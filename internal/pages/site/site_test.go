package site

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// put writes a file below a folder.
func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func resultsOf(backend, verdict string) string {
	return fmt.Sprintf(
		`{"schema":1,"verdict":%q,"exit_code":1,"seed":7,"backend":%q,"nemesis":["client-pause"],"workload":"counter","duration_ns":2500000000,"checks":{"mutual-exclusion":{%s`,
		verdict, backend, strings.Repeat(" ", 2*headSize)) // what follows is not read, and may be anything
}

// folder has two runs, one that was interrupted, a suite with a run, and what nobody should get.
func folder(t testing.TB) string {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "runs")
	put(t, dir, "one/results.json", resultsOf("redis-lua", "fail"))
	put(t, dir, "one/report.html", "<!doctype html><title>the report</title>")
	put(t, dir, "one/logs/c1.jsonl", "{}\n")
	put(t, dir, "one/nodes/redis-1/evil.html", "<script>alert(1)</script>")
	put(t, dir, "deep/er/two words/results.json", resultsOf("file-flock", "pass"))
	put(t, dir, "gone/trial.json",
		`{"schema":1,"config":{"backend":"etcd-mutex","nemesis":["none"],"workload":"counter","seed":3},"plan":{}}`)
	put(t, dir, "suite/suite.json", "{}")
	put(t, dir, "suite/results.json", `{"schema":1,"name":"smoke","verdict":"5 cells: 5 as expected","exit_code":0}`)
	put(t, dir, "suite/index.html", "<!doctype html><title>the suite</title>")
	put(t, dir, "suite/runs/cell/seed-1/results.json", resultsOf("zk-exclusive", "unknown"))
	put(t, top, "secret", "nobody reads this")
	for link, to := range map[string]string{"out": "../secret", "up": "..", "one/away": "../../secret"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "gone/trial.json"), old, old); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t testing.TB, dir string) *Site {
	t.Helper()
	s, err := Open(dir, func(host string) bool { return host == "lab" })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // it was only read
	return s
}

func get(s *Site, method, target, host string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://lab/", nil)
	path, query, _ := strings.Cut(target, "?")
	r.URL.Path, r.URL.RawQuery, r.Host = path, query, host
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// The list has every run and suite with its verdict, and nothing else.
func TestList(t *testing.T) {
	s := open(t, folder(t))
	body := html.UnescapeString(get(s, "GET", "/", "lab").Body.String())
	for _, want := range []string{
		`>violation</span></td><td><a href="/one/">redis-lua</a></td><td>client-pause</td><td>counter, seed 7</td>`,
		`href="/deep/er/two%20words/"`, `>interrupted</span></td><td><a href="/gone/">etcd-mutex</a></td><td>none</td>`,
		`>as expected</span></td><td><a href="/suite/">smoke</a></td><td>5 cells: 5 as expected</td>`, "1 to 3 of 3",
		"1 runs of suites are listed with their suite",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	for query, want := range map[string]string{
		"q=redis+SEED": "1 to 1 of 1", "verdict=pass": "1 to 1 of 1", "verdict=inconclusive": "/suite/runs/cell/seed-1/",
		"q=nothing": "No run matches the filter", "q=%22%3E%3Cscript%3E": "No run matches the filter",
		"page=99": "1 to 3 of 3", "suite=suite": "1 to 1 of 1", "suite=other": "No run matches",
	} {
		body := get(s, "GET", "/?"+query, "lab").Body.String()
		if !strings.Contains(body, want) || strings.Contains(body, `"><script>`) {
			t.Errorf("%s: no %q in\n%s", query, want, body)
		}
	}
}

// A violation is listed with the cause of its worst finding, and the cells of a suite with what they came to before.
func TestCauseAndTrend(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "run/results.json", `{"verdict":"fail","backend":"redis-del","nemesis":["none"],"workload":"counter","seed":1,"checks":{
		"data-plain":{"verdict":"fail","required":true,"findings":[
			{"rule":"lost-update","gating":true,"class":"defect","cause":"a lost update"}]},
		"ownership":{"verdict":"fail","required":true,"findings":[{"rule":"foreign-release","gating":true,"class":"defect","cause":"a blind release"}]}}}`)
	for i, word := range []string{"safe", "defect"} {
		name := fmt.Sprintf("suite-%d", i)
		put(t, dir, name+"/suite.json", "{}")
		put(t, dir, name+"/results.json", fmt.Sprintf(`{"name":"smoke","verdict":"2 cells","exit_code":%d,"cells":[
			{"name":"same","word":"inherent","status":"as expected"},{"name":"other","word":%q,"status":%q}]}`, i, word,
			[]string{"as expected", "violation"}[i]))
		when := time.Now().Add(time.Duration(i-2) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name, "results.json"), when, when); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	if body := get(s, "GET", "/", "lab").Body.String(); !strings.Contains(body, `<td class="cause">a blind release</td>`) ||
		!strings.Contains(body, `/-/trend?suite=smoke`) {
		t.Error(body)
	}
	body := get(s, "GET", "/-/trend?suite=smoke", "lab").Body.String()
	changed := `other <b>changed</b></td><td><span class="tag safe">safe</span></td><td><span class="tag defect odd">defect</span>`
	if i, j := strings.Index(body, changed), strings.Index(body, "<td>same</td>"); i < 0 || j < i {
		t.Error(body)
	}
	if body := get(s, "GET", "/-/trend?suite=none", "lab").Body.String(); !strings.Contains(body, "No results") {
		t.Error(body)
	}
}

// Nothing outside of the folder is read, by no path and no link, and only by GET from a host that was named.
func TestNothingOutside(t *testing.T) {
	s := open(t, folder(t))
	for _, path := range []string{
		"/out", "/up/secret", "/one/away", "/../secret", "/one/../../secret", "//etc/passwd", "/%2e%2e/secret", "/..%2fsecret",
		"/./one/results.json", "/one//results.json",
		"/etc/passwd", "/\\..\\secret", "/one/results.json\x00", "/-/", "/-/site.go", "/-/../site.go", "/nothing",
	} {
		if w := get(s, "GET", path, "lab"); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "nobody reads") {
			t.Errorf("%q: %d %s", path, w.Code, w.Body)
		}
	}
	for _, host := range []string{"", "evil.example", "lab.evil.example", "lab:80:80"} {
		if w := get(s, "GET", "/one/report.html", host); w.Code != http.StatusMisdirectedRequest {
			t.Errorf("host %q: %d", host, w.Code)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if w := get(s, method, "/one/report.html", "lab"); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// Reports are pages, everything else is text; each answer has a policy, and is what it says it is.
func TestKinds(t *testing.T) {
	s := open(t, folder(t))
	for path, want := range map[string]struct{ kind, policy string }{
		"/one/report.html":             {"text/html; charset=utf-8", reportPolicy},
		"/suite/index.html":            {"text/html; charset=utf-8", reportPolicy},
		"/one/nodes/redis-1/evil.html": {"text/plain; charset=utf-8", textPolicy},
		"/one/results.json":            {"application/json; charset=utf-8", textPolicy},
		"/one/logs/c1.jsonl":           {"text/plain; charset=utf-8", textPolicy},
		"/one/logs/":                   {"text/html; charset=utf-8", ownPolicy},
		"/":                            {"text/html; charset=utf-8", ownPolicy},
		"/-/list.js":                   {"text/javascript; charset=utf-8", textPolicy},
	} {
		w := get(s, "GET", path, "lab")
		if h := w.Header(); w.Code != http.StatusOK || h.Get("Content-Type") != want.kind ||
			h.Get("Content-Security-Policy") != want.policy || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", path, w.Code, h)
		}
	}
	for path, to := range map[string]string{
		"/one": "/one/report.html", "/one/": "/one/report.html", "/suite/": "/suite/index.html",
		"/one/logs": "/one/logs/", "/deep/er": "/deep/er/",
	} {
		if w := get(s, "GET", path, "lab"); w.Code != http.StatusFound || w.Header().Get("Location") != to {
			t.Errorf("%s: %d to %q", path, w.Code, w.Header().Get("Location"))
		}
	}
}

// What is deleted while it is shown is not there, and nothing else happens.
func TestDeletedMeanwhile(t *testing.T) {
	dir := folder(t)
	s := open(t, dir)
	get(s, "GET", "/", "lab")
	if err := os.RemoveAll(filepath.Join(dir, "one")); err != nil {
		t.Fatal(err)
	}
	if w := get(s, "GET", "/one/report.html", "lab"); w.Code != http.StatusNotFound {
		t.Errorf("a run that is gone: %d", w.Code)
	}
	s.scan.at = time.Time{}
	if body := get(s, "GET", "/", "lab").Body.String(); strings.Contains(body, "redis-lua") ||
		!strings.Contains(body, "1 to 2 of 2") {
		t.Errorf("it is still listed:\n%s", body)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.scan.at = time.Time{}
	if w := get(s, "GET", "/", "lab"); w.Code != http.StatusOK {
		t.Errorf("the folder is gone: %d", w.Code)
	}
}

// Whoever listens is told of runs that begin, and of verdicts, as they come.
func TestEvents(t *testing.T) {
	dir := folder(t)
	server := httptest.NewServer(open(t, dir))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/-/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "lab"
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(resp.Body)
	heard := func(want string) {
		t.Helper()
		for lines.Scan() {
			if line := lines.Text(); strings.HasPrefix(line, "data: ") && strings.Contains(line, want) {
				return
			}
		}
		t.Fatalf("never heard of %s: %v", want, lines.Err())
	}
	if !lines.Scan() || lines.Text() != ": still here" {
		t.Fatalf("the first line is %q", lines.Text())
	}
	put(t, dir, "new/trial.json", `{"schema":1,"config":{"backend":"redis-setnx"}}`)
	heard(`"path":"new","kind":"run","verdict":"running"`)
	put(t, dir, "new/results.json", resultsOf("redis-setnx", "fail"))
	heard(`"path":"new","kind":"run","verdict":"violation"`)
}

// Who is asked for by a name that somebody else may point at it does not answer.
func TestHosts(t *testing.T) {
	for addr, want := range map[string]map[string]bool{
		"127.0.0.1:80": {
			"127.0.0.1:80": true, "localhost:80": true, "[::1]:80": true, "127.0.0.1": true, "evil.example:80": false,
			"10.0.0.1:80": false, "": false, "machine": false,
		},
		"0.0.0.0:80": {
			"10.0.0.1:80": true, "machine:80": true, "MACHINE": true, "localhost": true, "evil.example": false,
			"machine.evil.example": false,
		},
		"[::]:80":     {"[fe80::1]:80": true, "machine": true, "evil.example": false},
		"10.0.0.1:80": {"10.0.0.1:80": true, "10.0.0.2:80": false, "localhost": false, "machine": false},
	} {
		a, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		allowed := Hosts(a, "machine")
		for host, ok := range want {
			if allowed(host) != ok {
				t.Errorf("%s asked for %q: %v", addr, host, !ok)
			}
		}
	}
}

// The first page of 10,000 runs, none of which was looked at before.
func BenchmarkFirstPage(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		put(b, dir, fmt.Sprintf("run-%d/results.json", i), resultsOf("redis-lua", "pass"))
	}
	for b.Loop() {
		s, err := Open(dir, func(string) bool { return true })
		if err != nil {
			b.Fatal(err)
		}
		if w := get(s, "GET", "/", "lab"); !strings.Contains(w.Body.String(), "1 to 100 of 10000") {
			b.Fatal(w.Body)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
