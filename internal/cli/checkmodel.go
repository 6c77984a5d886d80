package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/lists"
	"github.com/lockstorm/lockstorm/internal/operations"
	"github.com/lockstorm/lockstorm/internal/operations/models"
)

// modelFlags are those of check for histories of other tools.
type modelFlags struct {
	model       string
	independent bool
}

// modelHelp lists the models.
func modelHelp() string {
	var b strings.Builder
	for _, m := range models.Catalogue() {
		fmt.Fprintf(&b, "  %-16s %s\n", m.Name, m.Doc)
	}
	return b.String()
}

// modelResult is what --json prints for one file.
type modelResult struct {
	File       string           `json:"file"`
	Model      string           `json:"model"`
	Format     string           `json:"format"`
	Verdict    models.Verdict   `json:"verdict"`
	ExitCode   int              `json:"exit_code"`
	Operations int              `json:"operations"`
	Unknown    int              `json:"unknown"`
	Failed     int              `json:"failed"`
	Objects    []modelledObject `json:"objects"`
	NotJudged  []string         `json:"not_judged"`
}

type modelledObject struct {
	Key     string         `json:"key"`
	Verdict models.Verdict `json:"verdict"`
	Line    int            `json:"line,omitempty"`   // of the operation that cannot follow
	Before  []string       `json:"before,omitempty"` // what the object can be before it
	Proof   []int          `json:"proof,omitempty"`  // lines of the operations that cannot be ordered
	Minimal bool           `json:"minimal,omitempty"`
}

// checkModel judges histories of other tools by a model.
func (a *App) checkModel(ctx context.Context, paths []string, f modelFlags, asJSON bool) error {
	m, err := models.Parse(f.model)
	if err != nil {
		return harness.Usage(fmt.Errorf("--model: %w", err))
	}
	worst := harness.ExitPass
	var all []modelResult
	for _, path := range paths {
		r, err := a.modelled(ctx, m, path, f, asJSON)
		switch {
		case ctx.Err() != nil:
			return errors.Join(printResults(a, all, asJSON, len(paths)), a.Exit(harness.ExitInterrupted))
		case err != nil:
			fmt.Fprintf(a.st.Stderr, "%s: check: %s: %s\n", a.st.Name, path, err)
			worst = worse(worst, harness.ExitUsage)
			continue
		}
		worst = worse(worst, r.ExitCode)
		all = append(all, r)
	}
	if err := printResults(a, all, asJSON, len(paths)); err != nil {
		return err
	}
	return a.Exit(worst)
}

func (a *App) modelled(ctx context.Context, m models.Model, path string, f modelFlags, asJSON bool) (modelResult, error) {
	file, err := os.Open(path)
	if err != nil {
		return modelResult{}, err
	}
	defer file.Close() //nolint:errcheck // only read
	if st, err := file.Stat(); err == nil && st.IsDir() {
		return modelResult{}, errors.New("the argument is a directory, but --model needs a file of operations (Jepsen's history.edn, " +
			"or JSON)")
	}
	h, err := operations.Read(file, operations.Options{Keyed: f.independent})
	if err != nil {
		return modelResult{}, err
	}
	judged, err := models.Judge(ctx, m, h)
	if err != nil {
		return modelResult{}, err
	}
	r := modelResult{
		File: path, Model: m.Name, Format: h.Format, Verdict: models.Worst(judged), Operations: len(h.Calls), Unknown: h.Unknown(),
		Failed:    h.Failed,
		NotJudged: notJudged(m), Objects: []modelledObject{},
	}
	if len(h.Calls) == 0 {
		r.Verdict = models.Unknown
	}
	r.ExitCode = map[models.Verdict]int{
		models.Pass: harness.ExitPass, models.Failed: harness.ExitViolation,
		models.Unknown: harness.ExitUnknown,
	}[r.Verdict]
	for _, o := range judged {
		r.Objects = append(r.Objects, objectOf(o))
	}
	if !asJSON {
		tellModelled(a.st.Stdout, m, h, r, judged)
		fmt.Fprintln(a.st.Stdout, a.coloured(false, r.ExitCode, headOfModel(m, r)))
	}
	return r, nil
}

func objectOf(o models.Result) modelledObject {
	out := modelledObject{Key: o.Key, Verdict: o.Verdict, Before: o.Before, Minimal: o.Minimal}
	if o.At != nil {
		out.Line = o.At.Invoke.Line
	}
	for _, c := range o.Proof {
		out.Proof = append(out.Proof, c.Invoke.Line)
	}
	return out
}

// notJudged is what a history of operations does not say.
func notJudged(m models.Model) []string {
	out := []string{
		"leases count as never ending, because the history does not say when they end: a grant after an expiry counts as a " +
			"violation",
		"lost updates are not judged: the history does not contain the writes to the protected data",
		"liveness and fairness are not judged: the history does not say when faults ended",
	}
	if !strings.HasPrefix(m.Name, "register") && m.Name != "fenced-mutex" {
		out = append(out, "fencing tokens are not judged: only the model fenced-mutex judges fencing tokens")
	}
	return out
}

const mostKeys = 20 // listed, and most operations of a proof

// tellModelled prints what was read and found.
func tellModelled(w io.Writer, m models.Model, h *operations.History, r modelResult, judged []models.Result) {
	fmt.Fprintf(w, "%s: %s, %s by %s (%d with unknown outcome; ignored: %s", r.File, h.Format, Plural(len(h.Calls), "operation"),
		Plural(h.Processes(), "process"), r.Unknown, Plural(r.Failed, "failed operation"))
	if h.Skipped > 0 {
		fmt.Fprintf(w, " and %s of the nemesis (the program that injected faults)", Plural(h.Skipped, "event"))
	}
	fmt.Fprintf(w, ")\n\n  model         %s: %s\n", m.Name, m.Doc)
	listed := 0
	for _, o := range judged {
		if len(judged) > 1 && o.Verdict == models.Pass {
			continue
		}
		if listed++; listed > mostKeys {
			fmt.Fprintf(w, "  not listed: %s that also did not pass\n", Plural(len(judged)-orderly(judged)-mostKeys, "key"))
			break
		}
		tellObject(w, m, o)
	}
	if n := orderly(judged); n > 0 && len(judged) > 1 {
		fmt.Fprintf(w, "  %-12s  %d of %s\n", "pass", n, Plural(len(judged), "key"))
	}
	for i, text := range r.NotJudged {
		name := ""
		if i == 0 {
			name = "not judged"
		}
		fmt.Fprintf(w, "  %-12s  %s\n", name, text)
	}
	fmt.Fprintln(w)
}

func orderly(judged []models.Result) int {
	return len(lists.Filter(judged, func(o models.Result) bool { return o.Verdict == models.Pass }))
}

func tellObject(w io.Writer, m models.Model, o models.Result) {
	of := ""
	if o.Key != "" {
		of = "key " + operations.Shown(o.Key) + ": "
	}
	fmt.Fprintf(w, "  %-12s  ", o.Verdict)
	switch o.Verdict {
	case models.Pass:
		fmt.Fprintf(w, "%sthe operations have an order in which the model allows every operation\n", of)
		return
	case models.Unknown:
		fmt.Fprintf(w, "%sno verdict: too many possible orders to try them all\n", of)
		return
	}
	fmt.Fprintf(w, "%s%s is impossible: %s\n", of, described(o.At), statesBefore(m, o))
	if len(o.Proof) == 0 {
		return
	}
	shown := slices.Clone(o.Proof)
	if extra := len(shown) - mostKeys; extra > 0 {
		slices.SortFunc(shown, func(a, b *operations.Call) int { return cmp.Compare(a.To, b.To) })
		shown = shown[extra:]
		slices.SortFunc(shown, func(a, b *operations.Call) int { return cmp.Compare(a.From, b.From) })
		fmt.Fprintf(w, "                no short proof: lockstorm found only that %d of the %d operations have no order. The last "+
			"%d, which decide:\n",
			len(o.Proof), o.Operations, mostKeys)
	} else {
		fmt.Fprintf(w, "                proof: the model allows no order of %s, whichever of the others took effect:\n",
			these(len(shown), o.Minimal))
	}
	for _, c := range shown {
		fmt.Fprintf(w, "                  %s\n", described(c))
	}
}

// statesBefore says in what state the object can be before the operation that is impossible.
func statesBefore(m models.Model, o models.Result) string {
	if len(o.Before) == 1 {
		return "before this operation " + o.Before[0]
	}
	object := "lock"
	if strings.HasPrefix(m.Name, "register") {
		object = "register"
	}
	text := fmt.Sprintf("the earlier operations leave the %s in one of %d states, and none allows this operation: %s",
		object, len(o.Before)+o.More, strings.Join(o.Before, "; "))
	if o.More > 0 {
		text += fmt.Sprintf("; and %d more", o.More)
	}
	return text
}

func these(n int, minimal bool) string {
	switch {
	case n == 1:
		return "this operation"
	case minimal:
		return fmt.Sprintf("these %d operations", n)
	}
	return fmt.Sprintf("these %d operations (fewer may do)", n)
}

// described is an operation in words.
func described(c *operations.Call) string {
	text := fmt.Sprintf("%s by process %s", operations.Shown(c.F), operations.Shown(c.Process))
	switch {
	case c.Anyone:
		text += " (client unknown)"
	case c.Owner != c.Process:
		text += fmt.Sprintf(" (client %s)", operations.Shown(c.Owner))
	}
	var values []string
	for _, v := range []any{c.In, c.Out} {
		if v != nil && !slices.Contains(values, operations.Text(v)) {
			values = append(values, operations.Text(v))
		}
	}
	if len(values) > 0 {
		text += ", value " + strings.Join(values, " -> ")
	}
	if c.Return == nil || c.Unknown() {
		return text + fmt.Sprintf(" (line %d, outcome unknown)", c.Invoke.Line)
	}
	return text + fmt.Sprintf(" (lines %d to %d)", c.Invoke.Line, c.Return.Line)
}

// headOfModel is the last line.
func headOfModel(m models.Model, r modelResult) string {
	switch r.Verdict {
	case models.Pass:
		return "pass: linearizable as " + m.Name
	case models.Failed:
		return "violation: not linearizable as " + m.Name
	}
	if r.Operations == 0 {
		return "inconclusive: nothing to judge: the file contains no operation that took effect, or may have"
	}
	return "inconclusive: too many possible orders to try them all"
}
