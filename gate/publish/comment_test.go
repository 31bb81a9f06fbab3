package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/verdict"
)

// noCheck are options that leave the comment alone.
func noCheck() Options {
	o := opts()
	o.Check = CheckNone
	return o
}

func publishComment(t *testing.T, gh GitHub, to Target, r Report, o Options) Channel {
	t.Helper()
	res := Publish(context.Background(), gh, to, r, o)
	return res.Channel(ChannelComment)
}

// bodies are the comments of ours that are left.
func (f *fake) bodies(key string) []string {
	var out []string
	for _, c := range f.comments {
		if c.Author == f.login && mine(c.Body, key) {
			out = append(out, c.Body)
		}
	}
	return out
}

// theBody is the one comment of a key.
func (f *fake) theBody(key string) string {
	f.t.Helper()
	all := f.bodies(key)
	if len(all) != 1 {
		f.t.Fatalf("%d comments of %s, want one", len(all), key)
	}
	return all[0]
}

// firstLine is what a reader sees first.
func firstLine(body string) string {
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "<!--") {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
}

func TestCommentLife(t *testing.T) {
	f := newFake(t)
	for i, step := range []struct {
		report    Report
		run       int64
		state     State
		first     string
		calls     string
		unchanged bool
	}{
		{reportOf(failing()), 1, Posted, "**fail**: 2 of 3 budgets broken in 2 of 3 cells", "Login Comments CreateComment Comments", false},
		{reportOf(failing()), 1, Unchanged, "**fail**: 2 of 3 budgets broken in 2 of 3 cells", "Login Comments", false},
		{reportOf(failing()), 2, Updated, "**fail**: 2 of 3 budgets broken in 2 of 3 cells", "Login Comments UpdateComment", false},
		{reportOf(undecided()), 3, Updated, "**inconclusive**: 1 of 3 budgets suspect in 1 of 3 cells; 2 hold", "Login Comments UpdateComment", false},
		{reportOf(passing()), 4, Updated, "**resolved: pass**: all 3 budgets hold in 3 cells", "Login Comments UpdateComment", false},
		{reportOf(passing()), 4, Unchanged, "**resolved: pass**: all 3 budgets hold in 3 cells", "Login Comments", false},
		{reportOf(failing()), 2, Skipped, "**resolved: pass**: all 3 budgets hold in 3 cells", "Login Comments", false},
	} {
		f.calls = nil
		c := publishComment(t, f, at(step.run, 1), step.report, noCheck())
		if c.State != step.state || c.URL == "" {
			t.Errorf("step %d: %+v, want %s", i, c, step.state)
		}
		if got := firstLine(f.theBody("codec")); got != step.first {
			t.Errorf("step %d: first line %q, want %q", i, got, step.first)
		}
		if got := strings.Join(f.calls, " "); got != step.calls {
			t.Errorf("step %d: calls %s, want %s", i, got, step.calls)
		}
	}
	// On another commit nothing is resolved any more: it passes, as it did.
	next := at(5, 1)
	next.SHA = strings.Repeat("ab", 20)
	if publishComment(t, f, next, reportOf(passing()), noCheck()); firstLine(f.theBody("codec")) != "**pass**: all 3 budgets hold in 3 cells" {
		t.Errorf("first line %q", firstLine(f.theBody("codec")))
	}
	// A re-run of the newest run is newer, one of an older run is not.
	if c := publishComment(t, f, at(5, 2), reportOf(failing()), noCheck()); c.State != Updated {
		t.Errorf("attempt 2: %v", c)
	}
	if c := publishComment(t, f, at(4, 9), reportOf(passing()), noCheck()); c.State != Skipped || !strings.Contains(c.Why, "workflow run 5") {
		t.Errorf("attempt 9 of an older run: %v", c)
	}
}

func TestCommentIsFound(t *testing.T) {
	t.Run("on a later page, below others", func(t *testing.T) { // C13
		f := newFake(t)
		for i := range 35 {
			f.post("octocat", fmt.Sprint("comment ", i))
		}
		publishComment(t, f, at(1, 1), reportOf(failing()), noCheck())
		for range 2 {
			f.post("octocat", "more")
		}
		if c := publishComment(t, f, at(2, 1), reportOf(failing()), noCheck()); c.State != Updated || len(f.comments) != 38 {
			t.Errorf("%v, %d comments", c, len(f.comments))
		}
	})
	t.Run("not where somebody else pasted the marker", func(t *testing.T) {
		f := newFake(t)
		forged := topMarker("codec") + "\nnice"
		f.post("octocat", forged)
		f.post(bot, "says: "+forged)
		f.post(bot, "\n"+forged)
		if c := publishComment(t, f, at(1, 1), reportOf(failing()), noCheck()); c.State != Posted || len(f.comments) != 4 {
			t.Errorf("%v, %d comments", c, len(f.comments))
		}
	})
	t.Run("not that of another suite", func(t *testing.T) {
		f := newFake(t)
		for _, suite := range []string{"codec", "codec2", "codec v=1", "co"} {
			o := noCheck()
			o.Suite = suite
			if c := publishComment(t, f, at(1, 1), reportOf(failing()), o); c.State != Posted {
				t.Errorf("%s: %v", suite, c)
			}
		}
		if len(f.comments) != 4 {
			t.Errorf("%d comments", len(f.comments))
		}
	})
	t.Run("damaged", func(t *testing.T) {
		f := newFake(t)
		f.post(bot, "<!-- perfweir:codec v=7 of a later version -->\n\x00 what it says")
		if c := publishComment(t, f, at(1, 1), reportOf(failing()), noCheck()); c.State != Updated || len(f.comments) != 1 {
			t.Errorf("%v, %d comments", c, len(f.comments))
		}
	})
}

// Each way in which GitHub says no, and what becomes of the comment.
func TestCommentFaults(t *testing.T) {
	for name, c := range map[string]struct {
		there   bool // a comment of an earlier run
		faults  map[string][]fault
		before  map[string]func(*fake)
		state   State
		why     string
		bodies  int
		written int // creates and updates
	}{
		"the account is refused":       {faults: map[string][]fault{"Login": {{err: errForbidden}}}, state: Failed, why: "as whom does this token write"},
		"listing is refused":           {faults: map[string][]fault{"Comments": {{err: errForbidden}}}, state: Failed, why: "grant pull-requests: write"},
		"server error":                 {faults: map[string][]fault{"Comments": {{err: errServer}}}, state: Failed, why: "502"},
		"writing is refused":           {faults: map[string][]fault{"CreateComment": {{err: errForbidden}}}, state: Failed, why: "grant pull-requests: write", written: 1},
		"updating is refused":          {there: true, faults: map[string][]fault{"UpdateComment": {{err: errForbidden}}}, state: Failed, why: "grant pull-requests: write", bodies: 1, written: 1},
		"locked conversation":          {faults: map[string][]fault{"CreateComment": {{err: ErrLocked}}}, state: Failed, why: "the conversation is locked", written: 1},
		"pull request is gone":         {faults: map[string][]fault{"CreateComment": {{err: errGone}}}, state: Failed, why: "takes no comment", written: 1},
		"deleted before the update":    {there: true, before: map[string]func(*fake){"UpdateComment": func(f *fake) { f.comments = nil }}, state: Posted, bodies: 1, written: 2},
		"no answer to create, done":    {faults: map[string][]fault{"CreateComment": {{err: ErrUnsure, done: true}}}, state: Posted, bodies: 1, written: 1},
		"no answer to create, lost":    {faults: map[string][]fault{"CreateComment": {{err: ErrUnsure}}}, state: Posted, bodies: 1, written: 2},
		"no answer to update, done":    {there: true, faults: map[string][]fault{"UpdateComment": {{err: ErrUnsure, done: true}}}, state: Updated, bodies: 1, written: 2},
		"no answer to update, lost":    {there: true, faults: map[string][]fault{"UpdateComment": {{err: ErrUnsure}}}, state: Updated, bodies: 1, written: 2},
		"never an answer":              {faults: map[string][]fault{"CreateComment": {{err: ErrUnsure}, {err: ErrUnsure}, {err: ErrUnsure}, {err: ErrUnsure}}}, state: Failed, why: "no answer", written: 4},
		"second look refused":          {faults: map[string][]fault{"Comments": {{}, {err: errServer}}}, state: Posted, why: "not looked at again: list the comments: 502", bodies: 1, written: 1},
		"another creator was faster":   {before: map[string]func(*fake){"CreateComment": func(f *fake) { f.post(bot, topMarker("codec")+"\nolder") }}, state: Posted, why: "1 duplicate comment", bodies: 1, written: 2},
		"a duplicate cannot be erased": {before: map[string]func(*fake){"CreateComment": func(f *fake) { f.post(bot, topMarker("codec")+"\nolder") }}, faults: map[string][]fault{"DeleteComment": {{err: errForbidden}}}, state: Posted, why: "could not be deleted", bodies: 2, written: 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			if c.there {
				publishComment(t, f, at(1, 1), reportOf(failing()), noCheck())
			}
			f.calls, f.faults = nil, c.faults
			if f.faults == nil {
				f.faults = map[string][]fault{}
			}
			for method, hook := range c.before {
				f.before[method] = func() { hook(f) }
			}
			res := Publish(context.Background(), f, at(2, 1), reportOf(failing()), noCheck())
			got := res.Channel(ChannelComment)
			if got.State != c.state || !strings.Contains(got.Why, c.why) || strings.Contains(got.Why, "\n") {
				t.Errorf("got %+v, want %s: %s", got, c.state, c.why)
			}
			if n := f.count("CreateComment") + f.count("UpdateComment"); n != c.written {
				t.Errorf("%d writes, want %d: %v", n, c.written, f.calls)
			}
			bodies := f.bodies("codec")
			if len(bodies) != c.bodies {
				t.Fatalf("%d comments, want %d", len(bodies), c.bodies)
			}
			if c.bodies > 0 && c.state != Failed {
				if s := parseBody(bodies[0]); len(s) != 1 || s[0].run.Number != 2 {
					t.Errorf("the comment that stays does not tell of run 2: %+v", s)
				}
			}
		})
	}
}

func TestCommentCancelled(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(context.Background())
	f.before["CreateComment"] = cancel
	res := Publish(ctx, f, at(1, 1), reportOf(failing()), noCheck())
	if c := res.Channel(ChannelComment); c.State != Failed || !strings.Contains(c.Why, "cancelled") {
		t.Errorf("%v", c)
	}
}

// Several comments of one key: the newest verdict goes into the oldest comment, the
// one that nobody deletes, and the others go.
func TestDuplicatesAreHealed(t *testing.T) {
	f := newFake(t)
	publishComment(t, f, at(1, 1), reportOf(failing()), noCheck())
	oldest := f.comments[0].ID
	older, newer := f.comments[0].Body, strings.ReplaceAll(f.comments[0].Body, "run=4701 number=1", "run=4709 number=9")
	f.post("octocat", "between")
	f.post(bot, newer)
	f.post(bot, older)
	c := publishComment(t, f, at(5, 1), reportOf(passing()), noCheck())
	if c.State != Updated || !strings.Contains(c.Why, "2 duplicate comments were merged") || !strings.Contains(c.Why, "workflow run 9, which is newer") {
		t.Errorf("%v", c)
	}
	if f.theBody("codec") != newer || f.comments[0].ID != oldest || len(f.comments) != 2 {
		t.Errorf("comments %+v", f.comments)
	}
	f.post(bot, older)
	if c := publishComment(t, f, at(10, 1), reportOf(passing()), noCheck()); c.State != Updated || c.ID != oldest {
		t.Errorf("%v", c)
	}
	if got := firstLine(f.theBody("codec")); !strings.HasPrefix(got, "**resolved: pass**") {
		t.Errorf("first line %q", got)
	}
}

// A listing that does not have the new comment yet is no reason for another.
func TestListingLags(t *testing.T) {
	f := newFake(t)
	hidden := f.comments
	f.before["CreateComment"] = func() {
		f.before["Comments"] = func() { hidden, f.comments = f.comments, nil }
	}
	c := publishComment(t, f, at(1, 1), reportOf(failing()), noCheck())
	if c.State != Posted || f.count("CreateComment") != 1 || len(hidden) != 1 {
		t.Errorf("%v, calls %v", c, f.calls)
	}
}

func TestCommentTooLong(t *testing.T) {
	for _, there := range []bool{false, true} {
		f := newFake(t)
		if there {
			publishComment(t, f, at(1, 1), reportOf(passing()), noCheck())
		}
		f.maxBody = 32_000 // less than GitHub's message says (C14)
		c := publishComment(t, f, at(2, 1), reportOf(document(900, 800)), noCheck())
		if c.State != Posted && c.State != Updated {
			t.Fatalf("%v", c)
		}
		body := f.theBody("codec")
		if len(body) > commentAgain || !strings.Contains(body, "Left out for size: ") || !strings.HasPrefix(body, topMarker("codec")) {
			t.Errorf("%d bytes: %.200s", len(body), body)
		}
		f.maxBody = 100
		if c := publishComment(t, f, at(3, 1), reportOf(document(900, 801)), noCheck()); c.State != Failed || !strings.Contains(c.Why, "too long") {
			t.Errorf("%v", c)
		}
	}
}

func TestCommentModes(t *testing.T) {
	more := failing()
	more.Findings[2].Outcome, more.Cells[2].Outcome = verdict.Fail, verdict.Fail
	slower := failing()
	*slower.Findings[0].Value = 7
	type step struct {
		r     Report
		state State
	}
	for mode, steps := range map[string][]step{
		CommentNever:     {{reportOf(failing()), Skipped}},
		CommentAlways:    {{reportOf(passing()), Posted}, {reportOf(passing()), Updated}},
		"":               {{reportOf(passing()), Posted}, {reportOf(passing()), Updated}},
		CommentOnFailure: {{reportOf(passing()), Skipped}, {reportOf(undecided()), Skipped}, {reportOf(failing()), Posted}, {reportOf(passing()), Updated}, {reportOf(failing()), Updated}},
		CommentOnChange:  {{reportOf(failing()), Posted}, {reportOf(slower), Unchanged}, {reportOf(more), Updated}, {reportOf(failing()), Updated}, {reportOf(passing()), Updated}, {reportOf(passing()), Unchanged}},
	} {
		t.Run("mode "+mode, func(t *testing.T) {
			f := newFake(t)
			o := noCheck()
			o.Comment = mode
			for i, s := range steps {
				if c := publishComment(t, f, at(int64(i+1), 1), s.r, o); c.State != s.state || s.state == Skipped && c.Why == "" {
					t.Errorf("step %d: %v, want %s", i, c, s.state)
				}
			}
			if mode == CommentNever && len(f.calls) > 0 {
				t.Errorf("calls %v", f.calls)
			}
		})
	}
	f := newFake(t)
	queue := at(1, 1)
	queue.Pull = 0 // merge_group: check only
	if c := publishComment(t, f, queue, reportOf(failing()), noCheck()); c.State != Skipped || len(f.calls) > 0 {
		t.Errorf("without a pull request: %v, calls %v", c, f.calls)
	}
}

func inGroup(suite string) Options {
	o := noCheck()
	o.Suite, o.Group = suite, "all suites"
	return o
}

// Suites of a group share a comment, and none touches another's section.
func TestGroup(t *testing.T) {
	f := newFake(t)
	publishComment(t, f, at(1, 1), reportOf(passing()), inGroup("micro"))
	micro := parseBody(f.theBody("all suites"))[0]
	publishComment(t, f, at(1, 1), reportOf(failing()), inGroup("codec"))
	body := f.theBody("all suites")
	if got, want := firstLine(body), "**fail**: 1 of 2 suites: `codec` fail, `micro` pass"; got != want {
		t.Errorf("first line %q, want %q", got, want)
	}
	all := parseBody(body)
	if len(all) != 2 || all[1] != micro {
		t.Errorf("the other section changed: %+v", all)
	}
	if strings.Index(body, "suite=codec") > strings.Index(body, "suite=micro") {
		t.Error("the worst suite is not the first")
	}
	publishComment(t, f, at(2, 1), reportOf(passing()), inGroup("codec"))
	if body = f.theBody("all suites"); !strings.Contains(body, "**resolved: pass**") || parseBody(body)[1] != micro {
		t.Errorf("after the fix: %s", body)
	}
	// Another workflow's old run of one suite is held back, the other suite's is not.
	if c := publishComment(t, f, at(1, 7), reportOf(failing()), inGroup("codec")); c.State != Skipped {
		t.Errorf("%v", c)
	}
	if c := publishComment(t, f, at(1, 7), reportOf(failing()), inGroup("micro")); c.State != Updated {
		t.Errorf("%v", c)
	}
	f.calls = nil
	if c := publishComment(t, f, at(1, 7), reportOf(failing()), inGroup("micro")); c.State != Unchanged || slices.Contains(f.calls, "UpdateComment") {
		t.Errorf("%v, calls %v", c, f.calls)
	}
}

// The other suite's job overwrites the comment between our reading and our writing:
// the second look brings both together.
func TestGroupLostUpdate(t *testing.T) {
	f := newFake(t)
	publishComment(t, f, at(1, 1), reportOf(passing()), inGroup("first"))
	var theirs string
	f.before["UpdateComment"] = func() {
		f.before["Comments"] = func() { f.comments[0].Body = theirs } // they read before us and write after us
	}
	theirs = compose("all suites", parseBody(f.comments[0].Body), marker{suite: "codec", run: at(1, 1).Run, outcome: verdict.Fail, rows: strings.Repeat("0", 16)},
		func(int) string { return "their section\n" }, commentBytes)
	if c := publishComment(t, f, at(1, 1), reportOf(failing()), inGroup("micro")); c.State != Updated {
		t.Errorf("%v", c)
	}
	var suites []string
	for _, s := range parseBody(f.theBody("all suites")) {
		suites = append(suites, s.suite)
	}
	if !slices.Equal(suites, []string{"codec", "first", "micro"}) {
		t.Errorf("sections %v", suites)
	}
}
