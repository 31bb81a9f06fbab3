package flow

import (
	"path/filepath"
	"slices"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/baseline/localdir"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// DeskFolder holds what a desk keeps beside the suite file.
const DeskFolder = ".perfweir"

// baselineFolder is where a suite's sessions are stored.
func (su *suite) baselineFolder(o Options) string {
	switch dir := su.file.Baseline.Dir; {
	case o.Baseline != "":
		return o.Baseline
	case dir == "":
		return filepath.Join(su.root, DeskFolder, "baseline", plan.CleanName(su.file.Suite.Name))
	case filepath.IsAbs(dir):
		return dir
	default:
		return filepath.Join(su.root, dir)
	}
}

// baseline reads the stored sessions and chooses among them.
func (su *suite) baseline(o Options, w baseline.Want) *baseline.Baseline {
	dir := su.baselineFolder(o)
	origin := "folder " + su.shown(dir)
	candidates, err := localdir.Candidates(dir)
	if err != nil {
		return &baseline.Baseline{State: baseline.Failed, Reason: err.Error(), Origin: origin}
	}
	return baseline.Select(su.file.Baseline, w, origin, candidates)
}

// shown is a path as it is told: relative to the suite's folder where it is below.
func (su *suite) shown(path string) string {
	if rel, err := filepath.Rel(su.root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// want is what a document needs a baseline to be.
func want(doc *result.Document) baseline.Want {
	w := baseline.Want{Suite: doc.Suite.Name, Sessions: map[string]bool{}}
	for i := range doc.Sessions {
		s := &doc.Sessions[i]
		w.Sessions[s.ID] = true
		if i == 0 {
			w.Host, w.Machine, w.StartedAt = s.Host, s.Machine, s.StartedAt
		}
	}
	return w
}

// judge holds a document against budgets and baseline.
func (s Shell) judge(r rules, doc *result.Document, b *baseline.Baseline) (*verdict.Document, error) {
	budgets := slices.Clone(r.head.file.Budgets)
	for i := range budgets {
		budgets[i].Source.Path = doc.Suite.Path
	}
	policy := r.head.policy()
	if r.require {
		policy.On[verdict.NoBaseline] = gate.ActionFail
		if r.base != nil {
			r.base.Policy.On[verdict.NoBaseline] = gate.ActionFail
		}
	}
	return gate.Evaluate(gate.Input{
		Current: doc, Baseline: b, Budgets: budgets, Policy: policy, Base: r.base, JudgedBy: r.judgedBy,
		Command: "perfweir ci --fresh -c " + gate.ShellQuote(r.config),
	})
}

// tests is how many gated tests a plan will make, and the most of one kind that
// its repeats can carry: told before anything runs.
type tests struct {
	n, unpaired, paired int // n: in all
	needUnpaired        int // repeats that the family needs
	needPaired          int
	repeats             int // fewest of a tested cell
}

// count finds the tests that the budgets will make of a plan. Metrics that are
// not noisy need no test.
func (su *suite) count(p *plan.Plan) tests {
	t := tests{}
	for i, n := range su.testsOf(p.Cells) {
		t.unpaired += n.unpaired
		t.paired += n.paired
		if n.unpaired+n.paired > 0 && (t.repeats == 0 || p.Cells[i].Repeats < t.repeats) {
			t.repeats = p.Cells[i].Repeats
		}
	}
	t.n = t.unpaired + t.paired
	if t.n > 0 {
		level := su.file.Gate.FalseAlarms / float64(t.n)
		t.needUnpaired, t.needPaired = stats.SmallestNUnpaired(level), stats.SmallestNPaired(level)
	}
	return t
}

// cellTests are the gated tests of one cell.
type cellTests struct{ unpaired, paired int }

// testsOf finds the tests that the budgets will make of each cell.
func (su *suite) testsOf(cells []plan.Cell) []cellTests {
	out := make([]cellTests, len(cells))
	noisy := su.noisyMetrics()
	for i := range cells {
		c, t := &cells[i], &out[i]
		target := budget.Target{Name: c.Name, Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input}
		var selected []int
		metrics := map[string]bool{}
		for j := range su.file.Budgets {
			if b := &su.file.Budgets[j]; b.Selects(target) {
				selected = append(selected, j)
				metrics[b.Metric] = true
			}
		}
		for m := range metrics {
			for _, j := range budget.For(su.file.Budgets, selected, m, "", "") {
				b := &su.file.Budgets[j]
				if !b.Kind.Relative() || b.Level != budget.Fail || !noisy(m) || b.Against == budget.AgainstVariant+c.Variant {
					continue
				}
				if b.Against == budget.AgainstBaseline || b.Against == "" {
					t.unpaired++
				} else {
					t.paired++
				}
			}
		}
	}
	return out
}

// noisyMetrics tells which metrics need a test: built-in ones by the catalogue,
// the suite's own by their readers.
func (su *suite) noisyMetrics() func(string) bool {
	class := map[string]result.Class{}
	for name, m := range result.Catalogue() {
		class[name] = m.Class
	}
	for name, m := range su.file.Suite.Metrics {
		class[name] = result.Class(m.Class)
	}
	for i := range su.file.Suite.Benchmarks {
		for _, r := range su.file.Suite.Benchmarks[i].Exec.Read {
			if r.Def != nil {
				class[r.Metric] = result.Class(r.Def.Class)
			}
		}
	}
	return func(m string) bool {
		c, known := class[m]
		return !known || c == result.Noisy || c == result.Tail
	}
}

// announce says what a plan will do and what it can decide.
func (s Shell) announce(su *suite, p *plan.Plan) {
	runs, warmups := 0, 0
	for i := range p.Order.Len() {
		if p.Order.Repeat[i] == 0 {
			warmups++
		} else {
			runs++
		}
	}
	s.say("%s, %s and %s, order seed %d", plural(len(p.Cells), "cell"), plural(runs, "run"), plural(warmups, "warm-up"), p.Seed)
	t := su.count(p)
	if t.n == 0 {
		return
	}
	if len(p.Looks) > 1 {
		s.announceLooks(su, p, t.n)
		return
	}
	s.say("false-alarm rate %g %%, shared by %s", su.file.Gate.FalseAlarms*100, plural(t.n, "test"))
	if t.unpaired > 0 && t.repeats < t.needUnpaired {
		s.say("warning: %d repeats cannot prove a regression among %d tests: %d against one stored session of as many would; set repeats to %d", t.repeats, t.n, t.needUnpaired, t.needUnpaired)
	}
	if t.paired > 0 && t.repeats < t.needPaired {
		s.say("warning: %d repeats cannot prove a regression against a variant among %d tests: %d would; set repeats to %d", t.repeats, t.n, t.needPaired, t.needPaired)
	}
}
