// Package sourcetest is what every source of baseline candidates must do, as a
// suite of tests that each runs against itself: a folder, a workflow's artifacts.
// It holds no source and decides nothing about candidates.
package sourcetest

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
)

// Source is a source under test.
type Source interface {
	// Put stores one document as name.
	Put(t *testing.T, name string, data []byte)
	// Candidates asks the source, which holds what was put and nothing else.
	Candidates() ([]baseline.Candidate, error)
}

// Started is when the sessions of the suite's documents began.
var Started = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// Run holds a kind of source against the suite; empty makes a fresh one.
func Run(t *testing.T, empty func(t *testing.T) Source) {
	good, other := document("01GOOD"), document("02GOOD")
	for _, tt := range []struct {
		name string
		put  map[string][]byte
		want map[string]string // file -> session id, or what its error says
	}{
		{"nothing", nil, nil},
		{"one", map[string][]byte{"01.json": good}, map[string]string{"01.json": "01GOOD"}},
		{"many", map[string][]byte{"01.json": good, "02.json": other}, map[string]string{"01.json": "01GOOD", "02.json": "02GOOD"}},
		{"an empty one", map[string][]byte{"01.json": good, "02.json": {}}, map[string]string{"01.json": "01GOOD", "02.json": "error: "}},
		{"garbage", map[string][]byte{"01.json": []byte("\x00\xff{"), "02.json": other}, map[string]string{"01.json": "error: ", "02.json": "02GOOD"}},
		{"cut off", map[string][]byte{"01.json": good[:len(good)/2]}, map[string]string{"01.json": "error: "}},
		{"another document", map[string][]byte{"01.json": []byte(`{"schema":"perfweir.verdict/v1"}`)}, map[string]string{"01.json": "error: perfweir.verdict/v1"}},
		{"a newer version", map[string][]byte{"01.json": bytes.Replace(good, []byte("results/v1"), []byte("results/v2"), 1)}, map[string]string{"01.json": "error: newer"}},
		{"something after it", map[string][]byte{"01.json": append(slices.Clone(good), "{}"...)}, map[string]string{"01.json": "error: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := empty(t)
			for name, data := range tt.put {
				s.Put(t, name, data)
			}
			check(t, s, tt.want)
		})
	}
}

// check asks twice: the answer is the same, newest name first.
func check(t *testing.T, s Source, want map[string]string) {
	t.Helper()
	var before []string
	for range 2 {
		candidates, err := s.Candidates()
		if err != nil {
			t.Fatalf("a bad document is a failure of the source: %v", err)
		}
		var names []string
		for _, c := range candidates {
			names = append(names, c.File)
			checkOne(t, c, want[c.File])
		}
		if len(names) != len(want) || !slices.IsSortedFunc(names, func(a, b string) int { return strings.Compare(b, a) }) {
			t.Errorf("candidates %q, want %d, the newest name first", names, len(want))
		}
		if before != nil && !slices.Equal(before, names) {
			t.Errorf("asked again: %q, before %q", names, before)
		}
		before = names
	}
}

// checkOne holds a candidate to exactly one of a document and an error.
func checkOne(t *testing.T, c baseline.Candidate, want string) {
	t.Helper()
	says, fails := strings.CutPrefix(want, "error: ")
	switch {
	case (c.Err == nil) == (c.Doc == nil):
		t.Errorf("%s: document %v and error %v", c.File, c.Doc != nil, c.Err)
	case fails != (c.Err != nil):
		t.Errorf("%s: error %v, want %q", c.File, c.Err, want)
	case fails && !strings.Contains(c.Err.Error(), says):
		t.Errorf("%s: error %q does not say %q", c.File, c.Err, says)
	case !fails && c.Doc.Sessions[0].ID != want:
		t.Errorf("%s: session %q, want %q", c.File, c.Doc.Sessions[0].ID, want)
	}
}

// document is a small results document of one session.
func document(id string) []byte {
	doc := &result.Document{Header: result.Header{
		Schema: result.Schema, Suite: result.Suite{Name: "codec", Path: "perfweir.yml"},
		Plan: result.PlanRef{Digest: "sha256:1", Looks: []int{1}, Cells: 1, Runs: 1},
		Sessions: []result.Session{{ID: id, Machine: "m", StartedAt: Started,
			Origin: "run", Replicates: result.ReplicatesProcess}},
		Metrics: map[string]result.Metric{result.WallTime: {Unit: "s", Better: result.Lower, Class: result.Noisy}},
	}, Cells: []result.Cell{{
		Name: "encode", Benchmark: "encode", Build: result.BuildHead, Digest: "sha256:2", Planned: 1,
		Runs:    result.Runs{Repeat: []int{1}, Block: []int{1}, Slot: []int{0}, Start: []float64{0}},
		Columns: []result.Column{{Metric: result.WallTime, V: result.Values{1}}},
	}}}
	var b bytes.Buffer
	if err := result.Encode(&b, doc); err != nil {
		panic("sourcetest: " + err.Error()) // a constant document
	}
	return b.Bytes()
}
