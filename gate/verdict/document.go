// Package verdict owns the verdict document (perfweir.verdict/v1): all findings
// and the outcome of the whole. It is complete: every number, name, unit and
// origin that a report may print is in it, so that comment, summary, terminal,
// JUnit and findings.csv need nothing else.
//
// The room holds types and the codec; gate fills them, report prints them.
package verdict

import (
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
)

// Schema is the tag of the document.
const Schema = "perfweir.verdict/v1"

// Outcome is what was decided about a budget, a cell or the whole.
type Outcome string

// Outcomes, worst first as Compare orders them.
const (
	Interrupted   Outcome = "interrupted"
	Fail          Outcome = "fail"
	Invalid       Outcome = "invalid"
	NoData        Outcome = "no_data"
	NotComparable Outcome = "not_comparable"
	NoBaseline    Outcome = "no_baseline"
	New           Outcome = "new"
	Inconclusive  Outcome = "inconclusive"
	Suspicious    Outcome = "suspicious"
	Quarantined   Outcome = "quarantined"
	Accepted      Outcome = "accepted"
	Pass          Outcome = "pass"
)

// Doubt grades of an undecided finding; its outcome is Inconclusive for Suspect
// and Pass-like (it does not decide) for Unproven.
const (
	Suspect  = "suspect"  // the estimate is beyond the budget
	Unproven = "unproven" // the estimate is inside
)

// Document is a whole verdict.
type Document struct {
	Schema     string                   `json:"schema"`
	Outcome    Outcome                  `json:"outcome"`
	ExitCode   int                      `json:"exit_code"`
	Reasons    []string                 `json:"reasons"` // sentences, the deciding one first
	Policy     Policy                   `json:"policy"`
	Suite      Suite                    `json:"suite"`
	Builds     map[string]result.Build  `json:"builds"`
	Sessions   []result.Session         `json:"sessions"` // of the current document
	Baseline   *Baseline                `json:"baseline,omitempty"`
	Control    *Control                 `json:"control,omitempty"` // nil: the control cell has no say
	Budgets    []budget.Budget          `json:"budgets"`
	Metrics    map[string]result.Metric `json:"metrics"`
	Counts     Counts                   `json:"counts"`
	Skipped    []result.Skipped         `json:"skipped,omitempty"`
	Warnings   []string                 `json:"warnings,omitempty"`    // about the whole: "5 of 10 baseline sessions are older than ..."
	Loosened   []Loosened               `json:"loosened,omitempty"`    // rules that this change loosens or deletes: the old ones decide until the merge
	AcceptedBy *AcceptedBy              `json:"accepted_by,omitempty"` // who let the change's own rules count at once
	// Confirmation is how doubts were measured again; nil: none were.
	Confirmation *Confirmation `json:"confirmation,omitempty"`
	Excuses      []Excuse      `json:"excuses,omitempty"` // entries of accepted and quarantine that findings are about
	Cells        []Cell        `json:"cells"`
	Comparisons  []Comparison  `json:"comparisons"`
	Findings     []Finding     `json:"findings"`
}

// Policy is what the verdict was judged under.
type Policy struct {
	FalseAlarms float64            `json:"false_alarms"` // error rate over the family
	Family      int                `json:"family"`       // tests that share it
	Looks       []int              `json:"looks"`
	Require     string             `json:"require,omitempty"`  // "proof": every gated finding must pass with confidence
	MinSessions int                `json:"min_sessions"`       // stored sessions from which their spread is used
	Control     bool               `json:"control,omitempty"`  // the control cell has a say
	Allowance   map[string]float64 `json:"allowance"`          // added to budgets against fewer sessions, by class
	Measured    string             `json:"measured,omitempty"` // what told the spread between sessions while they are fewer: then nothing is added
	On          map[string]string  `json:"on"`                 // outcome -> neutral, pass, warn, fail
}

// RequireProof as Policy.Require makes unproven findings decide.
const RequireProof = "proof"

// Decides reports whether a finding counts in the verdict: it is gated, and not
// merely unproven unless proof is required.
func (d *Document) Decides(f *Finding) bool {
	return f.Gated && (f.Grade != Unproven || d.Policy.Require == RequireProof)
}

// Stops reports whether an outcome of a deciding finding fails the job.
func (p *Policy) Stops(o Outcome) bool {
	return o.Red() || p.On[string(o)] == "fail" || o == Inconclusive && p.Require == RequireProof
}

// Suite names the suite and whose rules judged.
type Suite struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// JudgedBy is whose budgets and policy decide: "working file" at a desk,
	// "base 77fe1234" where the comparison commit's suite file does.
	JudgedBy string `json:"judged_by,omitempty"`
}

// MaxLoosened bounds Document.Loosened; Counts has how many there are.
const MaxLoosened = 100

// Loosened is a budget, or a key of the gate, that is looser in the judged suite
// file than in the comparison commit's, or gone.
type Loosened struct {
	Text  string `json:"text"`            // what it is about: "wall_time in encode/**", "gate.on.gone"
	Was   string `json:"was"`             // what decides: "max_regression: 5%"; empty: nothing, it is an entry of accepted or quarantine that the change adds
	Now   string `json:"now,omitempty"`   // what counts after the merge: "max_regression: 10%"; empty: nothing, it is deleted
	Cells int    `json:"cells,omitempty"` // in so many cells; 0: a key of the gate, which is about all
	// Source is where the old one stands (a key of the gate: the commit alone); its
	// HeadLine is that of the new one.
	Source budget.Source `json:"source,omitzero"`
}

// States of a baseline.
const (
	BaselineOK           = "ok"
	BaselineNone         = "none"           // there is none
	BaselineIncomparable = "not_comparable" // there are sessions, all of another machine
	BaselineFailed       = "could_not_ask"  // asking for it did not work
)

// Baseline is what was compared with, and what was not and why.
type Baseline struct {
	State    string            `json:"state"`
	Reason   string            `json:"reason,omitempty"`
	Origin   string            `json:"origin,omitempty"` // "folder .perfweir/baseline/codec"
	Sessions []BaselineSession `json:"sessions,omitempty"`
	Rejected []Rejected        `json:"rejected,omitempty"`
	Anchor   *Anchor           `json:"anchor,omitempty"` // nil: the suite asks for none
	Cuts     []Cut             `json:"cuts,omitempty"`   // levels that are not compared with any more
	Odd      []Odd             `json:"odd,omitempty"`    // sessions that are left out of single columns
}

// Anchor is a fixed commit whose stored sessions are kept aside: a creep since then
// is told, though each step was inside its budget.
type Anchor struct {
	Name     string            `json:"name"` // as the suite file has it: "v1.4.0"
	Commit   string            `json:"commit,omitempty"`
	Sessions []BaselineSession `json:"sessions,omitempty"` // newest first; none: Why
	Why      string            `json:"why,omitempty"`
}

// MaxCuts bounds Baseline.Cuts and Baseline.Odd; Counts has how many there are.
const MaxCuts = 100

// Kinds of a Cut.
const (
	CutStep       = "step"       // the sessions themselves show it
	CutAccepted   = "accepted"   // the suite file says so
	CutDefinition = "definition" // they measured something else
)

// Cut is a column whose older stored sessions are of another level than its newer
// ones: only those from Session on are compared with.
type Cut struct {
	Cell    int     `json:"cell"`
	Metric  string  `json:"metric"`
	Phase   string  `json:"phase,omitempty"`
	Part    string  `json:"part,omitempty"`
	Kind    string  `json:"kind"`
	Why     string  `json:"why,omitempty"`
	Session string  `json:"session"`         // id of the first session of the level that is used
	Left    int     `json:"left"`            // sessions before it
	Ratio   float64 `json:"ratio,omitempty"` // this level / the one before
}

// Odd is a column's value in one stored session that is unlike those of the others
// of its level, and left out.
type Odd struct {
	Cell    int     `json:"cell"`
	Metric  string  `json:"metric"`
	Phase   string  `json:"phase,omitempty"`
	Part    string  `json:"part,omitempty"`
	Session string  `json:"session"`
	Ratio   float64 `json:"ratio"` // to the median of the others
}

// BaselineSession is a stored session that was compared with.
type BaselineSession struct {
	result.Session
	Commit string `json:"commit,omitempty"`
	File   string `json:"file,omitempty"`
}

// Rejected is a candidate that was not taken.
type Rejected struct {
	Candidate string `json:"candidate"`
	Why       string `json:"why"`
}

// Counts add up findings by outcome, and runs.
type Counts struct {
	Findings    map[Outcome]int `json:"findings"` // of gated findings, and quarantined ones; unproven ones count under "unproven"
	Cells       map[Outcome]int `json:"cells"`
	PlannedRuns int             `json:"planned_runs"`
	SeenRuns    int             `json:"seen_runs"`
	Unproven    int             `json:"unproven"`
	Loosened    int             `json:"loosened,omitempty"` // all of them: Document.Loosened is bounded
	Cuts        int             `json:"cuts,omitempty"`     // all of them: Baseline.Cuts is bounded
	Odd         int             `json:"odd,omitempty"`      // likewise
	// SmallestEffect is the largest of the unproven findings' smallest effects:
	// any change above it would have been seen everywhere. 0: none unproven, or
	// one of them has too few runs to see any change.
	SmallestEffect float64 `json:"smallest_effect,omitempty"`
}

// Cell is the row of one cell.
type Cell struct {
	Name      string            `json:"name"`
	Benchmark string            `json:"benchmark"`
	Variant   string            `json:"variant,omitempty"`
	Input     string            `json:"input,omitempty"`
	Build     string            `json:"build,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Note      string            `json:"note,omitempty"`
	Source    string            `json:"source,omitempty"`
	// JudgedBy is "head" for a cell that the comparison commit's suite does not
	// have, so that the judged suite file's budgets decide; else what Suite says.
	JudgedBy  string         `json:"judged_by,omitempty"`
	Reproduce string         `json:"reproduce,omitempty"` // a command line
	Planned   int            `json:"planned"`             // repeats, at all planned looks
	Due       int            `json:"due,omitempty"`       // of Planned, up to the look that the cell reached; 0: all
	Seen      int            `json:"seen"`
	Statuses  map[string]int `json:"statuses"` // of first attempts
	// CrashRate is crashed / seen over first attempts; nil when nothing was seen.
	CrashRate      *float64  `json:"crash_rate"`
	UnderSpec      int       `json:"under_spec"`                // clean runs that broke an absolute budget or a check
	UnderSpecBy    []string  `json:"under_spec_by,omitempty"`   // metric names, sorted
	TimeToFailure  []float64 `json:"time_to_failure,omitempty"` // s, of crashed runs
	FailureReasons []string  `json:"failure_reasons,omitempty"` // distinct, bounded
	// Clean are statistics of the clean runs for the table: by metric (and part
	// after a colon), the median.
	Clean map[string]float64 `json:"clean,omitempty"`
	// Peaks are the largest values over all runs, crashed ones too, of metrics
	// whose name ends in _peak: what the machine had to hold.
	Peaks   map[string]float64 `json:"peaks,omitempty"`
	Outcome Outcome            `json:"outcome"`
	Reasons []string           `json:"reasons,omitempty"`
	// Look is that at which the cell stopped, and Stop why.
	Look int    `json:"look,omitempty"`
	Stop string `json:"stop,omitempty"` // decided, max_looks, futility, time_cap, invalid
}

// Expected is how many repeats had to be measured.
func (c *Cell) Expected() int {
	if c.Due > 0 {
		return c.Due
	}
	return c.Planned
}

// AgainstAnchor is the reference of a comparison that tells a creep. No budget
// asks for it.
const AgainstAnchor = "anchor"

// Designs of a comparison.
const (
	Unpaired = "unpaired" // exact rank-sum bounds against stored runs
	Paired   = "paired"   // exact signed-rank bounds over blocks of one session
	Sessions = "sessions" // prediction interval over session medians, spread pooled
	ExactEq  = "exact"    // equality of exact values
)

// Comparison is two sets of measurements of one metric held against each other.
// Ratios are current/reference; shifts current-reference in the metric's unit.
type Comparison struct {
	ID            int         `json:"id"`
	Cell          int         `json:"cell"`
	Metric        string      `json:"metric"`
	Phase         string      `json:"phase,omitempty"`
	Part          string      `json:"part,omitempty"`
	Against       string      `json:"against"` // "baseline", "variant:NAME", "anchor", or "base", the base build of one session
	Design        string      `json:"design"`
	N             [2]int      `json:"n"`                        // runs (blocks when paired): current, reference
	Sessions      int         `json:"sessions,omitempty"`       // stored sessions behind the reference
	Current       float64     `json:"current"`                  // median
	Reference     float64     `json:"reference"`                // median
	Ratio         *float64    `json:"ratio"`                    // Hodges-Lehmann; nil with a zero or negative value
	RatioInterval *[2]float64 `json:"ratio_interval,omitempty"` // two-sided, at twice the one-sided level
	Shift         float64     `json:"shift"`
	ShiftInterval *[2]float64 `json:"shift_interval,omitempty"`
	Doubts        []string    `json:"doubts,omitempty"`
}

// Settle is what would decide an undecided finding; zero fields do not apply.
type Settle struct {
	Repeats  int  `json:"repeats,omitempty"`  // in all, a side
	Sessions int  `json:"sessions,omitempty"` // stored, in all
	Base     bool `json:"base,omitempty"`     // measuring the base commit in the same session would
}

// Finding is one budget applied to one cell's numbers.
type Finding struct {
	Cell       int     `json:"cell"`
	Comparison *int    `json:"comparison,omitempty"` // nil for an absolute budget
	Budget     int     `json:"budget"`
	Metric     string  `json:"metric"`
	Phase      string  `json:"phase,omitempty"`
	Part       string  `json:"part,omitempty"`
	Gated      bool    `json:"gated"` // level fail and not quarantined
	Outcome    Outcome `json:"outcome"`
	Grade      string  `json:"grade,omitempty"` // Suspect, Unproven
	// Value is the statistic an absolute budget was compared with.
	Value *float64 `json:"value,omitempty"`
	N     int      `json:"n,omitempty"` // clean runs behind an absolute budget
	// Allowed is the limit in the metric's unit: reference x (1 + limit) + amount
	// for a relative budget, at the reference's median.
	Allowed   *float64 `json:"allowed,omitempty"`
	P         *float64 `json:"p,omitempty"`          // of "not worse than the budget"
	PAdjusted *float64 `json:"p_adjusted,omitempty"` // Holm over the family
	Level     float64  `json:"level,omitempty"`      // error rate of this look
	// Look is that at which the finding was decided, or given up, of plans with more
	// than one: of the confirmation's, where it alone had something to compare with.
	Look      int      `json:"look,omitempty"`
	Bound     *float64 `json:"bound,omitempty"`     // one-sided bound of the ratio towards the budget, at Level
	Allowance float64  `json:"allowance,omitempty"` // session allowance that was added
	Settle    *Settle  `json:"settle,omitempty"`
	// SmallestEffect is the relative change that would have been called a fail
	// with probability 0.9.
	SmallestEffect *float64 `json:"smallest_effect,omitempty"`
	// Excuse is the entry of Document.Excuses that the finding is about; nil: none.
	// Was is the outcome that it would have had without it, where it is excused.
	Excuse    *int       `json:"excuse,omitempty"`
	Was       Outcome    `json:"was,omitempty"`
	Reasons   []string   `json:"reasons,omitempty"`   // words: large_jump, gone, near, too_few_runs, ...
	Message   string     `json:"message"`             // one sentence with numbers in people's units
	Confirmed *Confirmed `json:"confirmed,omitempty"` // paired re-measurement against base
}
