package baseline

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
)

const day = 24 * time.Hour

// left is a candidate that a refresh left; failed is one where it left none.
func left(refresh string, sessions ...result.Session) Candidate {
	return Candidate{File: refresh + ".json", Doc: document(sessions...), Refresh: refresh}
}

func failed(refresh string) Candidate {
	return Candidate{File: refresh, Err: errors.New("cut off"), Refresh: refresh}
}

// A baseline that gets old is told before it is gone.
func TestAgeWarnings(t *testing.T) {
	elsewhere := session("E", 9*day)
	elsewhere.Host = result.Host{}
	for _, tt := range []struct {
		name       string
		limit      time.Duration
		candidates []Candidate
		want       string // "": no warning
	}{
		{"young", 30 * day, []Candidate{left("1", session("A", 9*day))}, ""},
		{"as old as half of the limit", 30 * day, []Candidate{left("1", session("A", 15*day))}, ""},
		{"older than half of the limit", 30 * day, []Candidate{left("1", session("A", 16*day))}, "the newest session is 16 days old, limit 30 days"},
		{"old, and any age is allowed", 0, []Candidate{left("1", session("A", 900*day))}, ""},
		{"a folder's", 30 * day, []Candidate{file("a.json", session("A", 16*day)), {File: "b.json", Err: errors.New("cut off")}}, "the newest session is 16 days old, limit 30 days"},
		{"the last one failed", 30 * day, []Candidate{failed("2"), left("1", session("A", 1*day))}, "the newest session is 24 hours old, limit 30 days: the last refresh left nothing usable"},
		{"the last four failed", 30 * day, []Candidate{failed("5"), failed("4"), left("3", elsewhere), left("2"), left("1", session("A", 9*day)), failed("0")},
			"the newest session is 9 days old, limit 30 days: the last 4 refreshes left nothing usable"},
		{"they failed, and any age is allowed", 0, []Candidate{failed("3"), failed("2"), left("1", session("A", 9*day))},
			"the newest session is 9 days old, and any age is allowed: the last 2 refreshes left nothing usable"},
		{"two tries of one", 30 * day, []Candidate{failed("2"), failed("2"), left("1", session("A", 9*day))}, "the newest session is 9 days old, limit 30 days: the last refresh left nothing usable"},
		{"one of two tries is usable", 30 * day, []Candidate{failed("2"), left("2", session("B", 8*day)), left("1", session("A", 9*day))}, ""},
		{"the current session itself, and later ones", 30 * day, []Candidate{left("3", session("C", -1*day)), left("2", session("NOW", 0)), left("1", session("A", 9*day))}, ""},
		{"none was to be expected", 30 * day, []Candidate{{File: "fork", Err: errors.New("fork")}, left("1", session("A", 9*day))}, ""},
		{"nothing is taken", 30 * day, []Candidate{failed("2"), left("1", session("A", 31*day))}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Select(Policy{MaxAge: tt.limit.Seconds()}, wanted(), "", tt.candidates)
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if diff := cmp.Diff(want, b.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	other, stopped := session("O", 1*day), session("S", 1*day)
	other.Host, stopped.Interrupted = result.Host{}, true
	month := Policy{MaxAge: (30 * day).Seconds()}
	for _, tt := range []struct {
		name       string
		policy     Policy
		candidates []Candidate
		stale      bool
		text       string
	}{
		{"young", month, []Candidate{file("a", session("A", 40*day)), file("b", session("B", 9*day))}, false, "the newest session is 9 days old, limit 30 days"},
		{"as old as is allowed", month, []Candidate{file("a", session("A", 30*day))}, false, "the newest session is 30 days old, limit 30 days"},
		{"too old", month, []Candidate{file("a", session("A", 40*day)), file("b", session("B", 31*day))}, true, "the newest session is 31 days old, limit 30 days"},
		{"any age", Policy{}, []Candidate{file("a", session("A", 40*day))}, false, "the newest session is 40 days old, and any age is allowed"},
		{"none", month, nil, true, "there is no baseline: no session is stored yet"},
		{"none that is whole", month, []Candidate{file("a", stopped)}, true, "there is no baseline: none of 1 candidates fits"},
		{"none of this machine", month, []Candidate{file("a", other)}, true, "there is no baseline: all 1 stored sessions are of another machine"},
		{"a young one of another machine", month, []Candidate{file("a", other), file("b", session("B", 31*day))}, true, "the newest session is 31 days old, limit 30 days"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Select(tt.policy, wanted(), "", tt.candidates)
			if stale, text := Check(b, tt.policy, now); stale != tt.stale || text != tt.text {
				t.Errorf("%v, %q", stale, text)
			}
		})
	}
	if stale, text := Check(&Baseline{State: Failed, Reason: "403"}, month, now); !stale || text != "the baseline could not be asked for: 403" {
		t.Error(stale, text)
	}
}

// machine: same asks for the name as well.
func TestSameMachine(t *testing.T) {
	here, there := session("A", time.Hour), session("B", time.Hour)
	here.Machine, there.Machine = "perf-1", "perf-2"
	w := wanted()
	w.Machine = "perf-1"
	candidates := []Candidate{file("a.json", here), file("b.json", there)}
	if b := Select(Policy{}, w, "", candidates); len(b.Sessions) != 2 {
		t.Errorf("of the same kind: %v", b.Rejected)
	}
	b := Select(Policy{Machine: SameMachine}, w, "", candidates)
	if want := []Rejected{{"b.json", `other machine: its name is "perf-2", this one's "perf-1"`}}; !slices.Equal(b.Rejected, want) || len(b.Sessions) != 1 {
		t.Errorf("%v", b.Rejected)
	}
	if b := Select(Policy{Machine: SameMachine}, w, "", candidates[1:]); b.State != Incomparable {
		t.Errorf("%s: %s", b.State, b.Reason)
	}
}

// Shards of one night are no three sessions: the limit counts each apart.
func TestShardsAreCountedApart(t *testing.T) {
	var candidates []Candidate
	for night := range 3 {
		for shard := range 2 {
			c := file(fmt.Sprintf("%d-%d.json", night, shard), session(fmt.Sprintf("%d%d", night, shard), time.Duration(night+1)*day))
			c.Doc.Plan.Shard = fmt.Sprintf("%d/2", shard+1)
			candidates = append(candidates, c)
		}
	}
	b := Select(Policy{Sessions: 2}, wanted(), "", candidates)
	if diff := cmp.Diff([]string{"0-1.json 01", "0-0.json 00", "1-1.json 11", "1-0.json 10"}, taken(b)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Rejected{{"2-1.json", "older than the 2 newest"}, {"2-0.json", "older than the 2 newest"}}, b.Rejected); diff != "" {
		t.Error(diff)
	}
}
