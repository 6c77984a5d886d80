package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/operations"
)

// What files hold is judged as it stands there: two values are equal if they are written so that they mean the same.
func TestModelsOfFiles(t *testing.T) {
	event := func(typ, f, process, value string) string {
		return `{"type":"` + typ + `","f":"` + f + `","process":` + process + `,"value":` + value + "}\n"
	}
	call := func(f, process, value string) string {
		return event("invoke", f, process, "null") + event("ok", f, process, value)
	}
	both := func(written, got string) string {
		return event("invoke", "write", "1", written) + event("ok", "write", "1", written) + call("read", "2", got)
	}
	edn := func(written, got string) string {
		return "{:type :invoke :process 0 :f :write :value " + written + "}{:type :ok :process 0 :f :write :value nil}{:type :invoke " +
			":process 1 :f :read :value nil}{:type :ok :process 1 :f :read :value " + got + "}"
	}
	register, owners := "register", "owned-mutex"
	for name, c := range map[string]struct {
		model, text string
		want        string // a verdict, or a part of an error
	}{
		"large numbers":              {register, both("12345678901234567890", "12345678901234567891"), "fail"},
		"one large number":           {register, both("12345678901234567890", "12345678901234567890"), "pass"},
		"a whole float":              {register, both("1000000.0", "1000000"), "pass"},
		"digits":                     {register, both(`"3"`, "3"), "pass"},
		"lists":                      {register, both(`["a b"]`, `["a","b"]`), "fail"},
		"nothing, and its name":      {register, both(`"nil"`, "null"), "fail"},
		"tags":                       {register, edn("#foo 1", "#bar 1"), "fail"},
		"a map with a list as key":   {register, edn("{[1] 1}", "{[1] 1}"), "pass"},
		"a set of maps":              {register, edn("#{{:a 1} {:b 2}}", "#{{:b 2} {:a 1}}"), "pass"},
		"a number of 600,000,000":    {register, edn("1e600000000M", "1"), "exponent"},
		"a text that looks like one": {register, edn(`"7e123456"`, `"7e123456"`), "pass"},
		"an owner without a name":    {owners, call("acquire", "1", `{"client":""}`) + call("acquire", "2", `{"client":"b"}`), "fail"},
		"a process without a name":   {owners, call("acquire", `""`, "null") + call("acquire", "2", "null"), "fail"},
		"a whole float as process":   {owners, call("acquire", "1.0", "null") + call("release", "1", "null"), "pass"},
		"the highest token": {
			"fenced-mutex", call("acquire", `"a"`, "9223372036854775807") + call("release", `"a"`, "null") + event("invoke", "acquire",
				`"b"`, "null") + event("info", "acquire", `"b"`, "null") + call("release", `"b"`, "null") + call("acquire", `"c"`, "5"),
			"fail",
		},
		"the lowest token": {
			"fenced-mutex", call("acquire", "1", "0") + call("release", "1", "null") + call("acquire", "2", "1"),
			"pass",
		},
		"the lowest token again": {
			"fenced-mutex", call("acquire", "1", "0") + call("release", "1", "null") + call("acquire", "2", "0"),
			"fail",
		},
		"a token below it":      {"fenced-mutex", call("acquire", "1", "-1"), "0 or more"},
		"a grant that is false": {owners, call("acquire", "1", "false"), "so it did not happen: record it with the type"},
		"two permits": {"semaphore:permits=3", event("invoke", "acquire", "1", `{"permits":2}`) + event("ok", "acquire", "1",
			"null"), "several permits"},
		"equal times": {
			owners, `{"type":"invoke","process":"c2","f":"acquire","time":4}{"type":"ok","process":"c2","f":"acquire","time":5}` +
				`{"type":"invoke","process":"c1","f":"acquire","time":1}{"type":"ok","process":"c1","f":"acquire","time":2}` +
				`{"type":"invoke","process":"c1","f":"release","time":5}{"type":"ok","process":"c1","f":"release","time":6}`, "pass",
		},
		"one moment": {owners, `{"type":"invoke","process":1,"f":"acquire","time":1}{"type":"ok","process":1,"f":"acquire","time":1}` +
			`{"type":"invoke","process":1,"f":"release","time":1}{"type":"ok","process":1,"f":"release","time":1}`, "pass"},
		"a tag at the end": {owners, call("acquire", "1", "null") + "#jepsen.history.Op", "the file is incomplete"},
		"a mark of UTF-8":  {owners, "\ufeff" + call("acquire", "1", "null"), "pass"},
		"a deep value":     {register, both(strings.Repeat("[", 2000)+strings.Repeat("]", 2000), "1"), "nested"},
	} {
		got := ""
		h, err := operations.Read(strings.NewReader(c.text), operations.Options{})
		if err == nil {
			m, parsed := Parse(c.model)
			if parsed != nil {
				t.Fatal(parsed)
			}
			var r []Result
			if r, err = Judge(t.Context(), m, h); err == nil {
				got = string(Worst(r))
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || (err == nil) != (c.want == "pass" || c.want == "fail") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Histories as other tools write them, each with its model and verdict in its first line.
func TestModelsOfRecordedFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.edn")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(strings.TrimPrefix(string(text), "; "), ".")
		model, want, _ := strings.Cut(head, ": ")
		m, err := Parse(model)
		if err != nil {
			t.Fatal(file, err)
		}
		h, err := operations.Read(strings.NewReader(string(text)), operations.Options{})
		if err != nil {
			t.Fatal(file, err)
		}
		r, err := Judge(t.Context(), m, h)
		if err != nil || string(Worst(r)) != want {
			t.Errorf("%s: %v, want %s (%v)", file, r, want, err)
		}
		if found := twin(m, h, nil); found != (want == "pass") {
			t.Errorf("%s: Porcupine says %v", file, found)
		}
	}
}
