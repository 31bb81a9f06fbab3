package gate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// exceptions are the entries of one kind in both suite files.
type exceptions struct {
	kind string
	head []budget.Exception
	base []budget.Exception // of the comparison commit; nil where it has no say
}

// looseException is an entry of head's that does not count yet, and the one of
// base's that counts in its place (budget.None: none does).
type looseException struct {
	kind       string
	head, base int
}

// excuses is what the suite files excuse, and what became of it.
type excuses struct {
	accepted, quarantine exceptions
	known                map[verdict.Excuse]int // index into the document's
	quarantined          []int                  // findings
	loose                map[looseException]int // in so many cells
}

func newExcuses(in *Input) excuses {
	x := excuses{known: map[verdict.Excuse]int{}, loose: map[looseException]int{},
		accepted:   exceptions{kind: verdict.ExcuseAccepted, head: in.Accepted},
		quarantine: exceptions{kind: verdict.ExcuseQuarantine, head: in.Quarantine}}
	if in.Base != nil {
		x.accepted.base = ofCommit(in.Base.Accepted, in.Base.Commit)
		x.quarantine.base = ofCommit(in.Base.Quarantine, in.Base.Commit)
	}
	return x
}

// ofCommit says of entries that they are a commit's.
func ofCommit(list []budget.Exception, commit string) []budget.Exception {
	out := slices.Clone(list)
	for i := range out {
		out[i].Source.Commit = commit
	}
	return out
}

// setAside takes the findings of quarantined cells out of what is judged, before
// anything else: they are shown, share no error rate and decide nothing.
func (e *evaluation) setAside() {
	for i := range e.out.Findings {
		f := &e.out.Findings[i]
		entry, ok := e.exception(&e.excuses.quarantine, f)
		if !ok {
			continue
		}
		e.warnOfExpiry(&e.excuses.quarantine, entry)
		if entry.Expired(e.startedAt()) {
			continue
		}
		f.Gated = false
		f.Excuse = e.excuse(verdict.ExcuseQuarantine, entry, false)
		e.excuses.quarantined = append(e.excuses.quarantined, i)
	}
}

// aside reports whether setAside takes a finding out.
func (e *evaluation) aside(f *verdict.Finding) bool {
	entry, ok := e.exception(&e.excuses.quarantine, f)
	return ok && !entry.Expired(e.startedAt())
}

// excuseFindings gives excused findings their outcome, once all are decided.
func (e *evaluation) excuseFindings() {
	for _, i := range e.excuses.quarantined {
		f := &e.out.Findings[i]
		x := &e.out.Excuses[*f.Excuse]
		f.Was, f.Outcome, f.Grade, f.Settle = f.Outcome, verdict.Quarantined, "", nil
		f.Message = fmt.Sprintf("quarantined until %s (%s): %s", x.Expires, x.Reason, f.Message)
	}
	for i := range e.out.Findings {
		e.accept(&e.out.Findings[i])
	}
	e.tellLooseExceptions()
}

// accept excuses a finding whose whole change from the baseline is inside what
// somebody accepted. Beyond that limit, and once it has expired, the budget
// counts, and the finding says so.
func (e *evaluation) accept(f *verdict.Finding) {
	if f.Comparison == nil || f.Outcome == verdict.Quarantined {
		return
	}
	cmp := &e.out.Comparisons[*f.Comparison]
	if strings.HasPrefix(cmp.Against, budget.AgainstVariant) {
		return // what another variant costs is no change
	}
	entry, ok := e.exception(&e.excuses.accepted, f)
	if !ok {
		return
	}
	e.warnOfExpiry(&e.excuses.accepted, entry)
	if f.Outcome != verdict.Fail && f.Grade != verdict.Suspect {
		return
	}
	expired := entry.Expired(e.startedAt())
	f.Excuse = e.excuse(verdict.ExcuseAccepted, entry, expired)
	dir := e.budgets[f.Budget].Direction(e.in.Current.Metrics[f.Metric].Better)
	switch {
	case expired:
		f.Reasons = append(f.Reasons, reasonExpired)
		f.Message += fmt.Sprintf("; accepted up to %s until %s, which is past", entry.Text, entry.Expires)
	case beyondAccepted(&entry, cmp, dir):
		f.Reasons = append(f.Reasons, reasonBeyondAccepted)
		f.Message += fmt.Sprintf("; accepted up to %s, is %s", entry.Text, e.changeText(f.Metric, cmp, dir))
	default:
		f.Was, f.Outcome, f.Grade, f.Settle = f.Outcome, verdict.Accepted, "", nil
		f.Message += fmt.Sprintf("; accepted up to %s until %s: %s", entry.Text, entry.Expires, entry.Reason)
	}
}

// Reasons of a finding that an entry was about and did not excuse.
const (
	reasonExpired        = "acceptance_expired"
	reasonBeyondAccepted = "beyond_accepted"
)

// beyondAccepted compares the estimate of the change with what is accepted. It is
// the estimate that counts, not its bound: whether there is a change is decided
// already, and the limit is how large it was said to be.
func beyondAccepted(x *budget.Exception, cmp *verdict.Comparison, dir float64) bool {
	if x.Amount == 0 && cmp.Ratio != nil {
		return grain(dir*(*cmp.Ratio-1)) > grain(x.Limit)
	}
	return grain(dir*cmp.Shift) > grain(x.Limit*math.Abs(cmp.Reference)+x.Amount)
}

// changeText is how much worse a value is, as the limit of an entry is written.
func (e *evaluation) changeText(metric string, cmp *verdict.Comparison, dir float64) string {
	if cmp.Ratio != nil {
		return unit.Percentage(dir * (*cmp.Ratio - 1))
	}
	return unit.Format(dir*cmp.Shift, unitOf(e.in.Current.Metrics[metric]))
}

// exception finds the entry that counts for a finding: the last one of the file
// that is about it, one that still counts before one that has expired. Where the
// comparison commit's file has a say, an entry counts that is in both, as the
// stricter of both has it: one that the change adds counts after the merge, one
// that it takes away counts no more.
func (e *evaluation) exception(x *exceptions, f *verdict.Finding) (budget.Exception, bool) {
	if len(x.head) == 0 {
		return budget.Exception{}, false
	}
	now, was, decides := e.targets(f.Cell)
	h := e.last(x.head, now, f.Metric, f.Part)
	if h == budget.None {
		return budget.Exception{}, false
	}
	if !decides {
		return x.head[h], true
	}
	b := e.last(x.base, was, f.Metric, f.Part)
	if b == budget.None {
		return budget.Exception{}, false
	}
	return budget.Stricter(x.base[b], x.head[h]), true
}

func (e *evaluation) last(list []budget.Exception, t budget.Target, metric, part string) int {
	found := budget.None
	for i := range list {
		x := &list[i]
		if x.Selects(t) && x.Covers(metric, part) && (found == budget.None || !x.Expired(e.startedAt())) {
			found = i
		}
	}
	return found
}

// targets is what a cell is called in head's suite and in base's, and whether
// base's has a say about it.
func (e *evaluation) targets(cell int) (now, was budget.Target, baseDecides bool) {
	row := &e.out.Cells[cell]
	now = budget.Target{Name: row.Name, Benchmark: row.Benchmark, Variant: row.Variant, Input: row.Input}
	if e.base == nil || e.in.AcceptedBy != nil {
		return now, now, false
	}
	if cell >= len(e.rulings) { // a cell that is gone
		return now, now, e.base.cells[BenchmarkVariant{row.Benchmark, row.Variant}]
	}
	r := &e.rulings[cell]
	return now, r.earlier(now), r.known
}

// earlier is what a cell is called in base's suite.
func (r *ruling) earlier(now budget.Target) budget.Target {
	if r.known && r.benchmark != now.Benchmark {
		now.Name, now.Benchmark = result.PrintedName(r.benchmark, now.Variant, now.Input), r.benchmark
	}
	return now
}

// excuse puts an entry into the document, once.
func (e *evaluation) excuse(kind string, entry budget.Exception, expired bool) *int {
	x := verdict.Excuse{Kind: kind, Exception: entry, Expired: expired}
	i, ok := e.excuses.known[x]
	if !ok {
		i = len(e.out.Excuses)
		e.excuses.known[x] = i
		e.out.Excuses = append(e.out.Excuses, x)
	}
	return &i
}

// expirySoon is from how many days before its end on an entry is told.
const expirySoon = 14

// warnOfExpiry tells, once an entry, that it has expired or soon will.
func (e *evaluation) warnOfExpiry(x *exceptions, entry budget.Exception) {
	left := entry.Left(e.startedAt())
	what := x.kind + " " + exceptionSubject(&entry)
	var text string
	switch {
	case left < 0 && x.kind == verdict.ExcuseQuarantine:
		text = fmt.Sprintf("%s (%s) expired on %s: it counts again", what, entry.Reason, entry.Expires)
	case left < 0:
		text = fmt.Sprintf("%s (%s) expired on %s: its budget counts again", what, entry.Reason, entry.Expires)
	case left <= expirySoon:
		text = fmt.Sprintf("%s (%s) expires in %s, on %s", what, entry.Reason, days(left), entry.Expires)
	default:
		return
	}
	if !slices.Contains(e.out.Warnings, text) {
		e.out.Warnings = append(e.out.Warnings, text)
	}
}

func days(n int) string {
	switch n {
	case 0:
		return "less than a day"
	case 1:
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

// exceptionSubject is what an entry is about: "wall_time in benchmark encode".
func exceptionSubject(x *budget.Exception) string {
	s := subject(&budget.Budget{Metric: x.Metric, Part: x.Part, Cells: x.Cells, Benchmark: x.Benchmark, Variant: x.Variant, Input: x.Input})
	return strings.TrimPrefix(s, " in ")
}

// exceptionText is an entry's limit and end.
func exceptionText(x *budget.Exception) string {
	if x.Text == "" {
		return "until " + x.Expires
	}
	return "limit: " + x.Text + ", until " + x.Expires
}

// tellLooseExceptions lists the entries of head's that excuse more than base's:
// they count after the merge.
func (e *evaluation) tellLooseExceptions() {
	if e.base == nil {
		return
	}
	for _, x := range []*exceptions{&e.excuses.accepted, &e.excuses.quarantine} {
		for i := range e.views {
			if e.rulings[i].known {
				e.countLooseExceptions(x, i)
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(e.excuses.loose), func(a, b looseException) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.head, b.head), cmp.Compare(a.base, b.base))
	})
	for _, rule := range order {
		x := &e.excuses.accepted
		if rule.kind == e.excuses.quarantine.kind {
			x = &e.excuses.quarantine
		}
		now := &x.head[rule.head]
		l := verdict.Loosened{Text: rule.kind + " " + exceptionSubject(now), Now: exceptionText(now), Cells: e.excuses.loose[rule],
			Source: budget.Source{HeadLine: now.Source.Line, Commit: e.in.Base.Commit}}
		if rule.base != budget.None {
			l.Was, l.Source = exceptionText(&x.base[rule.base]), x.base[rule.base].Source
			l.Source.HeadLine = now.Source.Line
		}
		e.out.Loosened = append(e.out.Loosened, l)
	}
}

func (e *evaluation) countLooseExceptions(x *exceptions, cell int) {
	row := &e.out.Cells[cell]
	now := budget.Target{Name: row.Name, Benchmark: row.Benchmark, Variant: row.Variant, Input: row.Input}
	was := e.rulings[cell].earlier(now)
	for h := range x.head {
		entry := &x.head[h]
		if !entry.Selects(now) || entry.Expired(e.startedAt()) {
			continue
		}
		best, enough := budget.None, false
		for b := range x.base {
			if x.base[b].Selects(was) && (x.base[b].Metric == "" || x.base[b].Metric == entry.Metric) {
				best, enough = b, enough || entry.Within(&x.base[b])
			}
		}
		if !enough {
			e.excuses.loose[looseException{x.kind, h, best}]++
		}
	}
}
