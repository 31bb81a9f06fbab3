// Command looks reads the documents of .ci/proof/looks.sh, prints the figures for
// docs/statistics.md, and exits 1 where a goal is missed.
//
//	looks FOLDER
//
// FOLDER/DESIGN/CELL/ has the sessions in which more work was put into CELL, or into
// none: NUMBER.verdict.json and NUMBER.results.json. FOLDER/baseline/ has the stored
// sessions' results.
package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Goals: cells whose CV is up to quiet take at most mostShare of the runs that a
// fixed number would, also those that came to a decision by themselves: giving up
// early saves runs too. Where fewer than leastDecided are decided, nothing is proved.
// The rates of sessions that have a fail where nothing was done, and of passes where
// there is more work than the budget allows, must not be above mostFalse, the suite's
// gate.false_alarms.
const (
	quiet        = 0.03
	fixed        = 20
	mostShare    = 0.5
	leastDecided = 0.5
	mostFalse    = 0.05
)

// nothing is the folder of sessions into which nothing was put.
const nothing = "none"

// tally is what became of one cell's budget in several sessions.
type tally struct {
	sessions, runs, passed, failed int
	decidedRuns                    int // of the sessions that passed or failed
}

func (t *tally) add(o tally) {
	t.sessions, t.runs, t.passed, t.failed = t.sessions+o.sessions, t.runs+o.runs, t.passed+o.passed, t.failed+o.failed
	t.decidedRuns += o.decidedRuns
}

func (t *tally) decided() int { return t.passed + t.failed }

// mean is how many runs a session took, decidedMean those that it was decided by.
func (t *tally) mean() float64 { return float64(t.runs) / float64(max(1, t.sessions)) }

func (t *tally) decidedMean() float64 { return float64(t.decidedRuns) / float64(max(1, t.decided())) }

// row is one cell of one design.
type row struct {
	name       string
	cvs        []float64 // of its runs' cpu_time, by session and build
	cv         float64   // the median of cvs
	left, slow tally     // sessions in which nothing was done to it, and in which it had more work
}

// design is how sessions were compared.
type design struct {
	name, text string
	rows       []*row
	byName     map[string]*row
	sessions   int
	red        int // sessions with a fail in what nothing was done to
}

func main() { proof.Main("looks", run) }

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: looks FOLDER")
	}
	var missed []string
	for _, d := range []*design{{name: "stored", text: "against stored sessions, looks after 5, 10 and 20 runs"}, {name: "paired", text: "beside the base build, looks after 6, 10 and 20 blocks"}} {
		d.byName = map[string]*row{}
		if err := d.read(args[0]); err != nil {
			return err
		}
		m, err := d.print()
		if err != nil {
			return err
		}
		for _, text := range m {
			missed = append(missed, d.name+": "+text)
		}
	}
	return proof.Missed(missed)
}

// read takes all sessions of a design.
func (d *design) read(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, d.name, "*", "*.verdict.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: no session is there", filepath.Join(folder, d.name))
	}
	for _, file := range files {
		if err := d.session(file, filepath.Base(filepath.Dir(file))); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if d.name == "stored" {
		if files, err = filepath.Glob(filepath.Join(folder, "baseline", "*.json")); err != nil {
			return err
		}
		for _, file := range files {
			r, err := proof.Decode(file, result.Decode)
			if err != nil {
				return err
			}
			if err := d.spreads(r, nothing); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	for _, r := range d.rows {
		if r.cv, err = stats.Median(r.cvs); err != nil {
			return fmt.Errorf("the CV of %s: %w", r.name, err)
		}
	}
	return nil
}

// session takes one session, in which the cell slowed had more work.
func (d *design) session(file, slowed string) error {
	v, err := proof.Decode(file, verdict.Decode)
	if err != nil {
		return err
	}
	r, err := proof.Decode(strings.TrimSuffix(file, "verdict.json")+"results.json", result.Decode)
	if err != nil {
		return err
	}
	if err := d.spreads(r, slowed); err != nil {
		return err
	}
	repeats := map[string]int{}
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Build == result.BuildHead {
			for range c.Runs.Repeats() {
				repeats[c.Name]++
			}
		}
	}
	red, relative := false, 0
	for i := range v.Findings {
		f := &v.Findings[i]
		name := v.Cells[f.Cell].Name
		failed := f.Outcome == verdict.Fail
		red = red || failed && name != slowed
		if !v.Budgets[f.Budget].Kind.Relative() {
			continue
		}
		relative++
		t := tally{sessions: 1, runs: repeats[name]}
		switch f.Outcome {
		case verdict.Fail:
			t.failed, t.decidedRuns = 1, t.runs
		case verdict.Pass, verdict.Suspicious: // an improvement that is too large to be believed
			t.passed, t.decidedRuns = 1, t.runs
		case verdict.Inconclusive:
		default:
			return fmt.Errorf("%s is %s: %s", name, f.Outcome, f.Message)
		}
		if name == slowed {
			d.row(name).slow.add(t)
		} else {
			d.row(name).left.add(t)
		}
	}
	if relative != len(d.rows) || slowed != nothing && d.byName[slowed] == nil {
		return fmt.Errorf("%d budgets on cpu_time in %d cells, %s slowed down", relative, len(d.rows), slowed)
	}
	d.sessions++
	if red {
		d.red++
	}
	return nil
}

// spreads notes the CV of each cell's runs, but of the one that had more work.
func (d *design) spreads(r *result.Document, slowed string) error {
	for i := range r.Cells {
		c := &r.Cells[i]
		w := d.row(c.Benchmark) // in the suite's order, whichever cell had more work
		if c.Benchmark == slowed {
			continue
		}
		for k := range c.Columns {
			if c.Columns[k].Metric != result.CPUTime {
				continue
			}
			values := c.Runs.ValuesOf(&c.Columns[k], c.Runs.Clean(), 0)
			sd, err := stats.StdDev(values)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			m, err := stats.Mean(values)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			w.cvs = append(w.cvs, sd/m)
		}
	}
	return nil
}

func (d *design) row(name string) *row {
	if d.byName[name] == nil {
		d.byName[name] = &row{name: name}
		d.rows = append(d.rows, d.byName[name])
	}
	return d.byName[name]
}

// print writes the table, and the goals that were missed.
func (d *design) print() (missed []string, err error) {
	fmt.Printf("%s:\n| cell | CV | nothing done: runs of %d | decided | failed | 15 %% more: runs | failed | passed |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n", d.text, fixed)
	var left, slow tally
	cells := 0
	for _, r := range d.rows {
		line(r.name, fmt.Sprintf("%.1f %%", 100*r.cv), &r.left, &r.slow)
		if r.cv <= quiet {
			cells++
			left.add(r.left)
			slow.add(r.slow)
		}
	}
	red, err := proof.ShareOf(d.red, d.sessions)
	if err != nil {
		return nil, err
	}
	if cells > 0 {
		line(fmt.Sprintf("**%d of %d cells**", cells, len(d.rows)), fmt.Sprintf("up to %.0f %%", 100*quiet), &left, &slow)
		fmt.Printf("these took %.0f %% of %d runs, where they were decided %.0f %%\n", 100*left.mean()/fixed, fixed, 100*left.decidedMean()/fixed)
	}
	fmt.Printf("sessions with a false fail: %d of %d (95 %%: %.1f to %.1f %%)\n\n", red.Hits, red.N, 100*red.Lower, 100*red.Upper)
	return d.missed(cells, &left, &slow), nil
}

// line is a row of the table: of sessions in which nothing was done, and in which the
// cell had more work.
func line(name, cv string, left, slow *tally) {
	fmt.Printf("| %s | %s | %.1f | %d of %d | %d | %.1f | %d of %d | %d |\n", name, cv, left.mean(), left.decided(), left.sessions, left.failed,
		slow.mean(), slow.failed, slow.sessions, slow.passed)
}

// missed are the goals that were, of the cells that are quiet.
func (d *design) missed(cells int, left, slow *tally) (out []string) {
	if cells == 0 {
		return []string{fmt.Sprintf("no cell has a CV up to %.0f %%: this machine proves nothing about them", 100*quiet)}
	}
	if m := max(left.mean(), left.decidedMean()); m > mostShare*fixed {
		out = append(out, fmt.Sprintf("%.1f runs on average, goal %.0f", m, mostShare*fixed))
	}
	if float64(left.decided()) < leastDecided*float64(left.sessions) {
		out = append(out, fmt.Sprintf("%d of %d decided, goal %.0f %%", left.decided(), left.sessions, 100*leastDecided))
	}
	if proof.TooMany(d.red, d.sessions, mostFalse) {
		out = append(out, fmt.Sprintf("%d of %d sessions have a false fail: more than %.0f %% would give", d.red, d.sessions, 100*mostFalse))
	}
	if proof.TooMany(slow.passed, slow.sessions, mostFalse) {
		out = append(out, fmt.Sprintf("%d of %d cells with more work passed: more than %.0f %% would give", slow.passed, slow.sessions, 100*mostFalse))
	}
	return out
}
