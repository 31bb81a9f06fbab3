package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/perfweir/perfweir/gate/verdict"
)

// Why runs crashed is told where the crash rate is, in every report that has rows.
func TestCrashesSayWhy(t *testing.T) {
	const why = "ended by SEGV after 12.2 s"
	broken, _, _ := strings.Cut(string(render(t, formats()[0], crashes())), "### Matrix")
	if !strings.Contains(broken, "2 of 6 runs crashed, allowed are none, "+why+" |") {
		t.Errorf("report.md does not say why runs crashed:\n%s", broken)
	}
	v := crashes()
	v.Findings[1].Outcome, v.Cells[1].Outcome = verdict.Pass, verdict.Pass // as many as are allowed
	if rest := string(render(t, formats()[0], v)); !strings.Contains(rest, "n 6, "+why) {
		t.Errorf("report.md does not say why the runs crashed that are allowed:\n%s", rest)
	}
	for i := range v.Findings {
		if i != 1 && strings.Contains(factsOf(v).findingRow(i).why, why) {
			t.Errorf("finding %d, of %s, says why other runs crashed", i, v.Findings[i].Metric)
		}
	}
}

// However many reasons a document has, and however long they are, the sentence is
// a sentence, and the count of crashes stays in it.
func TestCrashReasonsAreBounded(t *testing.T) {
	v := crashes()
	c := &v.Cells[1]
	c.FailureReasons = nil
	for i := range 9 {
		c.FailureReasons = append(c.FailureReasons, fmt.Sprintf("reason %d | @octocat\n%s", i, strings.Repeat("x", 500)))
	}
	why := factsOf(v).findingRow(1).why
	if !strings.HasPrefix(why, "2 of 6 runs crashed") || !strings.Contains(why, "reason 2") || strings.Contains(why, "reason 3") || utf8.RuneCountInString(why) > maxSentence {
		t.Errorf("%d characters: %s", utf8.RuneCountInString(why), why)
	}
	checkMarkdown(t, render(t, formats()[0], v))
}

// A budget of the comparison commit's file stands in a file that the reader's may
// differ from.
func TestPlaceOfABudgetOfBase(t *testing.T) {
	v := failing()
	f := factsOf(v)
	at := slices.IndexFunc(v.Findings, func(x verdict.Finding) bool { return v.Budgets[x.Budget].Source.Line > 0 })
	b := &v.Budgets[v.Findings[at].Budget]
	b.Source.Path, b.Source.Line = "perfweir.yml", 9
	for commit, want := range map[string]string{
		"": "perfweir.yml:9", "75988ec1f2ab12cd34ef56ab78cd90ef12ab34cd": "perfweir.yml:9 at base 75988ec1", "75988": "perfweir.yml:9 at base 75988",
	} {
		b.Source.Commit = commit
		if got := f.findingRow(at).place; got != want {
			t.Errorf("commit %q: %q, want %q", commit, got, want)
		}
	}
	b.Source.Commit = "75988ec1|<b>@octocat"
	checkMarkdown(t, render(t, formats()[0], v))
}
