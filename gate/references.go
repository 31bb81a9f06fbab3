package gate

import (
	"fmt"

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
	stored   map[result.ID][]storedCell // newest session first
}

// storedCell is a cell of a stored document, seen in one of its sessions.
type storedCell struct {
	view    *view
	doc     *result.Document
	session int // index into doc.Sessions
	order   int // index into baseline.Sessions
}

func newReferences(cur *result.Document, views []view, b *baseline.Baseline) *references {
	r := &references{current: cur, views: views, byID: make(map[result.ID]int, len(views)), baseline: b,
		stored: map[result.ID][]storedCell{}}
	for i := range views {
		r.byID[views[i].cell.ID()] = i
	}
	if b == nil {
		return r
	}
	shared := map[*result.Document][]view{}
	for order, s := range b.Sessions {
		if shared[s.Doc] == nil {
			vs := make([]view, len(s.Doc.Cells))
			for i := range s.Doc.Cells {
				vs[i] = newView(&s.Doc.Cells[i])
			}
			shared[s.Doc] = vs
		}
		vs := shared[s.Doc]
		for i := range vs {
			id := vs[i].cell.ID()
			r.stored[id] = append(r.stored[id], storedCell{&vs[i], s.Doc, s.Index, order})
		}
	}
	return r
}

// storedFor finds the stored cells of a cell: by its identity, else by an
// earlier name of its benchmark.
func (r *references) storedFor(c *result.Cell) []storedCell {
	if s := r.stored[c.ID()]; len(s) > 0 {
		return s
	}
	for _, was := range c.Was {
		id := c.ID()
		id.Benchmark = was
		if s := r.stored[id]; len(s) > 0 {
			return s
		}
	}
	return nil
}

// sample is the reference of one column: stored sessions, newest first, or the
// runs of a variant of the same session.
type sample struct {
	sessions [][]float64 // by stored session
	variant  []point     // of a variant
	// why there is nothing to compare with, when there is not.
	outcome verdict.Outcome
	reason  string
	// programs is set when the newest stored session ran the same programs.
	samePrograms bool
}

func (s *sample) missing() bool { return s.outcome != "" }

func (s *sample) pooled() []float64 {
	if len(s.sessions) == 1 {
		return s.sessions[0]
	}
	var out []float64
	for _, v := range s.sessions {
		out = append(out, v...)
	}
	return out
}

// fromBaseline collects a column's reference from the stored sessions.
func (r *references) fromBaseline(c *result.Cell, col *result.Column) sample {
	if r.baseline == nil || len(r.baseline.Sessions) == 0 {
		return sample{outcome: r.stateOutcome(), reason: r.stateReason()}
	}
	stored := r.storedFor(c)
	if len(stored) == 0 {
		return sample{outcome: verdict.New, reason: "the baseline has no such cell"}
	}
	var out sample
	def := r.current.Metrics[col.Metric]
	why := ""
	for _, s := range stored {
		if s.view.cell.Digest != c.Digest {
			why = first(why, "its definition changed: arguments, environment, input or readers are not what the baseline measured")
			continue
		}
		if diff := definitionDifference(def, s.doc.Metrics[col.Metric]); diff != "" && s.doc.Metrics[col.Metric].Unit != "" {
			why = first(why, diff)
			continue
		}
		sc := s.view.column(col.Metric, col.Phase, col.Part)
		if sc == nil {
			continue
		}
		if v := s.view.sessionValues(sc, s.session); len(v) > 0 {
			if len(out.sessions) == 0 {
				out.samePrograms = SamePrograms(r.current.Builds[result.BuildHead], s.doc.Builds[result.BuildHead])
			}
			out.sessions = append(out.sessions, v)
		}
	}
	switch {
	case len(out.sessions) > 0:
	case why != "":
		out.outcome, out.reason = verdict.NotComparable, why
	default:
		out.outcome, out.reason = verdict.New, "the baseline has no value of this metric for this cell"
	}
	return out
}

func (r *references) stateOutcome() verdict.Outcome {
	if r.baseline != nil && r.baseline.State == baseline.Incomparable {
		return verdict.NotComparable
	}
	return verdict.NoBaseline
}

func (r *references) stateReason() string {
	if r.baseline == nil {
		return "no baseline was given"
	}
	return r.baseline.Reason
}

// fromVariant collects a column's reference from a variant of the same document.
func (r *references) fromVariant(c *result.Cell, col *result.Column, variant string) sample {
	id := c.ID()
	id.Variant = variant
	i, ok := r.byID[id]
	if !ok {
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
	return sample{variant: points, samePrograms: false}
}

// definitionDifference says in which way two definitions of one metric cannot
// be compared; "" when they can (V43).
func definitionDifference(a, b result.Metric) string {
	switch {
	case a.Unit != b.Unit || a.Per != b.Per:
		return fmt.Sprintf("its unit is %q here and %q in the baseline", a.Unit, b.Unit)
	case a.Better != b.Better:
		return fmt.Sprintf("better is %q here and %q in the baseline", a.Better, b.Better)
	case a.Class != b.Class:
		return fmt.Sprintf("its class is %q here and %q in the baseline", a.Class, b.Class)
	}
	return ""
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

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
