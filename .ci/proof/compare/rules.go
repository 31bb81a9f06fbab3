package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// rule names the rows of a session that it calls a regression. before are the
// sessions in which nothing was injected, oldest first, at least one.
type rule struct {
	name string
	runs int // of each cell in a session; 0: all
	red  func(cur *session, before []*session) (map[string]bool, error)
}

// limit of perfweir's budgets here.
const limit = 0.10

func rules(benchstat string) []rule {
	threshold := func(limit float64) func(*session, []*session) (map[string]bool, error) {
		return each(func(x, y []float64) bool { return y[0] > x[0]*(1+limit) })
	}
	welch := func(limit float64) func(*session, []*session) (map[string]bool, error) {
		return each(func(x, y []float64) bool {
			t, err := stats.Welch(x[:min(8, len(x))], y[:min(8, len(y))])
			return err == nil && t.PTwoSided < 0.05 && mean(y, 8) > mean(x, 8)*(1+limit)
		})
	}
	return []rule{
		{"perfweir, budget 10 %", 0, perfweir},
		{"one run, threshold 10 %", 1, threshold(0.10)},
		{"one run, threshold 20 %", 1, threshold(0.20)},
		{"one run, threshold 200 % (github-action-benchmark)", 1, threshold(1)}, // its 200 % is twice
		{"Welch of 8 runs, p < .05 (perfgate's test)", 8, welch(0)},
		{"Welch of 8 runs, p < .05, and 20 % (perfgate)", 8, welch(0.20)},
		{"benchstat, p < .05", 0, func(cur *session, before []*session) (map[string]bool, error) {
			return runBenchstat(benchstat, cur, before[len(before)-1])
		}},
	}
}

func key(r *row) string { return r.cell + " " + r.metric }

func mean(x []float64, n int) float64 {
	x = x[:min(n, len(x))]
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// each holds every row against the newest session before.
func each(worse func(x, y []float64) bool) func(*session, []*session) (map[string]bool, error) {
	return func(cur *session, before []*session) (map[string]bool, error) {
		red := map[string]bool{}
		for i := range cur.rows {
			r := &cur.rows[i]
			if old := before[len(before)-1].find(r); old != nil && worse(old.values, r.values) {
				red[key(r)] = true
			}
		}
		return red, nil
	}
}

// perfweir judges as `perfweir ci` at a desk does, with up to ten stored sessions.
func perfweir(cur *session, before []*session) (map[string]bool, error) {
	return perfweirWith(cur, before, 10)
}

func perfweirWith(cur *session, before []*session, most int) (map[string]bool, error) {
	var candidates []baseline.Candidate
	for i, s := range before[max(0, len(before)-most):] {
		candidates = append(candidates, baseline.Candidate{File: fmt.Sprint(i), Doc: document(s, i)})
	}
	doc := document(cur, most)
	b := baseline.Select(baseline.Policy{Sessions: most}, baseline.Want{Suite: "aa", StartedAt: doc.Sessions[0].StartedAt}, "recorded", candidates)
	var budgets []budget.Budget
	for _, m := range metrics {
		budgets = append(budgets, budget.Budget{Metric: m.name, Kind: budget.MaxRegression, Limit: limit})
	}
	v, err := gate.Evaluate(gate.Input{Current: doc, Baseline: b, Budgets: budgets, Policy: gate.DefaultPolicy()})
	if err != nil {
		return nil, err
	}
	red := map[string]bool{}
	for i := range v.Findings {
		if f := &v.Findings[i]; f.Gated && f.Outcome == verdict.Fail {
			red[v.Cells[f.Cell].Name+" "+f.Metric] = true
		}
	}
	return red, nil
}

// document is a session as results, started at hour at.
func document(s *session, at int) *result.Document {
	d := &result.Document{Header: result.Header{Schema: result.Schema, Suite: result.Suite{Name: "aa"},
		Builds: map[string]result.Build{result.BuildHead: {}}, Metrics: map[string]result.Metric{},
		Sessions: []result.Session{{ID: fmt.Sprint("S", at), StartedAt: time.Unix(int64(at)*3600, 0).UTC(), Replicates: result.ReplicatesProcess}}}}
	catalogue := result.Catalogue()
	for _, m := range metrics {
		d.Metrics[m.name] = catalogue[m.name]
	}
	for i := range s.rows {
		r := &s.rows[i]
		n := len(d.Cells)
		if n == 0 || d.Cells[n-1].Name != r.cell {
			c := result.Cell{Name: r.cell, Benchmark: r.cell, Build: result.BuildHead, Digest: "recorded", Planned: len(r.values)}
			for k := range r.values {
				c.Runs.Repeat, c.Runs.Block, c.Runs.Slot = append(c.Runs.Repeat, k+1), append(c.Runs.Block, k+1), append(c.Runs.Slot, 0)
				c.Runs.Start = append(c.Runs.Start, float64(k))
			}
			d.Cells = append(d.Cells, c)
			n++
		}
		d.Cells[n-1].Columns = append(d.Cells[n-1].Columns, result.Column{Metric: r.metric, V: r.values})
	}
	d.Plan.Looks = []int{len(s.rows[0].values)}
	return d
}

// runBenchstat runs the program on two files in the Go benchmark format.
func runBenchstat(program string, cur, old *session) (map[string]bool, error) {
	dir, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, s := range map[string]*session{"old": old, "new": cur} {
		var b bytes.Buffer
		for i := range s.rows {
			for _, v := range s.rows[i].values {
				fmt.Fprintf(&b, "Benchmark%s:%s 1 %.9f sec/op\n", s.rows[i].cell, s.rows[i].metric, v)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(program, "-format", "csv", filepath.Join(dir, "old"), filepath.Join(dir, "new"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("benchstat: %w: %s", err, &stderr)
	}
	return redRows(out)
}

// redRows reads benchstat's table: name, old, CI, new, CI, change, p. A change is
// "~" where p is not below .05.
func redRows(table []byte) (map[string]bool, error) {
	r := csv.NewReader(bytes.NewReader(table))
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("benchstat: %w", err)
	}
	red := map[string]bool{}
	seen := 0
	for _, l := range lines {
		name, metric, ok := strings.Cut(l[0], ":")
		if !ok || len(l) < 7 {
			continue
		}
		seen++
		metric, _, _ = strings.Cut(metric, "-")
		if strings.HasPrefix(l[5], "+") {
			red[name+" "+metric] = true
		}
	}
	if seen == 0 {
		return nil, fmt.Errorf("benchstat: no comparison in its table:\n%s", table)
	}
	return red, nil
}
