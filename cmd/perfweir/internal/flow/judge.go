package flow

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/baseline/localdir"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/worktree"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/budget"
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
func (su *suite) baseline(ctx context.Context, o Options, w baseline.Want) *baseline.Baseline {
	w.Anchor = su.anchorCommit(ctx, su.file.Baseline.Anchor)
	return su.baselineFor(o, su.file.Baseline, w)
}

func (su *suite) baselineFor(o Options, policy baseline.Policy, w baseline.Want) *baseline.Baseline {
	dir := su.baselineFolder(o)
	origin := "folder " + su.shown(dir)
	candidates, err := localdir.Candidates(dir)
	if err != nil {
		return &baseline.Baseline{State: baseline.Failed, Reason: err.Error(), Origin: origin}
	}
	return baseline.Select(policy, w, origin, candidates)
}

// anchorCommit is the full hash of a tag or commit, "" where git does not know it.
func (su *suite) anchorCommit(ctx context.Context, anchor string) string {
	if anchor == "" {
		return ""
	}
	if c, err := worktree.ReadCommit(ctx, su.root, anchor); err == nil {
		return c.ID
	}
	if id, err := hex.DecodeString(anchor); err == nil && (len(id) == 20 || len(id) == 32) {
		return strings.ToLower(anchor) // of a commit that a shallow clone lacks
	}
	return ""
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
// again are the doubts that were measured again; nil: none were.
func (s Shell) judge(r rules, doc *result.Document, b *baseline.Baseline, again *result.Document) (*verdict.Document, error) {
	file := r.head.file
	budgets, accepted, quarantine := slices.Clone(file.Budgets), slices.Clone(file.Accepted), slices.Clone(file.Quarantine)
	for i := range budgets {
		budgets[i].Source.Path = doc.Suite.Path
	}
	for _, list := range [][]budget.Exception{accepted, quarantine} {
		for i := range list {
			list[i].Source.Path = doc.Suite.Path
		}
	}
	policy := r.head.policy()
	policy.Measured = measuredBy(r.selftest, doc.Sessions[0].Host)
	if r.require {
		policy.On[verdict.NoBaseline] = gate.ActionFail
		if r.base != nil {
			r.base.Policy.On[verdict.NoBaseline] = gate.ActionFail
		}
	}
	command := "perfweir ci --fresh -c " + gate.ShellQuote(r.config)
	if commit := comparedBuild(doc, again).Commit; commit != "" {
		command += " --base " + commit[:min(12, len(commit))]
	}
	return gate.Evaluate(gate.Input{
		Current: doc, Confirmation: again, Baseline: b, Budgets: budgets, Policy: policy, Base: r.base, JudgedBy: r.judgedBy,
		Accepted: accepted, Quarantine: quarantine, AcceptedBy: r.by, Note: r.why,
		Command: command,
	})
}

// tests is how many gated tests a plan will make: told before anything runs.
type tests struct {
	n    int
	more bool // parts that a tool prints are not known before it has run
}

// String counts them: "3 tests", "at least 3 tests".
func (t *tests) String() string {
	if t.more {
		return "at least " + plural(t.n, "test")
	}
	return plural(t.n, "test")
}

// count finds the tests that the budgets will make of a plan. Metrics that are
// not noisy need no test. Every part that a reader names is a test of its own; a
// metric whose parts a tool names counts once a cell.
func (su *suite) count(p *plan.Plan) tests {
	t := tests{}
	_, base := p.Builds[result.BuildBase]
	for _, n := range su.testsOf(p.SuiteCells(), base) {
		t.n += n.n()
		t.more = t.more || n.more
	}
	return t
}

// cellTests are the gated tests of one cell.
type cellTests struct {
	unpaired, paired int
	more             bool // there may be more: a tool names the parts
}

func (t *cellTests) n() int { return t.unpaired + t.paired }

// add counts a test. Where the base build is measured beside head, what is held
// against the baseline is paired with it.
func (t *cellTests) add(b *budget.Budget, base bool) {
	if !base && (b.Against == budget.AgainstBaseline || b.Against == "") {
		t.unpaired++
	} else {
		t.paired++
	}
}

// testsOf finds the tests that the budgets will make of each cell. Cells of the
// base build have none of their own; base says that there are, or will be, some.
func (su *suite) testsOf(cells []plan.Cell, base bool) []cellTests {
	out := make([]cellTests, len(cells))
	noisy := su.noisyMetrics()
	for i := range cells {
		if cells[i].Build != result.BuildBase {
			su.testsOfCell(&cells[i], &out[i], noisy, base)
		}
	}
	return out
}

func (su *suite) testsOfCell(c *plan.Cell, t *cellTests, noisy func(metric string) bool, base bool) {
	all := su.file.Budgets
	target := budget.Target{Name: c.Name, Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input}
	selected := map[string][]int{} // by metric
	for j := range all {
		if b := &all[j]; noisy(b.Metric) && b.Selects(target) {
			selected[b.Metric] = append(selected[b.Metric], j)
		}
	}
	tested := func(j int) bool {
		b := &all[j]
		return b.Kind.Relative() && b.Level == budget.Fail && b.Against != budget.AgainstVariant+c.Variant
	}
	for m, candidates := range selected {
		parts, open := partsOf(c, m)
		var rules []int
		for _, part := range parts {
			rules = append(rules, budget.For(all, candidates, m, "", part)...)
		}
		if open {
			rules = oneEach(all, candidates, tested)
		}
		for _, j := range slices.DeleteFunc(rules, func(j int) bool { return !tested(j) }) {
			t.more = t.more || open
			t.add(&all[j], base)
		}
	}
}

// partsOf are the parts that a metric will have in a cell; "" is the whole. open:
// a tool names them, and nobody knows how many they are.
func partsOf(c *plan.Cell, metric string) (parts []string, open bool) {
	for i := range c.Exec.Read {
		r := &c.Exec.Read[i]
		derived := (r.Samples != "" || r.Count != "") && strings.HasPrefix(metric, r.Metric+"_")
		if r.Metric != "" && (r.Metric == metric || derived) && !slices.Contains(parts, r.Part) {
			parts = append(parts, r.Part)
		}
		open = open || r.Format != ""
	}
	if len(parts) > 0 {
		return parts, false
	}
	if m, ok := result.Catalogue()[metric]; ok && m.Source != "report" {
		open = false // measured by us, of the whole
	}
	return []string{""}, open
}

// oneEach keeps one budget of each rule, whatever parts it is about: one that
// holds where there is one. A later budget on all parts stands in the others' place.
func oneEach(all []budget.Budget, candidates []int, holds func(int) bool) []int {
	var out []int
	for _, i := range candidates {
		b := &all[i]
		at := slices.IndexFunc(out, func(j int) bool { return budget.SameRule(&all[j], b) })
		switch {
		case at < 0:
			out = append(out, i)
		case b.Part == "" || !holds(out[at]):
			out[at] = i
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

// announce says what a plan will do.
func (s Shell) announce(su *suite, p *plan.Plan) {
	runs, warmups := 0, 0
	for i := range p.Order.Len() {
		if p.Order.Repeat[i] == 0 {
			warmups++
		} else {
			runs++
		}
	}
	cells := plural(len(p.SuiteCells()), "cell")
	if p.HasControl() {
		cells += " and the control cell"
	}
	s.say("%s, %s and %s, order seed %d", cells, plural(runs, "run"), plural(warmups, "warm-up"), p.Seed)
	t := su.count(p)
	if t.n == 0 {
		return
	}
	more := ""
	if t.more {
		more = ": parts that a tool prints are tests of their own"
	}
	if len(p.Looks) > 1 {
		s.announceLooks(su, p, &t, more)
		return
	}
	s.say("false-alarm rate %g %%, shared by %s%s", su.file.Gate.FalseAlarms*100, &t, more)
}
