// Package page tests the report of a run in a real browser: Debian's Chromium, headless. The pages are written by
// `PAGES=DIR go test ./reports -run TestWritePages` (make browser does both).
package page

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// kinds are the pages of runs that are tried: a pause with and without a fence, a fail-over, a release of what is not
// one's own, a late signal, a lease that its server lost, a pass, nothing at all, many clients.
var kinds = []string{"paused", "failover", "late-del", "late-del-alone", "told", "revoked", "safe", "slept", "job", "optimistic", "readers", "deadlock", "nothing", "bulk"}

var browser context.Context

func TestMain(m *testing.M) {
	dir := os.Getenv("PAGES")
	if dir == "" {
		fmt.Println("PAGES is not set: make browser sets it")
		os.Exit(0)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1280, 800))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	var stop context.CancelFunc
	browser, stop = chromedp.NewContext(ctx)
	if err := chromedp.Run(browser); err != nil {
		fmt.Fprintln(os.Stderr, "start Chromium:", err)
		os.Exit(1)
	}
	code := m.Run()
	stop()
	cancel()
	os.Exit(code)
}

// limit is for what a test does in one tab: on an idle host it takes three seconds at most.
const limit = 3 * time.Minute

// tab is an open page, with what it complained of and asked for.
type tab struct {
	*testing.T

	ctx context.Context
	url string

	mu   sync.Mutex
	said []string
}

// open loads the page of a kind of run in a tab of its own.
func open(t *testing.T, kind string, width, height int64) *tab {
	t.Helper()
	p := blank(t, kind)
	p.do(emulation.SetDeviceMetricsOverride(width, height, 1, false), chromedp.Navigate(p.url))
	return p
}

// blank is a tab that is yet to load its page.
func blank(t *testing.T, kind string) *tab {
	t.Helper()
	abs, err := filepath.Abs(filepath.Join(os.Getenv("PAGES"), kind+".html"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	ctx, stop := context.WithTimeout(ctx, limit)
	t.Cleanup(func() { stop(); cancel() })
	p := &tab{T: t, ctx: ctx, url: "file://" + abs}
	chromedp.ListenTarget(ctx, func(ev any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			p.said = append(p.said, "exception: "+e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			p.said = append(p.said, "console: "+string(e.Type))
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !strings.HasPrefix(url, p.url) {
				p.said = append(p.said, "request: "+url)
			}
		}
	})
	p.do(network.Enable())
	return p
}

func (p *tab) do(actions ...chromedp.Action) {
	p.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// is evaluates an expression.
func is[T any](p *tab, js string) (out T) {
	p.Helper()
	if err := chromedp.Run(p.ctx, chromedp.Evaluate(js, &out)); err != nil {
		p.Fatalf("%s: %v", js, err)
	}
	return out
}

// until waits for a condition in the page.
func (p *tab) until(js string) {
	p.Helper()
	if err := chromedp.Run(p.ctx, chromedp.Poll(js, nil, chromedp.WithPollingTimeout(limit))); err != nil {
		p.Errorf("never: %s: %v", js, err)
	}
}

func (p *tab) quiet() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.said {
		p.Error(s)
	}
}

const hash = `location.hash`

// view is the part of the run that is shown, in us.
func (p *tab) view() (v [2]float64) {
	p.Helper()
	// the fragment follows what was done
	p.until(`/v=\d+-\d+/.test(location.hash) && !document.getElementById("tl-main").dataset.unsaved`)
	if _, err := fmt.Sscanf(is[string](p, `/v=(\d+-\d+)/.exec(location.hash)[1].replace("-"," ")`), "%g %g", &v[0],
		&v[1]); err != nil {
		p.Fatal(err)
	}
	return v
}

func (p *tab) press(key string) { p.Helper(); p.do(chromedp.KeyEvent(key)) }

// show loads the page in a window of this size and in a theme.
func (p *tab) show(width, height int64, theme string) {
	p.Helper()
	p.do(emulation.SetDeviceMetricsOverride(width, height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
		chromedp.Navigate(p.url))
	p.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	if n := is[int64](p, `document.documentElement.scrollWidth`); n > width {
		p.Errorf("%s: %d px wide, by %s", theme, n, is[string](p,
			fmt.Sprintf(`[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > %d && !e.closest("svg") && getComputedStyle(e.parentElement).overflowX === "visible").slice(0, 5).map(e => e.tagName + "." + e.className + " " + Math.round(e.getBoundingClientRect().right)).join(", ")`, width+1)))
	}
	if dark := is[string](p, `getComputedStyle(document.body).backgroundColor`) == "rgb(19, 23, 29)"; dark != (theme == "dark") {
		p.Errorf("%s: the page is dark: %v", theme, dark)
	}
	p.quiet()
}

// Over all kinds of runs, in both themes and on a phone: no complaint, no request, no sideways scroll; the figures of the results,
// and the stage on the first screen.
func TestPages(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			p := blank(t, kind)
			p.show(1280, 800, "dark")
			p.show(1280, 800, "light")
			p.tells(kind)
			p.stands(kind)
			p.show(390, 844, "light")
			p.reads(kind)
		})
	}
}

// Every control can be reached and used with the keyboard alone.
func TestKeyboard(t *testing.T) {
	p := open(t, "late-del", 1280, 800)
	p.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	p.do(chromedp.Focus("#tl-main", chromedp.ByQuery))
	p.press("0")
	whole := p.view()
	p.press("+")
	near := p.view()
	if near[1]-near[0] > 0.6*(whole[1]-whole[0]) {
		t.Errorf("+ shows %v after %v", near, whole)
	}
	p.press(kb.ArrowRight)
	moved := p.view()
	if moved[0] <= near[0] {
		t.Errorf("the right arrow shows %v after %v", moved, near)
	}
	p.press(kb.ArrowLeft)
	if back := p.view(); back[0] >= moved[0] {
		t.Errorf("the left arrow shows %v after %v", back, moved)
	}
	p.press("-")
	if far := p.view(); far[1]-far[0] <= near[1]-near[0] {
		t.Errorf("- shows %v", far)
	}
	p.press(kb.Home)
	if all := p.view(); all != whole {
		t.Errorf("Home shows %v, want %v", all, whole)
	}
	p.press("n")
	p.until(`/i=2/.test(location.hash)`)
	p.press("p")
	p.until(`/i=1/.test(location.hash)`)
	p.press(".")
	p.until(`/e=\d+/.test(location.hash)`)
	first := is[string](p, `/e=(\d+)/.exec(location.hash)[1]`)
	p.press(".")
	p.until(`/e=(\d+)/.exec(location.hash)[1] !== "` + first + `"`)
	p.press(",")
	p.until(`/e=(\d+)/.exec(location.hash)[1] === "` + first + `"`)
	p.press(kb.Escape)
	p.until(`!/e=/.test(location.hash) && document.getElementById("tl-pin").hidden`)
	// All buttons, fields and links that are shown are stops of the tabulator.
	if bad := is[int](p,
		`[...document.querySelectorAll("#timeline button, #timeline select, #timeline input, a[href]")].filter(e => e.tabIndex < 0 || e.disabled).length`); bad > 0 {
		t.Errorf("%d controls cannot be reached", bad)
	}
	for what, want := range map[string]string{"next": `/i=2/`, "all": `/v=0-/`} {
		p.do(chromedp.Focus(`[data-do=`+what+`]`, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
		p.until(want + `.test(location.hash)`)
	}
	p.do(chromedp.Focus(`#tl-q`, chromedp.ByQuery), chromedp.KeyEvent("no such thing"))
	p.until(`/^0 events/.test(document.getElementById("tl-hits").textContent)`)
	p.do(chromedp.Focus(`[data-do=clear]`, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	p.until(`document.getElementById("tl-hits").textContent === "" && document.getElementById("tl-q").value === ""`)
	p.quiet()
}

// Story, picture, finding and event lead to each other.
func TestLinksBothWays(t *testing.T) {
	p := open(t, "paused", 1280, 800)
	p.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	// A step of the story, into the picture.
	p.do(chromedp.Click(`#s0-5 a.t`, chromedp.ByQuery))
	p.until(`!document.getElementById("tl-pin").hidden && /e=\d+/.test(location.hash)`)
	// From the picture to the event as it is on record, and to the finding.
	p.do(chromedp.Click(`#tl-pin a[href^="#e"]`, chromedp.ByQuery))
	p.until(`/^#e\d+$/.test(location.hash) && document.querySelector(location.hash).closest("details").open`)
	id := is[string](p, hash)
	p.do(chromedp.Click(id+` + .show`, chromedp.ByQuery))
	p.until(`location.hash.includes("e=" + ` + fmt.Sprintf("%q", strings.TrimPrefix(id, "#e")) + `)`)
	p.do(chromedp.Click(`#tl-pin a[href^="#f-"]`, chromedp.ByQuery))
	p.until(`/^#f-/.test(location.hash)`)
	p.do(chromedp.Click(is[string](p, hash)+` [data-incident]`, chromedp.ByQuery))
	p.until(`/i=1/.test(location.hash)`)
	// From an event back to the story.
	if n := is[int](p, `document.querySelectorAll('pre a[href^="#s0-"]').length`); n == 0 {
		t.Error("no event leads to the story")
	}
	p.quiet()
}

// The fragment holds the view: another browser that is given it shows the same.
func TestFragmentIsRestored(t *testing.T) {
	p := open(t, "bulk", 1280, 800)
	p.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	p.do(chromedp.SetValue(`[data-filter=client]`, "c3", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelector("[data-filter=client]").dispatchEvent(new Event("input"))`, nil))
	p.press("n")
	p.press("n")
	p.do(chromedp.Focus("#tl-main", chromedp.ByQuery))
	p.press("+")
	p.press(".")
	want := p.view()
	was := is[string](p, hash)
	q := open(t, "bulk", 1280, 800)
	q.do(chromedp.Navigate("about:blank"), chromedp.Navigate(q.url+was))
	q.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	q.press("x") // nothing
	q.do(chromedp.Evaluate(`document.querySelector("[data-do=left]").click(), document.querySelector("[data-do=right]").click()`,
		nil))
	if got := q.view(); got[1]-got[0] < 0.99*(want[1]-want[0]) || got[1]-got[0] > 1.01*(want[1]-want[0]) {
		t.Errorf("restored %v, want %v", got, want)
	}
	if c := is[string](q, `document.querySelector("[data-filter=client]").value`); c != "c3" {
		t.Errorf("the filter is %q", c)
	}
	if is[bool](q, `document.getElementById("tl-pin").hidden`) {
		t.Error("what was pinned is not")
	}
	q.quiet()
}

// Dragging and the wheel work; the tooltip says what is under the pointer.
func TestPointer(t *testing.T) {
	p := open(t, "paused", 1280, 2000)
	p.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	p.do(chromedp.Focus("#tl-main", chromedp.ByQuery), chromedp.Evaluate(`document.querySelector("[data-do=in]").click()`, nil))
	before := p.view()
	drag := `(() => { const m = document.getElementById("tl-main"), r = m.getBoundingClientRect(), at = (type, x) => m.dispatchEvent(new PointerEvent(type, {pointerId: 1, clientX: r.left + x, clientY: r.top + 60, bubbles: true})); m.setPointerCapture = () => {}; at("pointerdown", 600); at("pointermove", 500); at("pointerup", 500); })()`
	p.do(chromedp.Evaluate(drag, nil))
	if after := p.view(); after[0] <= before[0] {
		t.Errorf("dragged to the left: %v after %v", after, before)
	}
	p.do(
		chromedp.Evaluate(
			`(() => { const m = document.getElementById("tl-main"), r = m.getBoundingClientRect(); m.focus(); m.dispatchEvent(new WheelEvent("wheel", {deltaY: 300, clientX: r.left + 600, clientY: r.top + 60, cancelable: true})); document.querySelector("[data-do=all]").click(); m.dispatchEvent(new PointerEvent("pointermove", {clientX: r.left + 600, clientY: r.top + 60})); })()`, nil))
	p.until(`!document.getElementById("tl-tip").hidden && /held/.test(document.getElementById("tl-tip").textContent)`)
	p.quiet()
}

// Printed, nothing is closed and nothing needs the script.
func TestPrint(t *testing.T) {
	p := open(t, "late-del", 1280, 800)
	p.until(`document.getElementById("tl-main").dataset.ready === "1"`)
	p.do(chromedp.Evaluate(`dispatchEvent(new Event("beforeprint"))`, nil))
	if n := is[int](p, `document.querySelectorAll("details:not([open])").length`); n > 0 {
		t.Errorf("%d parts are closed", n)
	}
	var pdf []byte
	p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) { pdf, _, err = page.PrintToPDF().Do(ctx); return err }))
	if len(pdf) < 10_000 {
		t.Errorf("a print of %d bytes", len(pdf))
	}
	p.quiet()
}

// In make bench: a page of 100,000 events has 2 MB at most, one of a million 4 MB. In the best of its loads, for the host may have
// other work, the stage is usable after 0.3 s and the timeline after 1 s and 1.5 s; a zoom step takes 30 ms at the median.
func BenchmarkPage(b *testing.B) {
	for kind, most := range map[string]struct {
		bytes int64
		ready float64 // ms
	}{"bulk": {2 << 20, 1000}, "huge": {4 << 20, 1500}} {
		b.Run(kind, func(b *testing.B) {
			st, err := os.Stat(filepath.Join(os.Getenv("PAGES"), kind+".html"))
			if err != nil {
				b.Fatal(err)
			}
			stage, ready, zoom := math.Inf(1), math.Inf(1), math.Inf(1)
			for b.Loop() {
				ctx, cancel := chromedp.NewContext(browser)
				var staged, read, zoomed float64
				err := chromedp.Run(ctx, chromedp.EmulateViewport(1280, 800),
					chromedp.Navigate("file://"+filepath.Join(os.Getenv("PAGES"), kind+".html")),
					chromedp.Poll(`document.getElementById("tl-main").dataset.ready === "1"`, nil),
					chromedp.Evaluate(`+document.getElementById("stage").dataset.ready`, &staged),
					chromedp.Evaluate(`performance.now()`, &read),
					chromedp.Evaluate(
						`(async () => { const out = [], m = document.getElementById("tl-main"); document.querySelector("[data-do=all]").click(); for (let i = 0; i < 24; i++) { document.querySelector(i % 12 < 6 ? "[data-do=in]" : "[data-do=out]").click(); await new Promise(r => requestAnimationFrame(() => setTimeout(r, 0))); out.push(+m.dataset.ms); } out.sort((a, b) => a - b); return out[12]; })()`, &zoomed, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
				cancel()
				if err != nil {
					b.Fatal(err)
				}
				stage, ready, zoom = min(stage, staged), min(ready, read), min(zoom, zoomed)
			}
			b.ReportMetric(stage, "ms-to-stage")
			b.ReportMetric(ready, "ms-to-timeline")
			b.ReportMetric(zoom, "ms-zoom-median")
			if stage > 300 || ready > most.ready || zoom > 30 {
				b.Errorf("%s: the stage after %.0f ms, the timeline after %.0f ms, a zoom step of %.1f ms", kind, stage, ready, zoom)
			}
			b.ReportMetric(float64(st.Size()), "bytes")
			if st.Size() > most.bytes {
				b.Errorf("%s has %d bytes", kind, st.Size())
			}
		})
	}
}
