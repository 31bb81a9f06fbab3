package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// references finds what a cell of the current document is compared with.
type references struct {
	current  *result.Document
	views    []view
	byID     map[result.ID]int // index into views
	baseline *baseline.Baseline
	stored   [][]storedCell // by current cell; newest session first
	anchored [][]storedCell // likewise, of the anchor; nil without one
	variants map[BenchmarkVariant]bool
	// base are the base build's cells by the identity of head's, as far as views
	// go; nil: it was not measured in this session.
	base map[result.ID]*view
	// mixed says how the machines of the current sessions differ: no stored
	// session can be of both. "" where they do not.
	mixed string
	// storedControl are the stored sessions' control cells, newest session first.
	storedControl []storedCell
	// soft are the stored sessions whose machine differs in soft facts.
	soft map[*result.Session]bool
}

// storedCell is a cell of a stored document, seen in one of its sessions.
type storedCell struct {
	view    *view
	doc     *result.Document
	session int // index into doc.Sessions
	number  int // position among the baseline's sessions, newest first
}

// storedDocument is a stored document with its cells sorted out.
type storedDocument struct {
	views []view
	byID  map[result.ID]int // index into views
}

func newReferences(cur *result.Document, views []view, b *baseline.Baseline) *references {
	r := &references{current: cur, views: views, byID: index(views), baseline: b, stored: make([][]storedCell, len(views)),
		variants: map[BenchmarkVariant]bool{}}
	for i := range views {
		r.variants[BenchmarkVariant{views[i].cell.Benchmark, views[i].cell.Variant}] = true
	}
	for i := 1; i < len(cur.Sessions) && r.mixed == ""; i++ {
		r.mixed = baseline.HostDifference(cur.Sessions[0].Host, cur.Sessions[i].Host)
	}
	if b == nil {
		return r
	}
	r.soft = softSessions(cur.Sessions[0].Host, b.Sessions)
	kept := b.Sessions
	if b.Anchor != nil {
		kept = slices.Concat(kept, b.Anchor.Sessions)
	}
	documents := sortOut(kept)
	r.stored = r.matching(documents, b.Sessions)
	r.storedControl = controls(documents, b.Sessions)
	if b.Anchor != nil && len(b.Anchor.Sessions) > 0 {
		r.anchored = r.matching(documents, b.Anchor.Sessions)
	}
	return r
}

// matching finds each current cell in stored sessions.
func (r *references) matching(documents map[*result.Document]*storedDocument, sessions []baseline.Stored) [][]storedCell {
	out := make([][]storedCell, len(r.views))
	parallel(len(r.views), func(i int) {
		ids := r.views[i].cell.IDs()
		for n, s := range sessions {
			if v := documents[s.Doc].find(ids); v != nil {
				out[i] = append(out[i], storedCell{v, s.Doc, s.Index, n})
			}
		}
	})
	return out
}

// controls finds the control cells of stored sessions.
func controls(documents map[*result.Document]*storedDocument, sessions []baseline.Stored) []storedCell {
	id := []result.ID{{Benchmark: result.ControlBenchmark, Build: result.BuildHead}}
	var out []storedCell
	for n, s := range sessions {
		if v := documents[s.Doc].find(id); v != nil && v.cell.Control {
			out = append(out, storedCell{v, s.Doc, s.Index, n})
		}
	}
	return out
}

// sortOut makes the views of all stored documents, each once however many of its
// sessions were taken.
func sortOut(sessions []baseline.Stored) map[*result.Document]*storedDocument {
	out := map[*result.Document]*storedDocument{}
	for _, s := range sessions {
		if out[s.Doc] == nil {
			d := &storedDocument{views: make([]view, len(s.Doc.Cells))}
			parallel(len(d.views), func(i int) { d.views[i] = newView(&s.Doc.Cells[i]) })
			d.byID = index(d.views)
			out[s.Doc] = d
		}
	}
	return out
}

func index(views []view) map[result.ID]int {
	byID := make(map[result.ID]int, len(views))
	for i := range views {
		byID[views[i].cell.ID()] = i
	}
	return byID
}

// find returns the cell of the first identity that the document has.
func (d *storedDocument) find(ids []result.ID) *view {
	for _, id := range ids {
		if i, ok := d.byID[id]; ok {
			return &d.views[i]
		}
	}
	return nil
}

// sample is the reference of one column: the runs of stored sessions, or of a
// variant of the same session.
type sample struct {
	values  []float64 // of all stored sessions, the newest first
	ends    []int     // where each session ends in values
	numbers []int     // position of each session among the baseline's
	variant []point   // of a variant, or of the base build
	// redefined counts stored sessions that measured something else, and
	// redefinition says what, where there are others.
	redefined    int
	redefinition string
	// why there is nothing to compare with, when there is not.
	outcome verdict.Outcome
	reason  string
	// samePrograms is set when the newest stored session ran the same programs.
	samePrograms bool
	// withinProcess is set when the numbers are repeats of one process.
	withinProcess bool
	// soft is set when a stored session's machine differs in soft facts.
	soft bool
}

func (s *sample) missing() bool { return s.outcome != "" }

// session returns the values of stored session i, the newest first.
func (s *sample) session(i int) []float64 {
	from := 0
	if i > 0 {
		from = s.ends[i-1]
	}
	return s.values[from:s.ends[i]:s.ends[i]]
}

// fromBaseline collects a column's reference from the stored sessions.
func (r *references) fromBaseline(cell int, col *result.Column) sample {
	if r.baseline == nil || len(r.baseline.Sessions) == 0 {
		return sample{outcome: r.stateOutcome(), reason: r.stateReason()}
	}
	if why := r.incomparable(); why != "" {
		return sample{outcome: verdict.NotComparable, reason: why}
	}
	return r.collect(r.views[cell].cell.Digest, col, r.stored[cell])
}

// collect takes a column's values from stored sessions of a cell, as far as they may
// be compared with one of this digest.
func (r *references) collect(digest string, col *result.Column, stored []storedCell) sample {
	if len(stored) == 0 {
		return sample{outcome: verdict.New, reason: "the baseline has no such cell"}
	}
	var out sample
	why := ""
	for _, s := range stored {
		if s.view.cell.Digest != digest {
			why = first(why, "its definition changed: arguments, environment, input or readers are not what the baseline measured")
			out.redefined++
			continue
		}
		column := s.view.column(col.Metric, col.Phase, col.Part)
		if column == nil {
			continue
		}
		if diff := definitionDifference(r.current.Metrics[col.Metric], s.doc.Metrics[col.Metric]); diff != "" {
			why = first(why, diff)
			out.redefined++
			continue
		}
		out.add(r.current, s, column, len(stored))
		out.soft = out.soft || r.soft[&s.doc.Sessions[s.session]]
	}
	switch {
	case len(out.ends) > 0:
		out.redefinition = why
	case why != "":
		out.outcome, out.reason = verdict.NotComparable, why
	default:
		out.outcome, out.reason = verdict.New, "the baseline has no value of this metric for this cell"
	}
	return out
}

// add appends the clean values of one more stored session, if it has any.
func (s *sample) add(current *result.Document, from storedCell, col *result.Column, sessions int) {
	if s.values == nil {
		s.values = make([]float64, 0, sessions*len(from.view.clean))
	}
	before := len(s.values)
	s.values = from.view.appendValues(s.values, col, from.session)
	if len(s.values) == before {
		return
	}
	if len(s.ends) == 0 {
		s.samePrograms = SamePrograms(current.Builds[result.BuildHead], from.doc.Builds[result.BuildHead])
		s.ends, s.numbers = make([]int, 0, sessions), make([]int, 0, sessions)
	}
	s.ends, s.numbers = append(s.ends, len(s.values)), append(s.numbers, from.number)
	s.withinProcess = s.withinProcess || from.doc.Sessions[from.session].Replicates == result.ReplicatesWithinProcess
}

// stateOutcome is what a budget against the baseline is when there is none:
// "there is none" decides nothing, "could not ask" is no answer (V17).
func (r *references) stateOutcome() verdict.Outcome {
	switch {
	case r.baseline == nil:
	case r.baseline.State == baseline.Incomparable:
		return verdict.NotComparable
	case r.baseline.State == baseline.Failed:
		return verdict.NoData
	}
	return verdict.NoBaseline
}

func (r *references) stateReason() string {
	if r.baseline == nil {
		return "no baseline was given"
	}
	return first(r.unread(), r.baseline.Reason)
}

// unread says why the baseline could not be asked for; "" when it could.
func (r *references) unread() string {
	if r.baseline == nil || r.baseline.State != baseline.Failed {
		return ""
	}
	return "the baseline could not be read: " + r.baseline.Reason
}

// incomparable says why nothing can be compared with the stored sessions, whatever
// the cell; "" when something may.
func (r *references) incomparable() string {
	switch {
	case r.mixed != "":
		return "it was measured on more than one machine: " + r.mixed
	case r.baseline != nil && r.baseline.State == baseline.Incomparable:
		return r.baseline.Reason
	}
	return ""
}

// hasVariant reports whether a benchmark has a variant, measured or left out.
// Of a document that is only a part of its suite nobody knows: then it may.
func (r *references) hasVariant(benchmark, variant string) bool {
	return r.variants[BenchmarkVariant{benchmark, variant}] || r.current.Plan.Partial() || r.skipped(benchmark, variant)
}

// skipped reports whether cells of a benchmark's variant were left out.
func (r *references) skipped(benchmark, variant string) bool {
	prefix := result.PrintedName(benchmark, variant, "")
	return slices.ContainsFunc(r.current.Skipped, func(s result.Skipped) bool {
		return s.Name == prefix || strings.HasPrefix(s.Name, prefix+"/")
	})
}

// fromVariant collects a column's reference from a variant of the same document.
func (r *references) fromVariant(c *result.Cell, col *result.Column, variant string) sample {
	id := c.ID()
	id.Variant = variant
	i, ok := r.byID[id]
	switch {
	case !ok && r.current.Plan.Partial() && !r.skipped(c.Benchmark, variant):
		return sample{outcome: verdict.NotComparable, reason: fmt.Sprintf("variant %q is not in this part of the suite", variant)}
	case !ok:
		return sample{outcome: verdict.NoData, reason: fmt.Sprintf("variant %q was not measured on this input", variant)}
	}
	rc := r.views[i].column(col.Metric, col.Phase, col.Part)
	if rc == nil {
		return sample{outcome: verdict.NoData, reason: fmt.Sprintf("variant %q has no value of this metric", variant)}
	}
	points := r.views[i].points(rc)
	if len(points) == 0 {
		return sample{outcome: verdict.NoData, reason: fmt.Sprintf("variant %q has no clean run", variant)}
	}
	return sample{variant: points}
}

// definitionDifference says in which way a metric is defined otherwise in the
// baseline, so that its values cannot be compared; "" when it is not (V43).
func definitionDifference(here, there result.Metric) string {
	const where = "in the baseline"
	class := ""
	if here.Class != there.Class {
		class = fmt.Sprintf("its class is %q here and %q %s", here.Class, there.Class, where)
	}
	return first(unitDifference(here, there, where), directionDifference(here, there, where), class)
}

func unitDifference(here, there result.Metric, where string) string {
	if here.Unit == there.Unit && here.Per == there.Per {
		return ""
	}
	return fmt.Sprintf("its unit is %q here and %q %s", unitOf(here), unitOf(there), where)
}

func directionDifference(here, there result.Metric, where string) string {
	if here.Better == there.Better {
		return ""
	}
	return fmt.Sprintf("better is %q here and %q %s", here.Better, there.Better, where)
}

// SamePrograms reports whether two builds are known to be the same: the same
// programs, and the same tracked files around them where git could tell.
func SamePrograms(a, b result.Build) bool {
	if len(a.Programs) == 0 || len(a.Programs) != len(b.Programs) || a.Tree != b.Tree {
		return false
	}
	for name, digest := range a.Programs {
		if b.Programs[name] != digest {
			return false
		}
	}
	return true
}

// first is the first text that says something.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
