package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

func TestFinish(t *testing.T) {
	ctx := context.Background()
	verdictOf := reportOf(failing())
	for name, c := range map[string]struct {
		prepare    func(f *fake, o *Options)
		end        End
		state      State
		conclusion string
		title      string
	}{
		"it crashed":             {func(f *fake, _ *Options) { Start(ctx, f, at(1, 1), noComment()) }, End{}, Updated, "failure", "no verdict: the job ended before there was a verdict"},
		"it said why":            {func(f *fake, _ *Options) { Start(ctx, f, at(1, 1), noComment()) }, End{Why: "the build failed"}, Updated, "failure", "no verdict: the build failed"},
		"somebody stopped it":    {func(f *fake, _ *Options) { Start(ctx, f, at(1, 1), noComment()) }, End{Cancelled: true}, Updated, "cancelled", "no verdict: the workflow run was cancelled"},
		"publishing was cut off": {func(f *fake, _ *Options) { Start(ctx, f, at(1, 1), noComment()) }, End{Cancelled: true, Report: &verdictOf}, Updated, "failure", "fail: 2 of 3 budgets broken"},
		"it was published":       {func(f *fake, _ *Options) { Publish(ctx, f, at(1, 1), verdictOf, noComment()) }, End{Published: true}, Unchanged, "failure", "fail: 2 of 3"},
		"it never began":         {func(*fake, *Options) {}, End{Why: "perfweir.yml:3:1: no such key"}, Posted, "failure", "no verdict: perfweir.yml:3:1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			o := noComment()
			c.prepare(f, &o)
			f.calls = nil
			if got := Finish(ctx, f, at(1, 1), o, c.end); got.State != c.state {
				t.Errorf("%+v, want %s", got, c.state)
			}
			run := f.theCheck()
			if run.Status != statusCompleted || run.Conclusion != c.conclusion || !strings.HasPrefix(run.Title, c.title) {
				t.Errorf("%s %s: %s", run.Status, run.Conclusion, run.Title)
			}
			if len(f.calls) > 2 {
				t.Errorf("calls %v", f.calls)
			}
		})
	}
}

// What an earlier attempt left in progress is completed; others' runs are not touched.
func TestFinishClosesEarlierAttempts(t *testing.T) {
	ctx := context.Background()
	f := newFake(t)
	other := noComment()
	other.Suite = "micro"
	Start(ctx, f, at(1, 1), noComment())
	Start(ctx, f, at(2, 1), noComment()) // another workflow run
	Start(ctx, f, at(1, 2), other)       // another suite
	Start(ctx, f, at(1, 2), noComment())
	Publish(ctx, f, at(1, 2), reportOf(passing()), noComment())
	if c := Finish(ctx, f, at(1, 2), noComment(), End{Published: true}); c.State != Unchanged {
		t.Errorf("%+v", c)
	}
	var got []string
	for _, c := range f.checks {
		got = append(got, c.Status+" "+c.Conclusion)
	}
	if want := "completed cancelled, in_progress , in_progress , completed success"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}

// The last step of an attempt that was overtaken leaves the newer attempt's alone.
func TestFinishLeavesLaterAttempts(t *testing.T) {
	ctx := context.Background()
	f := newFake(t)
	Start(ctx, f, at(1, 1), noComment())
	Start(ctx, f, at(1, 2), noComment())
	Finish(ctx, f, at(1, 1), noComment(), End{Cancelled: true})
	if f.checks[0].Status != statusCompleted || f.checks[1].Status != statusInProgress {
		t.Errorf("%+v", f.checks)
	}
}

// A create that had no answer, and that the listing did not show yet, leaves two
// check runs of one attempt: GitHub shows, and a merge waits for, the newer one.
func TestFinishCompletesTheNewest(t *testing.T) {
	ctx := context.Background()
	f := newFake(t)
	Start(ctx, f, at(1, 1), noComment())
	newest := Start(ctx, f, at(1, 1), noComment())
	if c := Finish(ctx, f, at(1, 1), noComment(), End{Why: "the build failed"}); c.State != Updated || c.ID != newest.ID {
		t.Errorf("%+v, want %d", c, newest.ID)
	}
	if got := f.checks[1]; got.Status != statusCompleted || got.Conclusion != conclusionFailure {
		t.Errorf("%+v", got)
	}
}

func TestFinishFaults(t *testing.T) {
	ctx := context.Background()
	f := newFake(t)
	f.faults["CheckRuns"] = []fault{{err: errForbidden}}
	if c := Finish(ctx, f, at(1, 1), noComment(), End{}); c.State != Failed || !strings.Contains(c.Why, "403") {
		t.Errorf("%+v", c)
	}
	status := noComment()
	status.Check = CheckStatus
	if c := Finish(ctx, f, at(1, 1), status, End{Published: true}); c.State != Unchanged || len(f.statuses) != 0 {
		t.Errorf("%+v", c)
	}
	if c := Finish(ctx, f, at(1, 1), status, End{Cancelled: true}); c.State != Posted || f.statuses[0].State != stateError {
		t.Errorf("%+v", c)
	}
	fork := at(1, 1)
	fork.Fork = true
	for _, c := range []Channel{Finish(ctx, f, fork, noComment(), End{}), Start(ctx, nil, at(1, 1), noComment()), Start(ctx, f, fork, noComment())} {
		if c.State != Skipped || c.Why == "" {
			t.Errorf("%+v", c)
		}
	}
	f.faults["CreateCheckRun"] = []fault{{err: fmt.Errorf("404: %w", fs.ErrNotExist)}}
	if c := Start(ctx, f, at(1, 1), noComment()); c.Name != ChannelStatus || f.statuses[1].State != statePending {
		t.Errorf("%+v", c)
	}
	f.faults["CreateCheckRun"] = []fault{{err: errors.New("boom\n::error::x")}}
	if c := Start(ctx, f, at(1, 1), noComment()); c.State != Failed || strings.Contains(c.Why, "\n") {
		t.Errorf("%+v", c)
	}
}

// A tree that was measured before completes the check at once.
func TestReuse(t *testing.T) {
	ctx := context.Background()
	const why = "the same tree was measured for 7, and passed: https://github.com/acme/widgets/runs/1"
	for name, c := range map[string]struct {
		prepare func(f *fake, o *Options)
		state   State
		channel string
	}{
		"no check run yet": {func(*fake, *Options) {}, Posted, ChannelCheck},
		"one was started":  {func(f *fake, o *Options) { o.CheckRun = Start(ctx, f, at(1, 1), *o).ID }, Updated, ChannelCheck},
		"as a status":      {func(_ *fake, o *Options) { o.Check = CheckStatus }, Posted, ChannelStatus},
		"no check runs here": {func(f *fake, _ *Options) {
			f.faults["CreateCheckRun"] = []fault{{err: fmt.Errorf("404: %w", fs.ErrNotExist)}}
		}, Posted, ChannelStatus},
		"refused": {func(f *fake, _ *Options) { f.faults["CreateCheckRun"] = []fault{{err: errForbidden}} }, Failed, ChannelCheck},
		"none":    {func(_ *fake, o *Options) { o.Check = CheckNone }, Skipped, ChannelCheck},
	} {
		f := newFake(t)
		o := noComment()
		c.prepare(f, &o)
		got := Reuse(ctx, f, at(1, 1), o, why)
		if got.State != c.state || got.Name != c.channel {
			t.Errorf("%s: %+v", name, got)
		}
		if c.state == Posted || c.state == Updated {
			switch c.channel {
			case ChannelCheck:
				if run := f.theCheck(); run.Conclusion != conclusionSuccess || run.Status != statusCompleted || run.Summary != why {
					t.Errorf("%s: %+v", name, run)
				}
			default:
				if s := f.statuses[0]; s.State != stateSuccess || !strings.HasPrefix(s.Description, "pass: the same tree") {
					t.Errorf("%s: %+v", name, s)
				}
			}
		}
	}
	for _, c := range []Channel{Reuse(ctx, nil, at(1, 1), noComment(), why), Reuse(ctx, newFake(t), Target{}, noComment(), why)} {
		if c.State != Skipped || c.Why == "" {
			t.Errorf("%+v", c)
		}
	}
}
