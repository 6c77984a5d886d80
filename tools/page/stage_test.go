package page

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// stands checks that the whole stage, with its story, is on the first screen.
func (p *tab) stands(kind string) {
	p.Helper()
	if kind == "nothing" {
		if n := is[int](p, `document.querySelectorAll("svg.stage").length`); n != 0 {
			p.Errorf("%d pictures of nothing", n)
		}
		return
	}
	bottom := is[float64](p, `document.querySelector("svg.stage").getBoundingClientRect().bottom`)
	if bottom > 800 || bottom < 200 {
		p.Errorf("the picture ends at %.0f px", bottom)
	}
	card, empty := is[float64](p, `document.querySelector(".acts").offsetHeight`), is[float64](p, `(() => { const box = q => document.querySelector(q).getBoundingClientRect().bottom; return box(".acts") - box(".scrub") })()`)
	if card < 0.59*800 || empty > 100 {
		p.Errorf("the stage is %.0f px high, %.0f px of them empty below the picture", card, empty)
	}
}

// reads checks that a phone has its own picture, with letters that can be read.
func (p *tab) reads(kind string) {
	p.Helper()
	size := is[float64](p, `(() => { const s = [...document.querySelectorAll("#stage svg")].filter(s => s.getClientRects().length); `+
		`return s.length === 1 ? s[0].querySelector("text").getBoundingClientRect().height : 0 })()`)
	if size < 10 && kind != "nothing" {
		p.Errorf("on a phone letters are %.0f px high", size)
	}
}

const now = `document.querySelector(".pane caption").textContent`

// Beats, keys, the slider, the picture and play move one cursor, and what is true there is told.
func TestStageMoves(t *testing.T) {
	p := open(t, "paused", 1280, 800)
	if n := is[int](p, `document.querySelectorAll("#rail li").length`); n < 4 {
		t.Fatalf("%d beats", n)
	}
	if bug := is[string](p, `document.querySelector("#rail [aria-current]").className`); bug != "bug" {
		t.Errorf("the page opens at %q", bug)
	}
	if told := is[string](p, `document.querySelector("#pane").innerText`); !strings.Contains(told, "wrong for") {
		t.Errorf("at the damage: %s", told)
	}
	at := is[string](p, now)
	moved := func(how string) {
		t.Helper()
		if next := is[string](p, now); next == at {
			t.Errorf("%s: still %s", how, at)
		} else {
			at = next
		}
	}
	p.do(chromedp.Click(`#rail li:nth-child(1) button`, chromedp.ByQuery))
	moved("a beat")
	if told := is[string](p, `document.querySelector("#pane").innerText`); !strings.Contains(told, "right") || strings.Contains(told, "wrong") {
		t.Errorf("at its grant: %s", told)
	}
	p.press(kb.ArrowRight)
	moved("a key")
	p.do(chromedp.Click(`svg.stage [data-beat="0"] circle`, chromedp.ByQuery))
	moved("a beat in the picture")
	p.do(chromedp.MouseClickXY(600, 400))
	moved("a click into the picture")
	p.do(chromedp.Evaluate(`(() => { const m = document.getElementById("moment"); m.value = m.min; m.dispatchEvent(new Event("input")) })()`, nil))
	moved("the slider")
	p.do(chromedp.Click(`#play`, chromedp.ByQuery))
	p.until(now + ` !== ` + fmt.Sprintf("%q", at))
	if word := is[string](p, `document.getElementById("play").textContent`); !strings.Contains(word, "stop") {
		t.Errorf("while it plays, the button says %q", word)
	}
	p.do(chromedp.Click(`#play`, chromedp.ByQuery))
	p.quiet()
}

// At the cursor stands the event of the step, and leads to it; a wait is red only once it closes the ring.
func TestStepIsShown(t *testing.T) {
	p := open(t, "deadlock", 1280, 800)
	red := `document.querySelectorAll("#pane .bad").length`
	for beat, want := range map[int]int{3: 0, 4: 2} {
		p.do(chromedp.Click(fmt.Sprintf(`#rail li:nth-child(%d) button`, beat), chromedp.ByQuery))
		if n := is[int](p, red); n != want {
			t.Errorf("at beat %d, %d clients are red: %s", beat, n, is[string](p, `document.querySelector("#pane").innerText`))
		}
	}
	event := is[string](p, `document.querySelector("#pane a").textContent`)
	p.do(chromedp.Click(`#pane a`, chromedp.ByQuery))
	p.until(`location.hash.includes("e=` + event + `") && !document.getElementById("tl-pin").hidden`)
	p = open(t, "slept", 1280, 800)
	p.do(chromedp.Click(`#rail li:nth-child(3) button`, chromedp.ByQuery))
	if told := is[string](p, `document.querySelector("#pane").innerText`); !strings.Contains(told, "got it too late") || strings.Contains(told, "wrong") {
		t.Errorf("of a grant whose lease was over: %s", told)
	}
	p.quiet()
}

// What is copied for an issue has the headline, the story and the command; the picture stands alone.
func TestStageIsCopied(t *testing.T) {
	p := open(t, "paused", 1280, 800)
	copied := func(what string) string {
		p.do(chromedp.Click(`[data-copy=`+what+`]`, chromedp.ByQuery))
		p.until(`document.querySelector("[data-copy=` + what + `]").dataset.copied`)
		return is[string](p, `document.querySelector("[data-copy=`+what+`]").dataset.copied`)
	}
	head, beat := is[string](p, `document.querySelector("h1").innerText`), is[string](p, `document.querySelector("#rail b").innerText`)
	for what, wants := range map[string][]string{
		"markdown": {"**" + head + "**", "1. ", "**" + beat + ".**", "Cure: "},
		"svg":      {head, `xmlns="http://www.w3.org/2000/svg"`, "lockstorm: ", "svg.stage .stair"},
	} {
		text := copied(what)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", what, want)
			}
		}
		if strings.Contains(text, "var(--") {
			t.Errorf("%s needs the page's colours", what)
		}
	}
	p.quiet()
}

type results struct {
	Verdict string
	Stats   map[string]float64
	Checks  map[string]struct {
		Required bool
		Verdict  string
		Findings []struct{ Lost, Overwritten float64 }
	}
}

// tells checks that the figures of the page are those of results.json.
func (p *tab) tells(kind string) {
	p.Helper()
	b, err := os.ReadFile(filepath.Join(os.Getenv("PAGES"), kind+".json"))
	if err != nil {
		p.Fatal(err)
	}
	var r results
	if err := json.Unmarshal(b, &r); err != nil {
		p.Fatal(err)
	}
	head, chip := is[string](p, `document.querySelector("h1").innerText`), is[string](p, `document.querySelector(".chip").innerText`)
	var lost, updates float64
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			lost = max(lost, f.Lost)
		}
	}
	said := strings.Contains(head, "wiped out") || strings.Contains(head, "lost for good")
	if _, rest, ok := strings.Cut(head, "wiped out "); ok {
		fmt.Sscanf(rest, "%f", &updates) //nolint:errcheck // it stays 0
		if updates < 1 || updates > lost {
			p.Errorf("%q, but a finding has at most %.0f", head, lost)
		}
	}
	switch r.Verdict {
	case "fail":
		if !strings.Contains("needs a fence, broken lock, job done twice, deadlock, violation", chip) {
			p.Errorf("the chip says %q", chip)
		}
	default:
		if said || chip == "broken lock" || chip == "needs a fence" {
			p.Errorf("a run that %ss: %q, %q", r.Verdict, chip, head)
		}
	}
	figures := is[map[string]string](p, `Object.fromEntries([...document.querySelectorAll(".facts span")].map(s => [s.firstChild.textContent, s.lastChild.textContent]))`)
	for name, v := range r.Stats {
		if got := figures[name]; !strings.HasSuffix(name, "_ns") && got != fmt.Sprintf("%.0f", v) {
			p.Errorf("%s is %q on the page, and %.0f in the results", name, got, v)
		}
	}
	totals := is[string](p, `(document.querySelector(".totals") || {innerText: ""}).innerText`)
	if n, counted := r.Stats["updates_lost_plain"]; counted && r.Stats["periods"] == 0 && !strings.Contains(totals, fmt.Sprintf("Lost without a fence: %.0f", n)) {
		p.Errorf("%.0f lost, and the page says %q", n, totals)
	}
}
