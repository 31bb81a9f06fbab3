package publish

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/verdict"
)

// noComment are options that leave the check run alone.
func noComment() Options {
	o := opts()
	o.Comment = CommentNever
	return o
}

func (f *fake) theCheck() CheckRun {
	f.t.Helper()
	if len(f.checks) != 1 {
		f.t.Fatalf("%d check runs, want one", len(f.checks))
	}
	return f.checks[0]
}

func started(t *testing.T, f *fake) Options {
	t.Helper()
	o := noComment()
	c := Start(context.Background(), f, at(1, 1), o)
	if c.State != Posted || c.ID == 0 || f.theCheck().Status != statusInProgress || f.theCheck().Name != "perfweir / codec" {
		t.Fatalf("%+v: %+v", c, f.theCheck())
	}
	f.calls = nil
	o.CheckRun = c.ID
	return o
}

func TestCheckLife(t *testing.T) {
	f := newFake(t)
	o := started(t, f)
	res := Publish(context.Background(), f, at(1, 1), reportOf(failing()), o)
	c := f.theCheck()
	if got := res.Channel(ChannelCheck); got.State != Updated || got.URL == "" || got.ID != c.ID {
		t.Errorf("%+v", got)
	}
	if strings.Join(f.calls, " ") != "UpdateCheckRun" {
		t.Errorf("calls %v, want one", f.calls)
	}
	if c.Status != statusCompleted || c.Conclusion != "failure" || c.Title != "fail: 2 of 3 budgets broken in 2 of 3 cells" {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(c.Summary, "### Broken") || strings.Contains(c.Summary, "### Matrix") || !strings.Contains(c.Text, "### Matrix") {
		t.Error("the tables are not where they belong")
	}
	if id, ok := ParseExternalID(c.ExternalID); !ok || id != ExternalIDOf(at(1, 1), "codec") || id.Tree != "aa00" {
		t.Errorf("external id %q", c.ExternalID)
	}
	if len(res.Untold) != 0 || len(f.remarks[c.ID]) != 2 {
		t.Errorf("%d annotations, %d untold", len(f.remarks[c.ID]), len(res.Untold))
	}
	// Told again, without the id: it is found, and nothing is sent twice.
	f.calls, o.CheckRun = nil, 0
	if res := Publish(context.Background(), f, at(1, 1), reportOf(failing()), o); res.Channel(ChannelCheck).State != Unchanged || strings.Join(f.calls, " ") != "CheckRuns" {
		t.Errorf("%v, calls %v", res.Channels, f.calls)
	}
	// The next attempt has a check run of its own.
	Start(context.Background(), f, at(1, 2), o)
	if len(f.checks) != 2 || f.checks[1].Status != statusInProgress || f.checks[0].Conclusion != "failure" {
		t.Errorf("%+v", f.checks)
	}
}

func TestConclusions(t *testing.T) {
	for _, c := range []struct {
		outcome verdict.Outcome
		exit    int
		failOn  string
		want    string
		state   string
	}{
		{verdict.Pass, 0, "", "success", "success"},
		{verdict.Accepted, 0, "", "success", "success"},
		{verdict.Quarantined, 0, "", "success", "success"},
		{verdict.Fail, 1, "", "failure", "failure"},
		{verdict.Fail, 1, FailOnNever, "neutral", "success"},
		{verdict.Inconclusive, 0, "", "neutral", "success"},
		{verdict.Inconclusive, 3, "", "failure", "failure"},
		{verdict.Inconclusive, 0, FailOnInconclusive, "failure", "failure"},
		{verdict.NoData, 3, "", "failure", "failure"},
		{verdict.Invalid, 3, "", "failure", "failure"},
		{verdict.NotComparable, 0, "", "neutral", "success"},
		{verdict.NoBaseline, 0, "", "neutral", "success"},
		{verdict.New, 0, "", "neutral", "success"},
		{verdict.New, 3, "", "failure", "failure"}, // by policy
		{verdict.Suspicious, 0, "", "neutral", "success"},
		{verdict.Interrupted, 130, "", "cancelled", "error"},
		{verdict.Interrupted, 130, FailOnNever, "cancelled", "error"},
	} {
		v := passing()
		v.Outcome, v.ExitCode = c.outcome, c.exit
		if c.outcome == verdict.Inconclusive {
			v.Counts.Findings[verdict.Inconclusive] = 1
		}
		o := noComment()
		o.FailOn = c.failOn
		f := newFake(t)
		Publish(context.Background(), f, at(1, 1), reportOf(v), o)
		if got := f.theCheck().Conclusion; got != c.want {
			t.Errorf("%s, exit code %d, fail-on %q: %s, want %s", c.outcome, c.exit, c.failOn, got, c.want)
		}
		o.Check = CheckStatus
		Publish(context.Background(), f, at(1, 1), reportOf(v), o)
		if s := f.statuses[0]; s.State != c.state || s.Context != "perfweir / codec" || !strings.Contains(s.Description, "3 budgets") && c.outcome == verdict.Pass {
			t.Errorf("%s: status %+v", c.outcome, s)
		}
	}
}

// A machine that never reported is red, whatever the others say.
func TestMissingMachine(t *testing.T) {
	r := reportOf(passing())
	r.Missing = []string{"orin"}
	f := newFake(t)
	Publish(context.Background(), f, at(1, 1), r, opts())
	if c := f.theCheck(); c.Conclusion != "failure" || !strings.Contains(c.Title, "1 never reported") {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(f.theBody("codec"), "| `orin` | no data | expected, and never reported |") {
		t.Error("the comment does not name it")
	}
	if got := f.remarks[f.checks[0].ID]; len(got) != 1 || !strings.Contains(got[0].Message, "orin was expected") || got[0].Path != "perfweir.yml" {
		t.Errorf("%+v", got)
	}
}

// C15: more than a request takes. Batches, the check completed with the first, and
// none twice.
func TestAnnotationBatches(t *testing.T) {
	for _, c := range []struct{ broken, sent, requests int }{
		{0, 0, 1}, {1, 1, 1}, {50, 50, 1}, {51, 51, 2}, {120, 120, 3}, {200, 200, 4}, {450, 200, 4},
	} {
		f := newFake(t)
		o := started(t, f)
		res := Publish(context.Background(), f, at(1, 1), reportOf(document(500, c.broken)), o)
		got := f.remarks[f.theCheck().ID]
		if len(got) != c.sent || len(f.calls) != c.requests || len(res.Untold) != 0 {
			t.Errorf("%d broken: %d annotations in %d requests, want %d in %d", c.broken, len(got), len(f.calls), c.sent, c.requests)
		}
		unique(t, got)
		if said := strings.Contains(f.theCheck().Summary, fmt.Sprintf("%d more places have no annotation", c.broken-200)); said != (c.broken > 200) {
			t.Errorf("%d broken: what was left out is said: %v", c.broken, said)
		}
	}
}

func unique(t *testing.T, list []Annotation) {
	t.Helper()
	seen := map[string]bool{}
	for _, a := range list {
		key := fmt.Sprint(a.Path, a.StartLine)
		if seen[key] {
			t.Errorf("%s is annotated twice", key)
		}
		seen[key] = true
	}
}

// An answer that never came, at every request, carried out or lost: the check is
// completed, every annotation is there once.
func TestLostAnswers(t *testing.T) {
	const broken = 120 // three requests
	for _, start := range []bool{true, false} {
		for request := range 3 {
			for _, done := range []bool{true, false} {
				f := newFake(t)
				o := noComment()
				first := "CreateCheckRun"
				if start {
					o, first = started(t, f), "UpdateCheckRun"
				}
				lost := fault{err: ErrUnsure, done: done}
				switch {
				case first == "CreateCheckRun" && request == 0:
					f.faults[first] = []fault{lost}
				case first == "CreateCheckRun":
					f.faults["UpdateCheckRun"] = append(make([]fault, request-1), lost)
				default:
					f.faults[first] = append(make([]fault, request), lost)
				}
				res := Publish(context.Background(), f, at(1, 1), reportOf(document(200, broken)), o)
				c := f.theCheck()
				if c.Status != statusCompleted || c.Conclusion != "failure" || len(res.Failures()) > 0 {
					t.Errorf("started %v, request %d, done %v: %+v, %v", start, request, done, c.Status, res.Channels)
				}
				writes, want := f.count("CreateCheckRun")+f.count("UpdateCheckRun"), 3
				if !done {
					want = 4
				}
				if writes != want {
					t.Errorf("started %v, request %d, done %v: %d writes, want %d", start, request, done, writes, want)
				}
				if n := len(f.remarks[c.ID]); n != broken {
					t.Errorf("started %v, request %d, done %v: %d annotations, want %d: %v", start, request, done, n, broken, f.calls)
				}
				unique(t, f.remarks[c.ID])
			}
		}
	}
}

// What GitHub refuses of a check run, and what is told all the same.
func TestCheckFaults(t *testing.T) {
	many := func(err error) []fault { return []fault{{err: err}, {err: err}, {err: err}, {err: err}} }
	noChecks := fmt.Errorf("404 Not Found: %w", fs.ErrNotExist)
	for name, c := range map[string]struct {
		start     bool
		broken    int
		prepare   func(f *fake)
		check     State
		why       string
		completed bool
		untold    int
		sent      int
		status    bool
	}{
		"refused":                  {broken: 3, prepare: func(f *fake) { f.faults["CreateCheckRun"] = many(errForbidden) }, check: Failed, why: "403", untold: 3},
		"refused at the end":       {start: true, broken: 3, prepare: func(f *fake) { f.faults["UpdateCheckRun"] = many(errForbidden) }, check: Failed, why: "403", untold: 3},
		"no such thing here":       {broken: 3, prepare: func(f *fake) { f.faults["CheckRuns"], f.faults["CreateCheckRun"] = many(noChecks), many(noChecks) }, check: Failed, why: "no check runs", untold: 3, status: true},
		"listing fails":            {broken: 3, prepare: func(f *fake) { f.faults["CheckRuns"] = many(errServer) }, check: Failed, why: "list the check runs: 502", untold: 3},
		"deleted in between":       {start: true, broken: 3, prepare: func(f *fake) { f.checks = nil }, check: Updated, completed: true, sent: 3},
		"an annotation is refused": {start: true, broken: 3, prepare: func(f *fake) { f.forbidden = "perfweir.yml" }, check: Updated, completed: true, untold: 3},
		"the second batch fails":   {start: true, broken: 120, prepare: func(f *fake) { f.faults["UpdateCheckRun"] = append([]fault{{}}, many(errServer)...) }, check: Updated, completed: true, sent: 50, untold: 70},
		"no answer, and no reading": {start: true, broken: 120, prepare: func(f *fake) {
			f.faults["UpdateCheckRun"] = []fault{{}, {err: ErrUnsure, done: true}}
			f.faults["CheckRun"] = many(errServer)
		}, check: Updated, completed: true, sent: 100, untold: 70},
		"never an answer": {start: true, broken: 3, prepare: func(f *fake) { f.faults["UpdateCheckRun"] = many(ErrUnsure) }, check: Failed, why: "no answer", untold: 3},
		"the run is somebody else's": {broken: 1, prepare: func(f *fake) {
			f.checks = append(f.checks, CheckRun{ID: 5, Name: "perfweir / codec", HeadSHA: head, ExternalID: "other", Status: statusInProgress})
		}, check: Posted, completed: true, sent: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			o := noComment()
			if c.start {
				o = started(t, f)
			}
			c.prepare(f)
			r := reportOf(document(130, c.broken))
			res := Publish(context.Background(), f, at(1, 1), r, o)
			got := res.Channel(ChannelCheck)
			if got.State != c.check || !strings.Contains(got.Why, c.why) {
				t.Errorf("%+v, want %s: %s", got, c.check, c.why)
			}
			if len(res.Untold) != c.untold {
				t.Errorf("%d annotations are left for the log, want %d", len(res.Untold), c.untold)
			}
			if c.completed {
				last := f.checks[len(f.checks)-1]
				if last.Status != statusCompleted || last.Conclusion != "failure" || len(f.remarks[last.ID]) != c.sent {
					t.Errorf("%s %s with %d annotations, want %d", last.Status, last.Conclusion, len(f.remarks[last.ID]), c.sent)
				}
				if said := res.Channel(ChannelAnnotations).State == Failed; said != (c.untold > 0) {
					t.Errorf("channels %v", res.Channels)
				}
			}
			if (len(f.statuses) > 0) != c.status {
				t.Errorf("statuses %+v", f.statuses)
			}
			if r.ExitCode("") != 1 {
				t.Error("publishing changed the verdict")
			}
		})
	}
}

// Texts are bounded, cut between rows, and written smaller when they are refused.
func TestCheckTexts(t *testing.T) {
	f := newFake(t)
	o := started(t, f)
	Publish(context.Background(), f, at(1, 1), reportOf(document(5_000, 1_500)), o)
	c := f.theCheck()
	for what, text := range map[string]string{"summary": c.Summary, "text": c.Text} {
		if len(text) > MaxSummary || len(text) < 40_000 || !strings.Contains(text, "Left out for size") {
			t.Errorf("%s of %d bytes", what, len(text))
		}
	}
	f = newFake(t)
	o = started(t, f)
	f.faults["UpdateCheckRun"] = []fault{{err: ErrTooLong}}
	res := Publish(context.Background(), f, at(1, 1), reportOf(document(5_000, 1_500)), o)
	if c := f.theCheck(); len(c.Summary) > summaryAgain || c.Status != statusCompleted || len(res.Failures()) > 0 {
		t.Errorf("%d bytes, %s, %v", len(c.Summary), c.Status, res.Channels)
	}
}

// A verdict that is told again after it changed sends no annotation twice.
func TestToldAgain(t *testing.T) {
	f := newFake(t)
	Publish(context.Background(), f, at(1, 1), reportOf(failing()), noComment())
	o := noComment()
	o.FailOn = FailOnNever
	if res := Publish(context.Background(), f, at(1, 1), reportOf(failing()), o); res.Channel(ChannelCheck).State != Updated || f.theCheck().Conclusion != conclusionNeutral {
		t.Errorf("%v: %s", res.Channels, f.theCheck().Conclusion)
	}
	unique(t, f.remarks[f.theCheck().ID])
}

func TestExternalID(t *testing.T) {
	id := ExternalIDOf(at(1, 2), "a --> b")
	if got, ok := ParseExternalID(id.String()); !ok || got != id {
		t.Errorf("%+v, want %+v", got, id)
	}
	for _, bad := range []string{"", "perfweir v=1", id.String() + " ", strings.Replace(id.String(), "v=1", "v=2", 1), strings.Replace(id.String(), "attempt=2", "attempt=02", 1)} {
		if got, ok := ParseExternalID(bad); ok {
			t.Errorf("%q was read as %+v", bad, got)
		}
	}
	to := at(1, 1)
	to.Tree = "not hex"
	if got, ok := ParseExternalID(ExternalIDOf(to, "").String()); !ok || got.Tree != "" || got.Suite != "-" {
		t.Errorf("%+v", got)
	}
	if n := CheckName(strings.Repeat("日本", 90)); len(n) > longestName || !strings.HasPrefix(n, "perfweir / 日本") {
		t.Errorf("name of %d bytes", len(n))
	}
}
