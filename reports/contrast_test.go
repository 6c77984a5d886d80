package reports

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// rgb is a colour of the style sheet, each part from 0 to 1.
type rgb [3]float64

// luminance is the relative luminance of WCAG 2.
func (c rgb) luminance() float64 {
	var lin [3]float64
	for i, v := range c {
		if lin[i] = v / 12.92; v > 0.04045 {
			lin[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*lin[0] + 0.7152*lin[1] + 0.0722*lin[2]
}

// contrast is the ratio of WCAG 2, from 1 to 21.
func contrast(a, b rgb) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func TestContrastRatio(t *testing.T) {
	white, black, grey := rgb{1, 1, 1}, rgb{}, rgb{0x77 / 255., 0x77 / 255., 0x77 / 255.}
	if got := contrast(white, black); math.Abs(got-21) > 0.01 {
		t.Errorf("white on black: %.2f, want 21", got)
	}
	if got := contrast(grey, white); math.Abs(got-4.48) > 0.01 {
		t.Errorf("#777 on white: %.2f, want 4.48", got)
	}
}

var (
	variables = regexp.MustCompile(`--([a-z]+):#([0-9a-f]{6});`)
	blocks    = regexp.MustCompile(`(?s):root \{(.*?)\}`)
)

// palettes are the colours of the light and the dark scheme by name.
func palettes(t *testing.T) (css string, light, dark map[string]rgb) {
	t.Helper()
	raw := asset("style.css", "stage.css")
	found := blocks.FindAllStringSubmatch(raw, -1)
	if len(found) != 2 {
		t.Fatalf("%d blocks of colours, want a light and a dark one", len(found))
	}
	read := func(text string) map[string]rgb {
		out := map[string]rgb{}
		for _, m := range variables.FindAllStringSubmatch(text, -1) {
			n, err := strconv.ParseUint(m[2], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			out[m[1]] = rgb{float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255}
		}
		return out
	}
	return raw, read(found[0][1]), read(found[1][1])
}

// Text and marks stand out by 4.5:1 and larger shapes by 3:1, in both schemes. Print has
// the colours of the light one.
func TestContrast(t *testing.T) {
	css, light, dark := palettes(t)
	if !strings.Contains(css, "@media screen and (prefers-color-scheme: dark) { :root {") {
		t.Error("the dark scheme is not for screens only: print would be dark")
	}
	for name := range light {
		if _, ok := dark[name]; !ok {
			t.Errorf("the dark scheme lacks %s", name)
		}
	}
	for scheme, colours := range map[string]map[string]rgb{"light": light, "dark": dark} {
		check := func(what string, fore, ground rgb, least float64) {
			if got := contrast(fore, ground); got < least {
				t.Errorf("%s: %s: %.2f, want %.1f", scheme, what, got, least)
			}
		}
		card := colours["card"]
		for _, text := range []string{"ink", "soft", "red", "green", "amber", "blue", "violet"} {
			check(text+" on a card", colours[text], card, 4.5)
			check(text+" on a line that is named", colours[text], colours["named"], 4.5)
		}
		for _, text := range []string{"ink", "soft", "blue"} {
			check(text+" on the page", colours[text], colours["bg"], 4.5)
		}
		for _, chip := range [][2]string{
			{"warn", "warnpale"}, {"red", "redpale"}, {"green", "okpale"}, {"soft", "otherpale"}, {"ink", "otherpale"},
		} {
			check("a chip in "+chip[0], colours[chip[0]], colours[chip[1]], 4.5)
		}
		for _, bar := range []string{"me", "other"} {
			check("the name on "+bar, colours["on"], colours[bar], 4.5)
			check(bar+" on the card", colours[bar], card, 3)
		}
		check("the name of the story's client on its pale bar", colours["me"], colours["mepale"], 4.5)
		check("a number on the stairs", colours["soft"], colours["otherpale"], 4.5)
		check("ink on a beat", colours["ink"], colours["mepale"], 4.5)
		for _, role := range []string{"master", "replica", "down", "role"} {
			check("the label on "+role, colours["label"], colours[role], 4.5)
		}
		for _, shape := range []string{"hold", "lease", "waiting", "master", "replica", "down", "role", "server", "fault", "overlap"} {
			check(shape+" on the card", colours[shape], card, 3)
		}
		check("the ring of a use", colours["ring"], card, 4.5)
		check("a use on a hold", colours["use"], colours["hold"], 4.5)
		check("uses on a hold", colours["ring"], colours["hold"], 3)
		check("a read in its ring", colours["open"], colours["use"], 4.5)
		for _, cross := range []string{"red", "violet", "soft"} {
			check("a cross in its halo: "+cross, colours[cross], card, 4.5)
		}
	}
}

// Every colour is one of the named ones, so that none escapes the test above.
func TestColoursAreNamed(t *testing.T) {
	css, light, _ := palettes(t)
	rest := blocks.ReplaceAllString(css, "")
	if m := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|rgba?\(|hsl`).FindString(rest); m != "" {
		t.Errorf("a colour without a name: %s", m)
	}
	for _, m := range regexp.MustCompile(`var\(--([a-z]+)\)`).FindAllStringSubmatch(rest, -1) {
		if _, ok := light[m[1]]; !ok {
			t.Errorf("%s is not defined", m[1])
		}
	}
	page, err := assets.ReadFile("page.gohtml")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`style="|fill="#|stroke="#`).FindString(string(page)); m != "" {
		t.Errorf("the page has a style of its own: %s", m)
	}
}
