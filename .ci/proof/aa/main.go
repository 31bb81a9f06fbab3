// Command aa reads what `perfweir selftest` wrote for .ci/proof/aa.sh, prints the
// figures for docs/statistics.md, and exits 1 where a goal is missed.
//
//	aa UNCHANGED.json INJECTED.json
package main

import (
	"fmt"
	"strings"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/gate/selftest"
)

// Goals: of 300 unchanged sessions two may be red; what the gate says it finds in
// 90 % of cases is found in 85 to 97; where nothing is injected, or a metric cannot
// be moved, a fail is a false one.
const (
	mostRed     = 2
	mostFalse   = 2
	least, most = 0.85, 0.97
)

func main() { proof.Main("aa", run) }

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: aa UNCHANGED.json INJECTED.json")
	}
	unchanged, err := proof.Decode(args[0], selftest.Decode)
	if err != nil {
		return err
	}
	injected, err := proof.Decode(args[1], selftest.Decode)
	if err != nil {
		return err
	}
	var missed []string
	for _, r := range []struct {
		what string
		rate selftest.Rate
	}{{"against up to ten sessions before", unchanged.Stored}, {"in pairs", unchanged.Pairs}} {
		fmt.Printf("%s: %d of %d unchanged sessions red (95 %%: %.2f to %.2f %%); %d of %d findings failed, %d suspect, %d unproven\n", r.what,
			r.rate.Hits, r.rate.Trials, 100*r.rate.Interval[0], 100*r.rate.Interval[1], r.rate.Fails, r.rate.Findings, r.rate.Suspects, r.rate.Unproven)
		if r.rate.Hits > mostRed {
			missed = append(missed, fmt.Sprintf("%s: %d red sessions, goal %d", r.what, r.rate.Hits, mostRed))
		}
	}
	for i := range injected.Injections {
		missed = append(missed, check(&injected.Injections[i])...)
	}
	return proof.Missed(missed)
}

func check(in *selftest.Injection) (missed []string) {
	auto := strings.HasSuffix(in.Text, "=auto")
	fmt.Printf("\n%s, %d sessions\n| metric | moved by it | failed | 95 %% | suspect | injected | median change |\n| --- | --- | --- | --- | --- | --- | --- |\n", in.Text, in.Sessions)
	aimed := selftest.Amount{Kind: in.Kind}.Of()
	falseFails := 0
	for _, m := range in.Metrics {
		fmt.Printf("| %s | %v | %d of %d | %.0f to %.0f %% | %d | %s | %s |\n", m.Metric, m.Moves, m.Fails, m.Findings, 100*m.Rate[0], 100*m.Rate[1], m.Suspects,
			change(m.Injected), change(m.Ratio))
		switch {
		case !m.Moves:
			falseFails += m.Fails
		case auto && m.Metric == aimed && (m.Rate[1] < least || m.Rate[0] > most):
			missed = append(missed, fmt.Sprintf("%s: %s failed in %d of %d, goal %.0f to %.0f %%", in.Text, m.Metric, m.Fails, m.Findings, 100*least, 100*most))
		}
	}
	elsewhere, findings := 0, 0
	for _, n := range in.Elsewhere {
		elsewhere, findings = elsewhere+n.Fails, findings+n.Findings
	}
	fmt.Printf("cells that were left alone: %d of %d findings failed\n", elsewhere, findings)
	if falseFails+elsewhere > mostFalse {
		missed = append(missed, fmt.Sprintf("%s: %d false fails, goal %d", in.Text, falseFails+elsewhere, mostFalse))
	}
	return missed
}

// change is a ratio in words.
func change(ratio *float64) string {
	if ratio == nil {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", 100*(*ratio-1))
}
