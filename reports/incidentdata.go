package reports

import "slices"

type incidentData struct {
	Head   string     `json:"head"`
	Class  string     `json:"class"`
	Checks []string   `json:"checks"`
	Rules  []string   `json:"rules"`
	Links  []string   `json:"links"` // ids of its findings in the page
	From   int64      `json:"b"`
	To     int64      `json:"e"`
	Window [2]int64   `json:"w"`
	Grants []int      `json:"g"`
	Events []int64    `json:"ev"`
	Fault  int        `json:"fault,omitempty"`
	Lost   int64      `json:"lost,omitempty"`
	Over   int64      `json:"overwritten,omitempty"`
	Cause  string     `json:"cause"`
	Gating bool       `json:"gating"`
	Steps  []stepData `json:"steps"`
	Proof  []int64    `json:"pr,omitempty"` // events of its proof
}

type stepData struct {
	At    int64  `json:"t"`
	Kind  string `json:"k"`
	Text  string `json:"x"`
	Bad   bool   `json:"bad,omitempty"`
	Event int64  `json:"ev"` // -1: none
}

// incidentOf is an incident as the page's data has it; grants are the places of grants in it.
func incidentOf(h *happening, grants map[string]int) incidentData {
	f := h.first()
	out := incidentData{
		Head: cut(headlineOf(f), 1000), Class: string(f.Class), From: us(f.From), To: us(f.To),
		Window: [2]int64{us(h.window.From), us(h.window.To)},
		Fault:  f.Fault, Lost: f.Lost, Over: f.Overwritten, Cause: cut(capital(because(f)), 1000), Gating: f.Gating && !f.Doubtful,
		Grants: []int{}, Events: []int64{}, Steps: []stepData{}, Proof: provenOf(h),
	}
	for _, one := range h.found {
		if !slices.Contains(out.Checks, one.Check) {
			out.Checks = append(out.Checks, cut(one.Check, maxText))
		}
		if !slices.Contains(out.Rules, one.Finding.Rule) {
			out.Rules = append(out.Rules, cut(one.Finding.Rule, maxText))
		}
		out.Links = append(out.Links, findingID(one.Check, one.at))
		for _, id := range one.Finding.Grants {
			if g, ok := grants[id]; ok && !slices.Contains(out.Grants, g) {
				out.Grants = append(out.Grants, g)
			}
		}
	}
	out.Events = append(out.Events, f.Events[:min(len(f.Events), 40)]...)
	for _, s := range h.steps[:min(len(h.steps), 40)] {
		out.Steps = append(out.Steps, stepData{us(s.At), string(s.Kind), cut(s.Text, 1000), s.Bad, eventOf(s)})
	}
	return out
}
