package page

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const hits = `document.getElementById("tl-hits").textContent`

// The search covers all events, also one that comes before another, and the address keeps it.
func TestSearch(t *testing.T) {
	p := open(t, "paused", 1280, 800)
	p.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	counted := func(text string) int {
		t.Helper()
		p.do(chromedp.Evaluate(`document.getElementById("tl-q").value = ""`, nil), chromedp.SendKeys("#tl-q", text, chromedp.ByQuery))
		word, _, _ := strings.Cut(is[string](p, hits), " ")
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("%s: %q", text, is[string](p, hits))
		}
		return n
	}
	all := is[int](p, `JSON.parse(document.getElementById("run-data").textContent).e.t.length`)
	writes, stale := counted("write invoke"), counted("stale-token")
	if writes < 2 || writes >= all || stale == 0 || counted("write invoke c1")+counted("write invoke c2")+
		counted("write invoke c3") != writes {
		t.Errorf("%d writes, %d stale, of %d events", writes, stale, all)
	}
	if n := counted("stale-token before grant"); n > stale {
		t.Errorf("%d places after %d refusals", n, stale)
	}
	if n := counted("write invoke before stale-token"); n < 1 || n > stale {
		t.Errorf("%d places where a write comes before one of %d refusals, which register and client tell", n, stale)
	}
	if n := counted("run before run before run"); n != 0 {
		t.Errorf("%d places where the run begins thrice", n)
	}
	counted("write invoke before stale-token")
	p.do(chromedp.SendKeys("#tl-q", kb.Enter, chromedp.ByQuery))
	p.until(`/e=\d+/.test(location.hash) && /q=write/.test(location.hash) && /^1 of/.test(` + hits + `)`)
	was := is[string](p, hash)
	q := open(t, "paused", 1280, 800)
	q.do(chromedp.Navigate("about:blank"), chromedp.Navigate(q.url+was), chromedp.WaitReady("#ranged", chromedp.ByQuery))
	q.until(`document.getElementById("tl-q").value === "write invoke before stale-token" && /place/.test(` + hits + `)`)
	p.quiet()
	q.quiet()
}

const shownRows = `[...document.querySelectorAll("[data-at]")].filter(e => !e.hidden).length`

// A chosen range filters steps, faults, findings and events; the whole run brings them back.
func TestRange(t *testing.T) {
	p := open(t, "paused", 1280, 800)
	p.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	all := is[int](p, shownRows)
	brush := `(() => { const m = document.getElementById("tl-over"), r = m.getBoundingClientRect(), at = (type, x) => m.dispatchEvent(new PointerEvent(type, {pointerId: 1, clientX: r.left + x * r.width, clientY: r.top + 9, bubbles: true})); ` +
		`m.setPointerCapture = () => {}; document.querySelector("[data-do=all]").click(); at("pointerdown", .1); at("pointermove", .2); at("pointerup", .2); })()`
	p.do(chromedp.Evaluate(brush, nil))
	p.until(`/r=\d+-\d+/.test(location.hash)`)
	some := is[int](p, shownRows)
	if some >= all || is[bool](p, `document.getElementById("ranged").hidden`) {
		t.Errorf("%d of %d rows are in a tenth of the run", some, all)
	}
	if told := is[string](p, `document.getElementById("ranged").innerText`); !strings.Contains(told, strconv.Itoa(all-some)+" row") {
		t.Errorf("%d rows are hidden: %s", all-some, told)
	}
	was := is[string](p, hash)
	q := open(t, "paused", 1280, 800)
	q.do(chromedp.Navigate("about:blank"), chromedp.Navigate(q.url+was), chromedp.WaitReady("#ranged", chromedp.ByQuery))
	q.until(shownRows + ` === ` + strconv.Itoa(some))
	p.do(chromedp.Click(`#ranged button`, chromedp.ByQuery))
	p.until(shownRows + ` === ` + strconv.Itoa(all))
	p.quiet()
	q.quiet()
}

// A chosen range filters the stage too: its beats, its cursor, and what is told of a moment.
func TestRangeOfTheStage(t *testing.T) {
	p := open(t, "paused", 1280, 800)
	p.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	shade := `[...document.querySelectorAll("#stage svg:first-child .range")].map(r => Math.round(r.getBoundingClientRect().width))`
	beats := `[...document.querySelectorAll("#rail li")].filter(l => l.getClientRects().length).length`
	all := is[int](p, beats)
	if w := is[[]int](p, shade); w[0]+w[1] != 0 {
		t.Errorf("the whole run is shaded: %v", w)
	}
	p.do(chromedp.Evaluate(`location.hash = "#v=0-1000000&r=0-900000"`, nil))
	p.until(beats + ` === 2`)
	if w := is[[]int](p, shade); w[0] != 0 || w[1] < 100 {
		t.Errorf("shaded are %v px before and after the range", w)
	}
	if at := is[string](p, now); !strings.HasPrefix(at, "At 0.900 s") {
		t.Errorf("the cursor is outside of the range: %q", at)
	}
	p.do(chromedp.Click(`#ranged button`, chromedp.ByQuery))
	p.until(beats + ` === ` + strconv.Itoa(all))
	p.quiet()
}

// On a wide screen the picture stands beside the story again, and the step that is scrolled past moves its cursor.
func TestScrolledStoryOnAWideScreen(t *testing.T) {
	p := open(t, "paused", 1280, 800)
	at := is[string](p, now)
	steps := is[int](p, `document.querySelectorAll("#told li[data-at]").length`)
	for _, n := range []int{1, steps} {
		step := `document.querySelectorAll("#told li[data-at]")[` + strconv.Itoa(n-1) + `]`
		p.do(chromedp.Evaluate(`scrollBy(0, `+step+`.getBoundingClientRect().top - 0.61 * innerHeight)`, nil))
		p.until(now + `.includes((` + step + `.dataset.at / 1e6).toFixed(3) + " s")`)
		if next := is[string](p, now); next == at {
			t.Errorf("step %d: still %s", n, at)
		} else {
			at = next
		}
	}
	if box := is[[]float64](p, `(b => [b.top, b.bottom])(document.querySelector("#beside svg .cursor").getBoundingClientRect())`); box[0] < 0 || box[1] > 800 {
		t.Errorf("the cursor that moves is at %v px of the window", box)
	}
	p.quiet()
}

// The address holds the moment of the stage.
func TestMomentIsRestored(t *testing.T) {
	p := open(t, "paused", 1280, 800)
	p.do(chromedp.Click(`#rail li:nth-child(1) button`, chromedp.ByQuery))
	p.until(`/m=\d+/.test(location.hash)`)
	at, was := is[string](p, now), is[string](p, hash)
	q := open(t, "paused", 1280, 800)
	if is[string](q, now) == at {
		t.Fatal("the page opens at the first step anyway")
	}
	q.do(chromedp.Navigate("about:blank"), chromedp.Navigate(q.url+was), chromedp.WaitReady("#ranged", chromedp.ByQuery))
	q.until(now + ` === ` + strconv.Quote(at))
	p.quiet()
	q.quiet()
}

// On a phone the picture stays in sight, and the step that is scrolled up to it is the one that it shows.
func TestScrolledStory(t *testing.T) {
	p := open(t, "paused", 390, 844)
	last := `document.querySelector("#rail li:last-child")`
	below := func(li string) {
		p.do(chromedp.Evaluate(`scrollBy(0, document.querySelector("`+li+`").getBoundingClientRect().top - 0.6 * innerHeight)`, nil))
	}
	below("#rail li:first-child")
	p.until(`document.querySelector("#rail li:first-child").getAttribute("aria-current") === "step"`)
	below("#rail li:last-child")
	p.until(last + `.getAttribute("aria-current") === "step"`)
	if top := is[float64](p, `document.getElementById("stage").getBoundingClientRect().top`); top < 0 || top > 300 {
		t.Errorf("the picture begins at %.0f px", top)
	}
	p.quiet()
}
