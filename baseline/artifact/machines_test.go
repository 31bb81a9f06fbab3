package artifact

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
)

// elsewhere is a machine of another kind.
var elsewhere = result.Host{Strict: map[string]string{"cpu_model": "EPYC 9V45"}}

// of adds what a machine of that kind left in a run.
func (w *world) of(run WorkflowRun, machine string, kind result.Host) *Artifact {
	doc := goodDocument(run, machine)
	doc.Sessions[0].Host = kind
	return w.left(run, doc)
}

// The results of this machine are read, and no others of that run.
func TestOwnMachineGoesFirst(t *testing.T) {
	w := newWorld(t)
	for i := range int64(3) {
		run := w.run(goodRun(100 - i))
		for _, m := range []string{"alpha", "perf-1", "zeta"} {
			w.of(run, m, here)
		}
	}
	want := []string{"workflow run 100 perf-1-1of1-a1: +01RUN100PERF1", "workflow run 99 perf-1-1of1-a1: +01RUN99PERF1", "workflow run 98 perf-1-1of1-a1: +01RUN98PERF1"}
	if diff := cmp.Diff(want, told(w.find())); diff != "" {
		t.Error(diff)
	}
	if len(w.requests) != 8 {
		t.Error(w.requests)
	}
}

// Where this machine has none, another of its kind will do. A machine that was
// seen to be of another kind is not read a second time.
func TestOtherMachinesOfTheKind(t *testing.T) {
	w := newWorld(t)
	for i := range int64(3) {
		run := w.run(goodRun(100 - i))
		w.of(run, "alpha", elsewhere)
		w.of(run, "beta", here)
		w.of(run, "gamma", here)
	}
	lone := w.run(goodRun(97))
	w.of(lone, "alpha", elsewhere)
	w.q.Sessions = 4
	want := []string{
		"workflow run 100 alpha-1of1-a1: +01RUN100ALPHA",
		"workflow run 100 beta-1of1-a1: +01RUN100BETA",
		"workflow run 99 beta-1of1-a1: +01RUN99BETA",
		"workflow run 98 beta-1of1-a1: +01RUN98BETA",
		"workflow run 97: has results of alpha only, of another kind",
	}
	found := w.find()
	if diff := cmp.Diff(want, told(found)); diff != "" {
		t.Error(diff)
	}
	if found.Fit != 3 {
		t.Error(found.Fit)
	}
	b := baseline.Select(baseline.Policy{}, w.q.Want, "", found.Candidates)
	if why := b.Rejected[0].Why; why != `other machine: cpu_model "EPYC 7763" here, "EPYC 9V45" there` {
		t.Error(why)
	}
}

// So many strangers of one run are read, and no more.
func TestStrangersAreBounded(t *testing.T) {
	w := newWorld(t)
	for i := range int64(2) {
		run := w.run(goodRun(100 - i))
		for _, m := range strings.Fields("a b c d e") {
			w.of(run, m, elsewhere)
		}
	}
	run := w.run(goodRun(98))
	for _, m := range strings.Fields("a b f g h") {
		w.of(run, m, elsewhere)
	}
	found := w.find()
	want := []string{"archive 10000", "archive 10001", "archive 10002", "archive 9903", "archive 9904", "archive 9802", "archive 9803", "archive 9804"}
	got := slices.DeleteFunc(slices.Clone(w.requests), func(r string) bool { return !strings.HasPrefix(r, "archive") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if b := baseline.Select(baseline.Policy{}, w.q.Want, "", found.Candidates); b.State != baseline.Incomparable {
		t.Errorf("%s: %s", b.State, b.Reason)
	}
}

// A machine whose hardware, driver or power mode was changed has many sessions
// that do not fit: the walk ends before it has asked for all.
func TestThisMachineWasChanged(t *testing.T) {
	w := newWorld(t)
	for i := range int64(20) {
		w.of(w.run(goodRun(100-i)), "perf-1", elsewhere)
	}
	found := w.find()
	if len(found.Candidates) != 5 || len(w.requests) != 12 {
		t.Error(told(found), w.requests)
	}
	if want := []string{"the newest 5 sessions of this machine were looked at, all of another kind than it is now; older ones were not"}; !slices.Equal(found.Warnings, want) {
		t.Errorf("%q", found.Warnings)
	}
	if b := baseline.Select(baseline.Policy{}, w.q.Want, "", found.Candidates); b.State != baseline.Incomparable {
		t.Errorf("%s: %s", b.State, b.Reason)
	}
}

func TestSameMachineOnly(t *testing.T) {
	w := newWorld(t)
	w.q.SameMachineOnly = true
	first := w.run(goodRun(100))
	for _, m := range strings.Fields("a b c d e f g") {
		w.of(first, m, here)
	}
	w.good(99)
	run := w.run(goodRun(98))
	liar := goodDocument(run, "perf-2")
	w.upload(run, Name("codec", "perf-1", "", 1), goodArchive(t, liar))
	found := w.find()
	want := []string{`workflow run 100: has results of a, b, c, d, e and 2 more only, and machine is "same"`,
		"workflow run 99 perf-1-1of1-a1: +01RUN99PERF1", "workflow run 98 perf-1-1of1-a1: +01RUN98PERF2"}
	if diff := cmp.Diff(want, told(found)); diff != "" {
		t.Error(diff)
	}
	if found.Fit != 1 || slices.Contains(w.requests, "archive 10000") {
		t.Error(found.Fit, w.requests)
	}
	w.q.Want.Machine = "perf-1"
	b := baseline.Select(baseline.Policy{Machine: baseline.SameMachine}, w.q.Want, "", found.Candidates)
	if why := b.Rejected[1].Why; why != `other machine: its name is "perf-2", this one's "perf-1"` {
		t.Error(why)
	}
}

// Whoever looks after the baselines of all machines asks from none of them.
func TestAnyMachine(t *testing.T) {
	w := newWorld(t)
	w.q.Machine, w.q.SameMachineOnly, w.q.Want.AnyMachine = "", true, true
	for i := range int64(4) {
		w.of(w.run(goodRun(100-i)), "alpha", elsewhere)
	}
	found := w.find()
	if found.Fit != 3 || len(found.Candidates) != 3 {
		t.Error(told(found))
	}
	p := baseline.Policy{Machine: baseline.SameMachine}
	if b := baseline.Select(p, w.q.Want, "", found.Candidates); len(b.Sessions) != 3 {
		t.Errorf("%v", b.Rejected)
	}
}

// The latest attempt counts; an earlier one where that brings nothing.
func TestAttempts(t *testing.T) {
	w := newWorld(t)
	run := goodRun(100)
	for attempt := 1; attempt <= 11; attempt++ {
		run.Attempt = attempt
		doc := goodDocument(run, "perf-1")
		doc.Sessions[0].ID = "01A" + strings.Repeat("A", attempt)
		w.left(run, doc)
	}
	w.run(run)
	w.blobs[10010].data = []byte("{")
	w.artifacts[100][9].Expired = true
	want := []string{
		`workflow run 100 perf-1-1of1-a11: is no zip archive but a file that was uploaded unzipped (content type "application/zip"): upload it with archive: true`,
		"workflow run 100 perf-1-1of1-a10: expired",
	}
	// The list ends at the latest attempt: the others were seen before it.
	if diff := cmp.Diff(append(want, "workflow run 100 perf-1-1of1-a9: +01AAAAAAAAAA"), told(w.find())); diff != "" {
		t.Error(diff)
	}
}

// dealt adds one shard of a run.
func (w *world) dealt(run WorkflowRun, machine, shard string) {
	doc := goodDocument(run, machine)
	doc.Plan.Shard = shard
	doc.Sessions[0].ID += strings.ReplaceAll(shard, "/", "OF")
	w.left(run, doc)
}

// A shard is compared with that shard; the whole with all of them, of whatever
// machine of the kind. Three shards of a night are no three sessions.
func TestShards(t *testing.T) {
	for _, tt := range []struct {
		name, shard, machine string
		want                 []string
	}{
		{"one shard", "2/3", "m2", []string{
			"workflow run 100 m2-2of3-a1: +01RUN100M22OF3", "workflow run 99 m2-2of3-a1: +01RUN99M22OF3"}},
		{"one shard that another machine measured", "2/3", "m1", []string{
			"workflow run 100 m2-2of3-a1: +01RUN100M22OF3", "workflow run 99 m2-2of3-a1: +01RUN99M22OF3"}},
		{"the whole, this machine having a part", "", "m1", []string{
			"workflow run 100 m1-1of3-a1: +01RUN100M11OF3", "workflow run 100 m2-2of3-a1: +01RUN100M22OF3", "workflow run 100 m3-3of3-a1: +01RUN100M33OF3",
			"workflow run 99 m1-1of3-a1: +01RUN99M11OF3", "workflow run 99 m2-2of3-a1: +01RUN99M22OF3", "workflow run 99 m3-3of3-a1: +01RUN99M33OF3"}},
		{"dealt another way", "1/2", "m4", []string{
			"workflow run 100 m1-1of3-a1: +01RUN100M11OF3", "workflow run 100 m2-2of3-a1: +01RUN100M22OF3", "workflow run 100 m3-3of3-a1: +01RUN100M33OF3",
			"workflow run 99 m1-1of3-a1: +01RUN99M11OF3", "workflow run 99 m2-2of3-a1: +01RUN99M22OF3", "workflow run 99 m3-3of3-a1: +01RUN99M33OF3"}},
		{"the whole, joined", "", "", []string{
			"workflow run 100 m1-1of3-a1: +01RUN100M11OF3", "workflow run 100 m2-2of3-a1: +01RUN100M22OF3", "workflow run 100 m3-3of3-a1: +01RUN100M33OF3",
			"workflow run 99 m1-1of3-a1: +01RUN99M11OF3", "workflow run 99 m2-2of3-a1: +01RUN99M22OF3", "workflow run 99 m3-3of3-a1: +01RUN99M33OF3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.q.Shard, w.q.Machine, w.q.Sessions = tt.shard, tt.machine, 2
			for i := range int64(4) {
				run := w.run(goodRun(100 - i))
				w.dealt(run, "m1", "1/3")
				w.dealt(run, "m2", "2/3")
				w.dealt(run, "m3", "3/3")
			}
			found := w.find()
			if diff := cmp.Diff(tt.want, told(found)); diff != "" {
				t.Error(diff)
			}
			if found.Fit != len(tt.want) {
				t.Errorf("%d fit", found.Fit)
			}
		})
	}
}

// A run that was not dealt has the cells of every shard; one that other machines
// measured in other parts is this machine's as this one measured it.
func TestDeals(t *testing.T) {
	for _, tt := range []struct {
		shard   string
		machine string
		same    bool
		want    []string
	}{
		{"2/3", "m1", false, []string{"workflow run 100 m1-1of1-a1: +01RUN100M1"}},
		{"", "m1", false, []string{"workflow run 100 m1-1of1-a1: +01RUN100M1"}},
		{"2/2", "m1", false, []string{"workflow run 100 m2-2of2-a1: +01RUN100M22OF2"}},
		{"2/2", "m1", true, []string{"workflow run 100 m1-1of1-a1: +01RUN100M1"}},
		{"", "m2", false, []string{"workflow run 100 m2-1of2-a1: +01RUN100M21OF2", "workflow run 100 m2-2of2-a1: +01RUN100M22OF2"}},
		{"", "m3", false, []string{"workflow run 100 m1-1of1-a1: +01RUN100M1"}},
	} {
		w := newWorld(t)
		w.q.Shard, w.q.Machine, w.q.SameMachineOnly, w.q.Sessions = tt.shard, tt.machine, tt.same, 1
		run := w.run(goodRun(100))
		w.of(run, "m1", here)
		w.dealt(run, "m2", "1/2")
		w.dealt(run, "m2", "2/2")
		if diff := cmp.Diff(tt.want, told(w.find())); diff != "" {
			t.Errorf("shard %s on %s: %s", tt.shard, tt.machine, diff)
		}
	}
}
