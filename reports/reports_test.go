package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/checker/checks"
	"github.com/lockstorm/lockstorm/history"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// judged judges a history in text form.
func judged(t *testing.T, name string) (*checker.Results, *history.Record) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	h, err := history.ParseText(f)
	if err != nil {
		t.Fatal(err)
	}
	in, err := checker.NewInput(h)
	if err != nil {
		t.Fatal(err)
	}
	return checker.Judge(in, checks.Default()), in.Record
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./reports -rewrite, then read the difference):\n%s", path, got)
	}
}

func TestSummary(t *testing.T) {
	for _, name := range told {
		r, rec := judged(t, name)
		var b bytes.Buffer
		if err := Summary(&b, r, rec, Style{}); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n" + Headline(r) + "\n")
		golden(t, name+".summary", b.String())
	}
}

// At every width, with and without colour: nothing is wider than the terminal but a word that is.
func TestSummaryOfATerminal(t *testing.T) {
	escapes := regexp.MustCompile("\x1b\\[[0-9]+m")
	for _, width := range []int{60, 80, 200} {
		for _, color := range []bool{false, true} {
			var b bytes.Buffer
			for _, name := range told[:3] {
				r, rec := judged(t, name)
				if err := Summary(&b, r, rec, Style{Width: width, Color: color}); err != nil {
					t.Fatal(err)
				}
			}
			name := fmt.Sprintf("terminal-%d", width)
			plain := escapes.ReplaceAllString(b.String(), "")
			if color {
				if plain == b.String() {
					t.Error("there is no colour")
				}
				name += "-colour"
			} else if plain != b.String() {
				t.Error("there is colour")
			}
			for line := range strings.Lines(plain) {
				if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > width &&
					strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("wider than %d: %q", width, line)
				}
			}
			golden(t, name, b.String())
		}
	}
}

func TestJUnit(t *testing.T) {
	r, _ := judged(t, "paused")
	var b bytes.Buffer
	if err := JUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Suites []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
				Error   *struct{} `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suites); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	state := map[string]string{}
	for _, c := range suites.Suites[0].Cases {
		switch {
		case c.Failure != nil:
			state[c.Name] = "failure"
		case c.Error != nil:
			state[c.Name] = "error"
		case c.Skipped != nil:
			state[c.Name] = "skipped"
		default:
			state[c.Name] = "ok"
		}
	}
	for name, want := range map[string]string{
		checker.MutualExclusion: "failure", checker.DataPlain: "failure", checker.DataFenced: "ok",
		checker.LockLinearizability: "ok", checker.Coverage: "ok", checker.Liveness: "error",
	} {
		if state[name] != want {
			t.Errorf("%s is %s, want %s", name, state[name], want)
		}
	}
}

// The page says what the summary says, shows the picture, and needs no network.
func TestHTML(t *testing.T) {
	r, rec := judged(t, "paused")
	var b bytes.Buffer
	if err := HTML(&b, r, rec, Context{}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"VIOLATION: mutual-exclusion, data-plain", "<svg class=\"stage\"", "class=\"wrong\"",
		"No fence: 1 acknowledged update gone", "the fence refuses the write of c1: token 33 is outdated", "id=\"e",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if m := regexp.MustCompile(
		`(?i)<(script|link|img|iframe|object)[^>]* (src|href|data)=|(src|href)="?https?:|url\([^#]|@import`).FindString(page); m != "" {
		t.Errorf("the page is not self-contained: %s", m)
	}
	for element, directive := range map[string]string{"style": "style-src", "script": "script-src"} {
		bodies := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(page, -1)
		if len(bodies) == 0 {
			t.Fatalf("no %s", element)
		}
		policy := regexp.MustCompile(directive + ` [^;]*`).FindString(html.UnescapeString(page))
		for _, body := range bodies {
			sum := sha256.Sum256([]byte(body[1]))
			if !strings.Contains(policy, " 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
				t.Errorf("the policy does not allow the page's own %s", element)
			}
		}
	}
	if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "NaN") {
		t.Error("the page has values that were not rendered")
	}
}

// The page of a fail-over tells of the servers: who died, who was master, and when there was a grant again.
func TestHTMLOfServers(t *testing.T) {
	r, rec := judged(t, "failover")
	var b bytes.Buffer
	if err := HTML(&b, r, rec, Context{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"redis-1 is killed", "redis-2 is first seen as master", "was never on redis-2", "<h2>Faults</h2>", "902 ms",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// What comes from outside cannot break out of its place.
func TestHTMLEscapes(t *testing.T) {
	r, rec := judged(t, "paused")
	r.Command = `<script>alert(1)</script>`
	var b bytes.Buffer
	if err := HTML(&b, r, rec, Context{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<script>alert") {
		t.Error("a command was not escaped")
	}
}

// A history without a single grant can be rendered, too.
func TestHTMLOfNothing(t *testing.T) {
	r, rec := judged(t, "nothing")
	var b bytes.Buffer
	if err := HTML(&b, r, rec, Context{}); err != nil || !strings.Contains(b.String(), "inconclusive") {
		t.Errorf("%v: %s", err, b.String())
	}
}
