package report

import (
	"io"
	"strings"

	"github.com/perfweir/perfweir/gate/verdict"
)

// findingsHead is the first line of findings.csv.
const findingsHead = "cell,benchmark,variant,input,build,metric,phase,part,unit,better,class," +
	"outcome,grade,gated,level,kind,limit,amount,min_delta,budget,place," +
	"against,design,n_current,n_reference,sessions,current,reference,ratio,ratio_low,ratio_high," +
	"shift,shift_low,shift_high,value,n,allowed,p,p_adjusted,error_level,bound,allowance," +
	"smallest_effect,settle_repeats,settle_sessions,settle_base," +
	"confirmed_outcome,confirmed_ratio,confirmed_low,confirmed_high,confirmed_n,confirmed_look,reasons,doubts,message\n"

// FindingsCSV writes findings.csv: one row a finding in the order of the
// document, all numbers in base units and in full precision, empty where there
// is none.
func FindingsCSV(w io.Writer, v *verdict.Document, _ Options) error {
	f := &facts{v: v}
	c := newCSVWriter(w, "findings.csv")
	c.write([]byte(findingsHead))
	r := csvRow{buf: make([]byte, 0, 1<<10)}
	for i := range v.Findings {
		r.begin()
		f.csvIdentity(&r, &v.Findings[i])
		f.csvBudget(&r, &v.Findings[i])
		f.csvComparison(&r, &v.Findings[i])
		f.csvDecision(&r, &v.Findings[i])
		f.csvWords(&r, &v.Findings[i])
		r.end()
		c.write(r.buf)
	}
	return c.flush()
}

func (f *facts) csvIdentity(r *csvRow, x *verdict.Finding) {
	c := f.cell(x.Cell)
	for _, s := range [...]string{c.Name, c.Benchmark, c.Variant, c.Input, c.Build, x.Metric, x.Phase, x.Part} {
		r.text(s)
	}
	m := f.v.Metrics[x.Metric]
	r.text(unitText(m))
	r.text(m.Better)
	r.text(string(m.Class))
	r.text(string(x.Outcome))
	r.text(x.Grade)
	r.bool(x.Gated)
}

func (f *facts) csvBudget(r *csvRow, x *verdict.Finding) {
	b := f.budget(x.Budget)
	r.text(string(b.Level))
	r.text(string(b.Kind))
	r.float(b.Limit)
	r.float(b.Amount)
	r.float(b.MinDelta)
	r.text(f.budgetText(b))
	r.text(budgetPlace(b))
}

// comparisonFields is how many fields csvComparison writes.
const comparisonFields = 13

func (f *facts) csvComparison(r *csvRow, x *verdict.Finding) {
	c := f.comparison(x)
	if c == nil {
		for range comparisonFields {
			r.empty()
		}
		return
	}
	r.text(c.Against)
	r.text(c.Design)
	r.int(c.N[0])
	r.int(c.N[1])
	r.int(c.Sessions)
	r.float(c.Current)
	r.float(c.Reference)
	r.maybe(c.Ratio)
	r.bounds(c.RatioInterval)
	r.float(c.Shift)
	r.bounds(c.ShiftInterval)
}

func (f *facts) csvDecision(r *csvRow, x *verdict.Finding) {
	r.maybe(x.Value)
	r.int(x.N)
	r.maybe(x.Allowed)
	r.maybe(x.P)
	r.maybe(x.PAdjusted)
	r.float(x.Level)
	r.maybe(x.Bound)
	r.float(x.Allowance)
	r.maybe(x.SmallestEffect)
	var s verdict.Settle
	if x.Settle != nil {
		s = *x.Settle
	}
	r.int(s.Repeats)
	r.int(s.Sessions)
	r.bool(s.Base)
	if k := x.Confirmed; k != nil {
		r.text(string(k.Outcome))
		r.maybe(k.Ratio)
		r.bounds(k.Interval)
		r.int(k.N)
		if k.Look == 0 {
			r.empty()
			return
		}
		r.int(k.Look)
		return
	}
	for range 6 {
		r.empty()
	}
}

func (f *facts) csvWords(r *csvRow, x *verdict.Finding) {
	r.text(strings.Join(x.Reasons, " "))
	doubts := ""
	if c := f.comparison(x); c != nil {
		doubts = strings.Join(c.Doubts, " ")
	}
	r.text(doubts)
	r.text(x.Message)
}
