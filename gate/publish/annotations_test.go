package publish

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

func day(n int) time.Time { return time.Date(2026, 11, n, 12, 0, 0, 0, time.UTC) }

// one is a verdict with one budget over several cells.
func one(cells int, edit func(v *verdict.Document)) *verdict.Document {
	v := document(cells, cells)
	v.Budgets = v.Budgets[:1]
	for i := range v.Findings {
		v.Findings[i].Budget = 0
	}
	if edit != nil {
		edit(v)
	}
	return v
}

func places(list []Annotation) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		out[a.Path+":"+string(rune('0'+a.StartLine%10))] = a.Level
	}
	return out
}

func TestAnnotationSaysOnceABudget(t *testing.T) {
	list, beyond := annotations(reportOf(one(13, nil)).sorted(), opts())
	want := []Annotation{{Path: "perfweir.yml", StartLine: 10, EndLine: 10, Level: levelFailure, Title: "perfweir / codec: wall_time: max: 1s",
		Message: "bench0012/default/corpus/file-0012.bin: wall_time is 1.51 s, at most 1.00 s is allowed; to reproduce: perfweir ci --cells 'bench0012/**'; and 12 more cells"}}
	if diff := cmp.Diff(want, list); diff != "" || beyond != 0 {
		t.Error(diff, beyond)
	}
	// Two machines break one budget: still one annotation, and the machine is named.
	list, _ = annotations(reportOf(one(1, nil), one(2, nil)).sorted(), opts())
	if len(list) != 1 || !strings.Contains(list[0].Message, " on perf-1: ") || !strings.HasSuffix(list[0].Message, "; and 2 more cells") {
		t.Errorf("%+v", list)
	}
	if list, _ := annotations(reportOf(passing()).sorted(), opts()); len(list) != 0 {
		t.Errorf("a pass is annotated: %+v", list)
	}
}

func TestAnnotationPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(v *verdict.Document)
		path string
		line int
	}{
		"the budget's line": {func(*verdict.Document) {}, "perfweir.yml", 10},
		"head's line for base's": {func(v *verdict.Document) {
			v.Budgets[0].Source = budget.Source{Path: "old.yml", Line: 99, Commit: "77fe", HeadLine: 31}
		}, "perfweir.yml", 31},
		"deleted in head: the source": {func(v *verdict.Document) {
			v.Budgets[0].Source = budget.Source{Path: "perfweir.yml", Line: 99, Commit: "77fe"}
			v.Cells[0].Source = "cmd/serve/main.go:88"
		}, "cmd/serve/main.go", 88},
		"deleted in head: the top": {func(v *verdict.Document) {
			v.Budgets[0].Source = budget.Source{Path: "perfweir.yml", Line: 99, Commit: "77fe"}
		}, "perfweir.yml", 1},
		"built in": {func(v *verdict.Document) {
			v.Budgets[0].Source, v.Budgets[0].Implicit = budget.Source{}, true
			v.Cells[0].Source = "a/b.go:7:3"
		}, "a/b.go", 7},
		"a source without a line": {func(v *verdict.Document) { v.Budgets[0].Source = budget.Source{}; v.Cells[0].Source = "a/b.go" }, "a/b.go", 1},
		"a source that leaves": {func(v *verdict.Document) {
			v.Budgets[0].Source = budget.Source{}
			v.Cells[0].Source = "../../etc/passwd:1"
		}, "perfweir.yml", 1},
		"an absolute source":           {func(v *verdict.Document) { v.Budgets[0].Source = budget.Source{}; v.Cells[0].Source = "/etc/passwd:1" }, "perfweir.yml", 1},
		"a source with a line end":     {func(v *verdict.Document) { v.Budgets[0].Source = budget.Source{}; v.Cells[0].Source = "a\nb:1" }, "perfweir.yml", 1},
		"a source with a wild line":    {func(v *verdict.Document) { v.Budgets[0].Source = budget.Source{}; v.Cells[0].Source = "a.go:-3" }, "a.go", 1},
		"a budget's path that leaves":  {func(v *verdict.Document) { v.Budgets[0].Source.Path = "../x.yml" }, "perfweir.yml", 1},
		"a red cell without a finding": {func(v *verdict.Document) { v.Findings = nil; v.Cells[0].Source = "a.go:4" }, "a.go", 4},
	} {
		list, _ := annotations(reportOf(one(1, c.edit)).sorted(), opts())
		if len(list) != 1 || list[0].Path != c.path || list[0].StartLine != c.line || list[0].EndLine != c.line {
			t.Errorf("%s: %+v, want %s:%d", name, list, c.path, c.line)
		}
	}
	nowhere := opts()
	nowhere.SuitePath = "/abs/perfweir.yml"
	v := one(1, func(v *verdict.Document) { v.Budgets[0].Source, v.Suite.Path = budget.Source{}, "../x" })
	if list, _ := annotations(reportOf(v).sorted(), nowhere); len(list) != 0 {
		t.Errorf("annotated nowhere: %+v", list)
	}
}

func TestAnnotationLevels(t *testing.T) {
	v := document(6, 1)
	v.Findings[1].Outcome, v.Findings[1].Grade = verdict.Inconclusive, verdict.Suspect
	v.Findings[2].Outcome = verdict.Suspicious
	v.Findings[3].Outcome, v.Findings[3].Gated, v.Budgets[3].Level = verdict.Fail, false, budget.Warn
	v.Findings[4].Outcome, v.Findings[4].Grade = verdict.Inconclusive, verdict.Unproven
	v.Loosened = []verdict.Loosened{{Text: "wall_time", Was: "max: 1s", Now: "max: 2s", Source: budget.Source{Path: "perfweir.yml", Line: 3, Commit: "77fe", HeadLine: 9}}}
	list, _ := annotations(reportOf(v).sorted(), opts())
	want := map[string]string{"perfweir.yml:0": levelFailure, "perfweir.yml:1": levelWarning, "perfweir.yml:2": levelWarning, "perfweir.yml:3": levelWarning, "perfweir.yml:9": levelNotice}
	if diff := cmp.Diff(want, places(list)); diff != "" {
		t.Error(diff)
	}
	if list[0].Level != levelFailure || list[len(list)-1].Level != levelNotice || !strings.Contains(list[len(list)-1].Message, "max: 1s decides until the merge") {
		t.Errorf("%+v", list)
	}
}

// C16: bytes count, not characters.
func TestAnnotationBytes(t *testing.T) {
	long := strings.Repeat("日", 22_000)
	v := one(3, func(v *verdict.Document) { v.Findings[2].Message, v.Budgets[0].Text = long, long })
	list, _ := annotations(reportOf(v).sorted(), opts())
	a := list[0]
	if len(a.Message) > longestMessage || len(a.Message) < longestMessage-10 || !strings.HasSuffix(a.Message, "…; and 2 more cells") || !utf8.ValidString(a.Message) {
		t.Errorf("message of %d bytes: …%s", len(a.Message), a.Message[len(a.Message)-40:])
	}
	if len(a.Title) > longestTitle || len(a.Title) < longestTitle-5 || !strings.HasSuffix(a.Title, "…") || !utf8.ValidString(a.Title) {
		t.Errorf("title of %d bytes", len(a.Title))
	}
}
