package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/verdict"
)

// withHistory is a verdict whose stored sessions were not all used.
func withHistory() *verdict.Document {
	v := cleanPass()
	stored(v, 7)
	b := v.Baseline
	b.Anchor = &verdict.Anchor{Name: "v1.4.0", Commit: b.Sessions[6].Commit, Sessions: b.Sessions[6:]}
	for i, r := range []float64{1.12, 1.1, 1.13, .8} {
		b.Cuts = append(b.Cuts, verdict.Cut{Cell: i, Metric: "wall_time", Kind: verdict.CutStep, Session: "01CUT", Left: 3, Ratio: r})
	}
	b.Cuts = append(b.Cuts, verdict.Cut{Cell: 0, Metric: "cpu_time", Kind: verdict.CutAccepted, Why: "accepted: checksums, #812", Session: "01NEW", Left: 3})
	b.Odd = []verdict.Odd{{Cell: 0, Metric: "wall_time", Session: "01ODD", Ratio: .51}, {Cell: 1, Metric: "energy", Part: "gpu0", Session: "01ODD", Ratio: .52}}
	v.Counts.Cuts, v.Counts.Odd = 5, 40
	return v
}

func TestHistoryLines(t *testing.T) {
	got := strings.Join((&facts{v: withHistory()}).historyLines(), "\n")
	want := `anchor v1.4.0 (77fe01234567): 1 session, the newest 7.12 d before
pool cut at session 01CUT: step of +10.0 % to +13.0 % in wall_time of gzip/l6/go.mod, wall_time of gzip/l6/builtin.go and 1 more
pool cut at session 01CUT: step of -20.0 % in wall_time of xz/l6/builtin.go
pool cut at session 01NEW: accepted (accepted: checksums, #812) in cpu_time of gzip/l6/go.mod
session 01ODD is unlike the others, 0.51x to 0.52x, in wall_time of gzip/l6/go.mod, energy:gpu0 of gzip/l6/builtin.go: not used there
and 38 more that are not listed`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	v := withHistory()
	v.Baseline.Anchor = &verdict.Anchor{Name: "v1.4.0", Why: "no stored session is of 77fe01234567"}
	if got := (&facts{v: v}).historyLines()[0]; got != "anchor v1.4.0: missing: no stored session is of 77fe01234567" {
		t.Error(got)
	}
	if got := (&facts{v: v}).historyText(); got != "; cut for 5 metrics; 40 odd values left out; the anchor v1.4.0 is missing" {
		t.Error(got)
	}
}

// Every report that has room says what was not used; none grows with it, and names
// stay text.
func TestHistoryIsBoundedText(t *testing.T) {
	v := withHistory()
	hostile := "<b>@octocat</b>\x1b[31m |`"
	v.Baseline.Anchor.Name = hostile
	for i := range 80 {
		v.Baseline.Cuts = append(v.Baseline.Cuts, verdict.Cut{Cell: 0, Metric: hostile, Kind: verdict.CutStep, Session: fmt.Sprint(hostile, i), Ratio: 1.2, Why: hostile})
	}
	var page, screen bytes.Buffer
	if err := Markdown(&page, v, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := Terminal(&screen, v, Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"page": page.String(), "terminal": screen.String()} {
		if !strings.Contains(text, "pool cut at session 01CUT") && !strings.Contains(text, "pool cut at session 01CUT: step of") {
			t.Errorf("%s does not tell the cut:\n%s", name, text)
		}
		if strings.Contains(text, "<b>") && name == "page" || strings.Contains(text, "\x1b[31m |") {
			t.Errorf("%s: a name is more than text", name)
		}
		if n := strings.Count(text, "pool cut at"); n > mostHistory {
			t.Errorf("%s tells %d cuts", name, n)
		}
	}
}

// A creep stands beside the finding of the newest sessions and is told apart.
func TestCreepIsToldApart(t *testing.T) {
	v := cleanPass()
	stored(v, 7)
	v.Baseline.Anchor = &verdict.Anchor{Name: "v1.4.0", Commit: v.Baseline.Sessions[6].Commit, Sessions: v.Baseline.Sessions[6:]}
	f := relative(v, 0, 1, verdict.Fail, 0.8, 1.09, 0.01)
	f.Gated, f.Reasons = false, []string{"creep"}
	v.Comparisons[*f.Comparison].Against = verdict.AgainstAnchor
	var page, cases bytes.Buffer
	if err := Markdown(&page, v, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := JUnit(&cases, v, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "of v1.4.0") || !strings.Contains(page.String(), "creep since v1.4.0: no single step was beyond the budget") {
		t.Errorf("page:\n%s", page.String())
	}
	if strings.Count(cases.String(), " since v1.4.0\"") != 1 {
		t.Errorf("cases:\n%s", cases.String())
	}
	// A step that was cut is beyond the budget by itself, or is not, or is of before the
	// anchor, or of another metric.
	allowed := 1.05 * v.Comparisons[*f.Comparison].Reference
	f.Allowed = &allowed
	after, before := v.Baseline.Sessions[1].ID, v.Baseline.Sessions[6].ID
	for _, cut := range []struct {
		metric, session string
		ratio           float64
		told            bool
	}{{f.Metric, after, 1.302, true}, {f.Metric, after, 1.04, false}, {f.Metric, before, 1.302, false}, {"other", after, 1.302, false}} {
		v.Baseline.Cuts = []verdict.Cut{{Cell: f.Cell, Metric: cut.metric, Phase: f.Phase, Part: f.Part, Kind: verdict.CutStep, Session: cut.session, Left: 3, Ratio: cut.ratio}}
		page := string(render(t, formats()[0], v))
		if strings.Contains(page, "in steps of which one was +30.2 %") != cut.told || strings.Contains(page, "no single step was beyond the budget") == cut.told {
			t.Errorf("%+v:\n%s", cut, page)
		}
	}
}
