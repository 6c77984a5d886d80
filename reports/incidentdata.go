package reports

import (
	"strings"

	"github.com/lockstorm/lockstorm/internal/lists"
)

type incidentData struct {
	Head   string     `json:"head"`
	Class  string     `json:"class"`
	Checks []string   `json:"checks"`
	Links  []string   `json:"links"` // ids of its findings in the page
	From   int64      `json:"b"`
	To     int64      `json:"e"`
	Window [2]int64   `json:"w"`
	Grants []int      `json:"g"`
	Fault  int        `json:"fault,omitempty"`
	Cause  string     `json:"cause"`
	Steps  []stepData `json:"steps"`
	Proof  []int64    `json:"pr,omitempty"` // events of its proof
}

type stepData struct {
	At    int64  `json:"t"`
	Text  string `json:"x"`
	Bad   bool   `json:"bad,omitempty"`
	Event int64  `json:"ev"` // -1: none
}

// incidentOf is an incident as the page's data has it; grants are the places of grants in it.
func incidentOf(h *happening, grants map[string]int) incidentData {
	f := h.first()
	out := incidentData{
		Head: cut(strings.TrimPrefix(h.kinds+". "+headlineOf(f), ". "), 1000), Class: string(f.Class), From: us(f.From), To: us(f.To),
		Window: [2]int64{us(h.window.From), us(h.window.To)},
		Fault:  f.Fault, Cause: cut(capital(because(f)), 1000), Grants: []int{}, Steps: []stepData{}, Proof: provenOf(h),
	}
	for _, one := range h.found {
		out.Checks = lists.With(out.Checks, cut(one.Check, maxText))
		out.Links = append(out.Links, findingID(one.Check, one.at))
		for _, id := range one.Finding.Grants {
			if g, ok := grants[id]; ok {
				out.Grants = lists.With(out.Grants, g)
			}
		}
	}
	for _, s := range h.steps[:min(len(h.steps), 40)] {
		out.Steps = append(out.Steps, stepData{us(s.At), cut(s.Text, 1000), s.Bad, eventOf(s)})
	}
	return out
}
