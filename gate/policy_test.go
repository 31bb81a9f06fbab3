package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// TestPolicyOfTheChange: words of the gate that are looser count after the merge,
// stricter ones at once, error rates after the merge either way.
func TestPolicyOfTheChange(t *testing.T) {
	on := func(o verdict.Outcome, action string) Policy {
		p := DefaultPolicy()
		p.On = map[verdict.Outcome]string{o: action}
		return p
	}
	proof := DefaultPolicy()
	proof.Require = RequireProof
	rate := DefaultPolicy()
	rate.FalseAlarms, rate.MinSessions = 0.2, 3
	for _, tt := range []struct {
		name       string
		base, head Policy
		want       func(verdict.Policy) bool
		told       string
		warned     int
	}{
		{"the same", DefaultPolicy(), DefaultPolicy(), func(p verdict.Policy) bool { return p.On["gone"] == ActionFail && p.Require == "" }, "", 0},
		{"gone: fail to warn", DefaultPolicy(), on(Gone, ActionWarn), func(p verdict.Policy) bool { return p.On["gone"] == ActionFail },
			"gate.on.gone: fail -> warn (0 cells)", 0},
		{"inconclusive: neutral to fail", DefaultPolicy(), on(verdict.Inconclusive, ActionFail), func(p verdict.Policy) bool { return p.On["inconclusive"] == ActionFail }, "", 0},
		{"a stricter word of base's is left out", on(verdict.NoBaseline, ActionFail), DefaultPolicy(), func(p verdict.Policy) bool { return p.On["no_baseline"] == ActionFail },
			"gate.on.no_baseline: fail -> neutral (0 cells)", 0},
		{"proof no longer required", proof, DefaultPolicy(), func(p verdict.Policy) bool { return p.Require == RequireProof }, "gate.require: proof -> deleted (0 cells)", 0},
		{"proof required", DefaultPolicy(), proof, func(p verdict.Policy) bool { return p.Require == RequireProof }, "", 0},
		{"another error rate", DefaultPolicy(), rate, func(p verdict.Policy) bool { return p.FalseAlarms == 0.05 && p.MinSessions == 5 }, "", 2},
		{"another error rate back", rate, DefaultPolicy(), func(p verdict.Policy) bool { return p.FalseAlarms == 0.2 && p.MinSessions == 3 }, "", 2},
	} {
		in := change([]budget.Budget{limit(80, 31)}, []budget.Budget{limit(80, 31)})
		in.Base.Policy, in.Policy = tt.base, tt.head
		before := fmt.Sprint(tt.base, tt.head)
		v := judged(t, in)
		if !tt.want(v.Policy) || told(v) != tt.told || len(v.Warnings) != tt.warned {
			t.Errorf("%s: %+v, loosened %q, warnings %q", tt.name, v.Policy, told(v), v.Warnings)
		}
		for _, l := range v.Loosened {
			if l.Source.Commit != baseCommit {
				t.Errorf("%s: %+v does not say whose it is", tt.name, l)
			}
		}
		if after := fmt.Sprint(tt.base, tt.head); after != before {
			t.Errorf("%s: the caller's policy was changed", tt.name)
		}
	}
}

func TestRefusesRulesOutOfRange(t *testing.T) {
	for want, edit := range map[string]func(*Rules){
		"which commit": func(r *Rules) { r.Commit = "" },
		"suite file of the comparison commit: gate.false_alarms": func(r *Rules) { r.Policy.FalseAlarms = 0 },
	} {
		in := change(nil, nil)
		edit(in.Base)
		if _, err := Evaluate(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
