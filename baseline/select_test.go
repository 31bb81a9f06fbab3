package baseline

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
)

// now is the current session's start; it is far from any clock on purpose.
var now = time.Date(2019, 3, 1, 12, 0, 0, 0, time.UTC)

var here = result.Host{Strict: map[string]string{"cpu_model": "EPYC 7763", "cores": "8"}, Soft: map[string]string{"kernel": "6.1"}}

func session(id string, age time.Duration) result.Session {
	return result.Session{ID: id, StartedAt: now.Add(-age), Host: here}
}

func document(sessions ...result.Session) *result.Document {
	return &result.Document{Header: result.Header{Suite: result.Suite{Name: "codec"}, Sessions: sessions}}
}

func file(name string, sessions ...result.Session) Candidate {
	return Candidate{File: name, Doc: document(sessions...)}
}

func wanted() Want {
	return Want{Suite: "codec", Host: here, StartedAt: now, Sessions: map[string]bool{"NOW": true}}
}

func taken(b *Baseline) []string {
	var out []string
	for _, s := range b.Sessions {
		out = append(out, s.File+" "+s.Session().ID)
	}
	return out
}

func TestSelectRejects(t *testing.T) {
	other := session("A", time.Hour)
	other.Host = result.Host{Strict: map[string]string{"cpu_model": "EPYC 9V45", "gpu": "H200"}}
	soft := session("A", time.Hour)
	soft.Host.Soft = map[string]string{"kernel": "6.9"}
	stopped := session("A", time.Hour)
	stopped.Interrupted = true
	foreign := document(session("A", time.Hour))
	foreign.Suite.Name = "other"
	for _, tt := range []struct {
		name      string
		candidate Candidate
		state     string
		why       string // "": taken
	}{
		{"one that fits", file("a.json", session("A", time.Hour)), OK, ""},
		{"one that started in the same moment", file("a.json", session("A", 0)), OK, ""},
		{"another kernel is a soft difference", file("a.json", soft), OK, ""},
		{"as old as is allowed", file("a.json", session("A", 72*time.Hour)), OK, ""},
		{"unreadable", Candidate{File: "a.json", Err: errors.New("byte 7: no JSON")}, None, "byte 7: no JSON"},
		{"another suite", Candidate{File: "a.json", Doc: foreign}, None, `of suite "other"`},
		{"without a session", file("a.json"), None, "has no session"},
		{"itself", file("a.json", session("NOW", 0)), None, "this very session"},
		{"C21 V44 another machine", file("a.json", other), Incomparable,
			`other machine: cores "8" here, unknown there; cpu_model "EPYC 7763" here, "EPYC 9V45" there; gpu unknown here, "H200" there`},
		{"interrupted", file("a.json", stopped), None, "interrupted: not all of it was measured"},
		{"from the future", file("a.json", session("A", -time.Second)), None, "started after the current session"},
		{"too old", file("a.json", session("A", 73*time.Hour)), None, "3 days 1 hours old, limit 3 days"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Select(Policy{Sessions: 10, MaxAge: 72 * 3600}, wanted(), "folder x", []Candidate{tt.candidate})
			if b.State != tt.state || b.Origin != "folder x" || (b.Reason == "") != (tt.state == OK) {
				t.Errorf("state %q, reason %q, origin %q", b.State, b.Reason, b.Origin)
			}
			var want []Rejected
			if tt.why != "" {
				want = []Rejected{{"a.json", tt.why}}
			}
			if diff := cmp.Diff(want, b.Rejected); diff != "" {
				t.Error(diff)
			}
			if len(b.Sessions)+len(b.Rejected) != 1 {
				t.Errorf("%d taken, %d rejected of one candidate", len(b.Sessions), len(b.Rejected))
			}
		})
	}
}

// Newest first by the session's start, whatever the names and the order of files;
// at most so many; the rest is listed.
func TestSelectOrderAndLimit(t *testing.T) {
	b := Select(Policy{Sessions: 3}, wanted(), "", []Candidate{
		file("z.json", session("C", 3*time.Hour)),
		file("b.json", session("E", 5*time.Hour)),
		file("a.json", session("A", 1*time.Hour), session("D", 4*time.Hour)),
		file("c.json", session("B", 1*time.Hour)), // the same moment: the larger id is the newer
	})
	if diff := cmp.Diff([]string{"c.json B", "a.json A", "z.json C"}, taken(b)); diff != "" {
		t.Error(diff)
	}
	want := []Rejected{{"a.json session D", "older than the 3 newest"}, {"b.json", "older than the 3 newest"}}
	if diff := cmp.Diff(want, b.Rejected); diff != "" {
		t.Error(diff)
	}
	if b := Select(Policy{}, wanted(), "", []Candidate{file("a.json", session("A", 1e5*time.Hour))}); len(b.Sessions) != 1 {
		t.Errorf("without limits: %d taken, %v", len(b.Sessions), b.Rejected)
	}
}

// A copy of a session is no second one, and takes no place of the limit.
func TestSelectCountsACopyOnce(t *testing.T) {
	b := Select(Policy{Sessions: 2}, wanted(), "", []Candidate{
		file("copy.json", session("A", time.Hour)),
		file("both.json", session("B", 2*time.Hour), session("A", time.Hour)),
	})
	if diff := cmp.Diff([]string{"copy.json A", "both.json B"}, taken(b)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Rejected{{"both.json session A", "the same session as copy.json"}}, b.Rejected); diff != "" {
		t.Error(diff)
	}
}

// Why there is none is said without claiming more than is known.
func TestSelectReasons(t *testing.T) {
	other := session("A", time.Hour)
	other.Host = result.Host{}
	stopped := session("B", time.Hour)
	stopped.Interrupted = true
	for _, tt := range []struct {
		candidates    []Candidate
		state, reason string
	}{
		{nil, None, "no session is stored yet"},
		{[]Candidate{file("a.json", other)}, Incomparable, "all 1 stored sessions are of another machine"},
		{[]Candidate{file("a.json", other), file("b.json", stopped)}, Incomparable, "1 of 2 stored sessions are of another machine, and none of the others fits"},
		{[]Candidate{file("b.json", stopped), {File: "c.json", Err: errors.New("no")}}, None, "none of 2 candidates fits"},
	} {
		if b := Select(Policy{}, wanted(), "", tt.candidates); b.State != tt.state || b.Reason != tt.reason {
			t.Errorf("%q %q, want %q %q", b.State, b.Reason, tt.state, tt.reason)
		}
	}
}

func TestHostDifference(t *testing.T) {
	if d := HostDifference(here, here); d != "" {
		t.Errorf("a machine differs from itself: %s", d)
	}
	if d := HostDifference(result.Host{}, result.Host{Strict: map[string]string{}}); d != "" {
		t.Errorf("nothing known differs from nothing known: %s", d)
	}
	// In the order of keys, always.
	many := result.Host{Strict: map[string]string{}}
	for i := range 20 {
		many.Strict[fmt.Sprintf("key_%02d", i)] = "x"
	}
	first := HostDifference(many, result.Host{})
	for range 20 {
		if d := HostDifference(many, result.Host{}); d != first || strings.Index(d, "key_03") > strings.Index(d, "key_17") {
			t.Fatalf("order changes: %s", d)
		}
	}
}

func TestDays(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0 hours", 3599: "0 hours", 47 * 3600: "47 hours", 48 * 3600: "2 days", 49*3600 + 1: "2 days 1 hours", 30 * 86400: "30 days"} {
		if got := Days(seconds); got != want {
			t.Errorf("%g s: %q, want %q", seconds, got, want)
		}
	}
}
