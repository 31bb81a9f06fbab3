package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Actions of Policy.On.
const (
	ActionNeutral = "neutral" // shown, exit 0
	ActionPass    = "pass"    // as if it had passed
	ActionWarn    = "warn"    // shown with the failures, exit 0
	ActionFail    = "fail"    // exit 3
)

// RequireProof makes every gated finding have to pass with confidence.
const RequireProof = verdict.RequireProof

// Policy is how doubts are treated.
type Policy struct {
	FalseAlarms float64                    // error rate shared by the family, (0, 0.5)
	Require     string                     // "" or RequireProof
	On          map[verdict.Outcome]string // missing outcomes do what DefaultPolicy says
	MinSessions int                        // stored sessions from which their spread is used
	// Allowance is added to a relative budget held against fewer sessions than
	// MinSessions, by metric class: sessions of one machine differ by more than
	// the runs of one session, and too few of them cannot tell by how much.
	Allowance map[result.Class]float64
	// Measured is by how much they differ on this machine, where it is known: then
	// noisy metrics need no allowance and have bounds with the stated error rate
	// from the first stored session on.
	Measured *Measured
	// Control lets the control cell say what of a difference to stored sessions is the
	// machine's.
	Control bool
}

// Measured is what a self-test found out about the sessions of one machine.
type Measured struct {
	By      string // in words: "self-test of 60 sessions, 2026-11-30"
	Spreads map[Column]MeasuredSpread
}

// MeasuredSpread is of sessions with so many repeats.
type MeasuredSpread struct {
	stats.SessionSpread
	Repeats int
}

// Column is a metric's numbers of the cells of one definition: an edited cell is
// another one, a renamed cell is not.
type Column struct {
	Digest              string // of the cell
	Metric, Phase, Part string
}

// On key for cells, and parts of them, that the baseline has and the current result lacks.
const Gone verdict.Outcome = "gone"

// DefaultPolicy is what a suite file that says nothing gets.
func DefaultPolicy() Policy {
	return Policy{
		FalseAlarms: 0.05, MinSessions: 5,
		On: map[verdict.Outcome]string{
			verdict.Inconclusive: ActionNeutral, verdict.NoBaseline: ActionNeutral, verdict.NotComparable: ActionNeutral,
			verdict.Suspicious: ActionWarn, Gone: ActionFail, verdict.New: ActionPass,
		},
		// 10 % for what a machine's state moves, nothing for what it does not:
		// compressors here differ by 1 to 12 % between sessions.
		Allowance: map[result.Class]float64{result.Noisy: 0.10, result.Tail: 0.10, result.Level: 0, result.Exact: 0, result.Counted: 0},
	}
}

// of is what is known of sessions of a column with so many repeats; nil: nothing.
// Fewer than were measured scatter more.
func (m *Measured) of(c Column, repeats int) *stats.SessionSpread {
	if m == nil {
		return nil
	}
	s, known := m.Spreads[c]
	if !known || repeats < s.Repeats {
		return nil
	}
	return &s.SessionSpread
}

func (p Policy) check() error {
	switch {
	case !(p.FalseAlarms > 0 && p.FalseAlarms < 0.5):
		return fmt.Errorf("gate.false_alarms is %v, want more than 0 and less than 50%%", p.FalseAlarms)
	case p.MinSessions < 2:
		return fmt.Errorf("baseline.min_sessions is %d, want at least 2: one session has no spread", p.MinSessions)
	}
	return nil
}

// on is what every outcome does, defaults filled in.
func (p Policy) on() map[verdict.Outcome]string {
	all := DefaultPolicy().On
	maps.Copy(all, p.On)
	return all
}

// merge gives the policy that judges a change from base's to head's, what head's
// loosens and what it changes without effect. Stricter words of head's (require,
// on) count at once. An error rate is not strict or loose: a larger one finds
// more and proves more easily that a budget holds. So base's decides, and with it
// how stored sessions are used.
func merge(head, base Policy) (merged Policy, loosened []verdict.Loosened, warnings []string) {
	merged = base
	merged.On = base.on()
	switch {
	case head.Require == RequireProof:
		merged.Require = RequireProof
	case base.Require == RequireProof:
		loosened = append(loosened, verdict.Loosened{Text: "gate.require", Was: base.Require})
	}
	now := head.on()
	for _, o := range slices.Sorted(maps.Keys(now)) {
		if was := merged.On[o]; strictness(now[o]) < strictness(was) {
			loosened = append(loosened, verdict.Loosened{Text: "gate.on." + string(o), Was: was, Now: now[o]})
		} else {
			merged.On[o] = now[o]
		}
	}
	const until = "%s is %s in this change: until the merge %s decides"
	if head.FalseAlarms != base.FalseAlarms {
		warnings = append(warnings, fmt.Sprintf(until, "gate.false_alarms", unit.Percentage(head.FalseAlarms), unit.Percentage(base.FalseAlarms)))
	}
	if head.MinSessions != base.MinSessions {
		warnings = append(warnings, fmt.Sprintf(until, "baseline.min_sessions", fmt.Sprint(head.MinSessions), fmt.Sprint(base.MinSessions)))
	}
	if head.Control != base.Control {
		warnings = append(warnings, fmt.Sprintf(until, "gate.control", fmt.Sprint(head.Control), fmt.Sprint(base.Control)))
	}
	return merged, loosened, warnings
}

// strictness orders actions; an unknown one is the least.
func strictness(action string) int {
	return slices.Index([]string{ActionPass, ActionNeutral, ActionWarn, ActionFail}, action)
}

func policyDocument(p Policy, looks []int) verdict.Policy {
	d := verdict.Policy{FalseAlarms: p.FalseAlarms, Looks: looks, Require: p.Require, MinSessions: p.MinSessions, Control: p.Control,
		Allowance: map[string]float64{}, On: map[string]string{}}
	for c, v := range p.Allowance {
		d.Allowance[string(c)] = v
	}
	if p.Measured != nil {
		d.Measured = p.Measured.By
	}
	for o, a := range p.on() {
		d.On[string(o)] = a
	}
	return d
}
