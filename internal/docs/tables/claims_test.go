package tables

import (
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/docs/measured"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
)

// Claims are the rows of docs/claims.md: the claims of the articles and what became of them, by stored answers.
func Claims(answers []cases.ClaimResult) *measured.Table {
	t := &measured.Table{About: measured.Row{}}
	for _, a := range answers {
		if a.LostCount != "" {
			t.About["lost_count"] = a.LostCount
		}
	}
	for _, c := range cases.Claims() {
		picture := ""
		if pictures[c.Number] != nil {
			picture = "claim-" + strconv.Itoa(c.Number) + ".svg"
		}
		t.Rows = append(t.Rows, measured.Row{
			"number": strconv.Itoa(c.Number), "claim": c.Text, "articles": strings.ReplaceAll(c.Articles, ", ", " "),
			"verdict": string(c.Judged(answers)), "note": c.Note, "picture": picture,
		})
	}
	return t
}
