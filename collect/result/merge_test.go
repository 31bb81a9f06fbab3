package result

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The merge of the shards of a plan has the cells of the whole plan, in its order,
// with every run in the session that measured it, whichever document comes first.
func TestMergeIsTheWholePlan(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		docs, cells := randomShards(rnd)
		var before [][]byte
		for _, d := range docs {
			before = append(before, encoded(t, d))
		}
		got, err := Merge(docs)
		if err != nil {
			t.Fatalf("plan %d: %v", seed, err)
		}
		text := encoded(t, got)
		checkMerged(t, seed, docs, got, cells)
		back, err := Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("plan %d: %v", seed, err)
		}
		if diff := cmp.Diff(got, back, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("plan %d differs after Decode(Encode) (-want +got):\n%s", seed, diff)
		}
		for i, d := range docs {
			if !bytes.Equal(encoded(t, d), before[i]) {
				t.Fatalf("plan %d: Merge changed document %d", seed, i)
			}
		}
		rnd.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		again, err := Merge(docs)
		if err != nil {
			t.Fatalf("plan %d in another order: %v", seed, err)
		}
		if other := encoded(t, again); !bytes.Equal(text, other) {
			t.Fatalf("plan %d: another order of the documents gives another merge:\n%s\n%s", seed, text, other)
		}
	}
}

// checkMerged holds a merge against the cells of the whole plan, whose runs name
// the sessions of the shards' own documents.
func checkMerged(t *testing.T, seed uint64, docs []*Document, got *Document, cells []Cell) {
	t.Helper()
	if len(got.Cells) != len(cells) || got.Plan.Cells != len(cells) {
		t.Fatalf("plan %d: %d cells, %d planned, want %d", seed, len(got.Cells), got.Plan.Cells, len(cells))
	}
	runs := 0
	for i := range cells {
		want, is := cells[i], got.Cells[i]
		from := docs[shardOf(docs, want.ID())-1]
		for k := range want.Runs.Len() {
			w, g := from.Sessions[want.Runs.SessionAt(k)], got.Sessions[is.Runs.SessionAt(k)]
			if diff := cmp.Diff(w, g); diff != "" {
				t.Fatalf("plan %d: run %d of %s is of another session (-want +got):\n%s", seed, k, want.Name, diff)
			}
		}
		want.Runs.Session, is.Runs.Session = nil, nil
		if diff := cmp.Diff(want, is, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("plan %d: cell %d (-want +got):\n%s", seed, i, diff)
		}
		runs += want.Planned
	}
	p := got.Plan
	if p.Runs != runs || p.Digest != "sha256:whole" || p.Shard != "" || p.Whole != "" || p.Seed != 0 || got.Dealt != nil || len(p.Shards) != len(docs) {
		t.Fatalf("plan %d: %+v, want %d runs of the whole plan", seed, p, runs)
	}
	sessions := 0
	for i, d := range docs {
		sessions += len(d.Sessions)
		if want := (ShardRef{Shard: d.Plan.Shard, Digest: d.Plan.Digest, Seed: d.Plan.Seed}); p.Shards[i] != want {
			t.Fatalf("plan %d: shard %+v, want %+v", seed, p.Shards[i], want)
		}
		if d.Sessions[0].StartedAt.Before(got.Sessions[0].StartedAt) {
			t.Fatalf("plan %d: the first session is not that of the shard that began first", seed)
		}
	}
	if len(got.Sessions) != sessions {
		t.Fatalf("plan %d: %d sessions, want %d", seed, len(got.Sessions), sessions)
	}
}

// shardOf is the shard that a cell was dealt to.
func shardOf(docs []*Document, id ID) int {
	dealt := docs[0].Dealt
	return dealt[slices.IndexFunc(dealt, func(d Dealt) bool { return d.ID() == id })].Shard
}

func TestMergeOfOneWholeDocument(t *testing.T) {
	for seed := range uint64(100) {
		d := randomDocument(rand.New(rand.NewPCG(seed, 4)))
		d.Plan.Shard = ""
		got, err := Merge([]*Document{d})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, got, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("document %d is not as it was (-want +got):\n%s", seed, diff)
		}
	}
}

// Sessions of a shard that was resumed stay behind each other, even when a clock
// was set back meanwhile.
func TestMergeKeepsTheOrderOfAShard(t *testing.T) {
	docs := twoShards()
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	docs[0].Sessions = []Session{{ID: "a0", StartedAt: at(50)}, {ID: "a1", StartedAt: at(10)}}
	docs[1].Sessions = []Session{{ID: "b0", StartedAt: at(20)}}
	docs[0].Cells[0].Runs.Session = []int{1}
	got, err := Merge(docs)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range got.Sessions {
		ids = append(ids, got.Sessions[i].ID)
	}
	if want := []string{"b0", "a0", "a1"}; !slices.Equal(ids, want) {
		t.Errorf("sessions %v, want %v", ids, want)
	}
	for i, want := range []string{"b0", "a1", "b0", "a0", "b0"} {
		if id := ids[got.Cells[i].Runs.SessionAt(0)]; id != want {
			t.Errorf("cell %d ran in %s, want %s", i, id, want)
		}
	}
	if docs[1].Cells[0].Runs.Session != nil || got.Cells[0].Runs.Session != nil {
		t.Error("session 0 in all runs is written down")
	}
}

func TestMergePartial(t *testing.T) {
	docs := twoShards()
	got, missing, err := MergePartial(docs[1:])
	if err != nil || !slices.Equal(missing, []Shard{{1, 2}}) {
		t.Fatalf("missing %v, %v", missing, err)
	}
	for i := range got.Cells {
		c := &got.Cells[i]
		ran := i%2 == 0
		if c.Name != fmt.Sprintf("c%d", i) || c.Planned != 1 || (c.Runs.Len() == 1) != ran || (len(c.Columns) == 1) != ran || c.Digest != "sha256:c" {
			t.Errorf("cell %d: %+v, want it to have run: %v", i, c, ran)
		}
	}
	if got.Plan.Cells != 5 || got.Plan.Runs != 5 || got.Plan.Partial() || !got.Plan.Shards[0].Missing || got.Plan.Shards[1].Missing {
		t.Errorf("plan %+v", got.Plan)
	}
	if _, err := Decode(bytes.NewReader(encoded(t, got))); err != nil {
		t.Error(err)
	}
	got, err = Merge(docs[:1])
	want := `merge results: shards are missing: 2/2, with 3 of 5 cells ("c0" is one)`
	if got != nil || !errors.Is(err, ErrMissing) || err.Error() != want {
		t.Errorf("Merge = %v, %v, want %s", got, err, want)
	}
	// What is a part already lacks the list of the others.
	if _, err := Merge([]*Document{must(MergePartial(docs[1:])), docs[0]}); err == nil || !strings.Contains(err.Error(), "is of a whole plan") {
		t.Errorf("joined to what was merged: %v", err)
	}
}

func must(d *Document, _ []Shard, err error) *Document {
	if err != nil {
		panic(err)
	}
	return d
}

func TestMergeUnites(t *testing.T) {
	docs := twoShards()
	docs[0].Metrics["frames"] = Metric{Unit: "1", Better: Higher, Class: Noisy, Source: "stdout", Step: 1}
	docs[1].Metrics["frames"] = Metric{Unit: "1", Better: Higher, Class: Noisy, Source: "stderr", Step: 4}
	docs[1].Metrics["energy"] = Metric{Unit: "J", Better: Lower, Class: Noisy}
	docs[1].Builds[BuildBase] = Build{Commit: "77fe"}
	docs[1].Builds[BuildHead].Programs["bin/other"] = "sha256:4"
	got, err := Merge(docs)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Metrics) != 3 || got.Metrics["frames"].Source != "stdout" || got.Metrics["frames"].Step != 4 || got.Metrics["energy"].Unit != "J" {
		t.Errorf("metrics %+v", got.Metrics)
	}
	programs := got.Builds[BuildHead].Programs
	if got.Builds[BuildBase].Commit != "77fe" || len(programs) != 3 || programs["bin/same"] != "sha256:3" || programs["bin/other"] != "sha256:4" {
		t.Errorf("builds %+v", got.Builds)
	}
	// What differs between shards is told apart from each of them, and the next
	// merge of the same programs knows it again.
	dated := programs["bin/dated"]
	if dated == "sha256:1/2" || dated == "sha256:2/2" || !strings.HasPrefix(dated, "sha256:") {
		t.Errorf("digest of a program that differs: %q", dated)
	}
	slices.Reverse(docs)
	if again, err := Merge(docs); err != nil || again.Builds[BuildHead].Programs["bin/dated"] != dated {
		t.Errorf("another order of the documents: %v, %v", again, err)
	}
	docs[0].Builds[BuildHead].Programs["bin/dated"] = "sha256:5"
	if again, err := Merge(docs); err != nil || again.Builds[BuildHead].Programs["bin/dated"] == dated {
		t.Errorf("another program has the same digest: %v, %v", again, err)
	}
}

func TestMergeRefuses(t *testing.T) {
	head := func(d *Document, edit func(*Build)) {
		b := d.Builds[BuildHead]
		edit(&b)
		d.Builds[BuildHead] = b
	}
	for _, tt := range []struct {
		name string
		edit func(d []*Document) []*Document
		want string
	}{
		{"nothing", func([]*Document) []*Document { return nil }, "there is no document"},
		{"twice", func(d []*Document) []*Document { return append(d, d[1]) }, `shard 2/2 (session "2of2-0" of "perf-`},
		{"twice, in words", func(d []*Document) []*Document { return append(d, d[1]) }, "is there a second time"},
		{"whole", func(d []*Document) []*Document { d[0].Plan.Shard = ""; return d }, `the document of session "1of2-0" of "perf-`},
		{"two wholes", func(d []*Document) []*Document { d[0].Plan.Shard, d[1].Plan.Shard = "", ""; return d }, "only shards can be joined"},
		{"no shard", func(d []*Document) []*Document { d[0].Plan.Shard = "3/2"; return d }, `shard "3/2": want I/N`},
		{"no session", func(d []*Document) []*Document { d[0].Sessions = nil; return d }, "has no session"},
		{"other number", func(d []*Document) []*Document { d[1].Plan.Shard = "2/3"; return d }, "another number of shards"},
		{"suite", func(d []*Document) []*Document { d[1].Suite.Name = "other"; return d }, `the suite is "codec" and "other"`},
		{"suite file", func(d []*Document) []*Document { d[1].Suite.Digest = "sha256:9"; return d }, "the suite files differ"},
		{"commit", func(d []*Document) []*Document { head(d[1], func(b *Build) { b.Commit = "77fe" }); return d }, `the commit is "3c1a" and "77fe"`},
		{"dirty", func(d []*Document) []*Document { head(d[1], func(b *Build) { b.Dirty = true }); return d }, "tracked files differ from the commit"},
		{"tree", func(d []*Document) []*Document { head(d[1], func(b *Build) { b.Tree = "x" }); return d }, "tracked files in the suite's folder"},
		{"no commit", func(d []*Document) []*Document {
			for i := range d {
				head(d[i], func(b *Build) { b.Commit, b.Tree = "", "" })
			}
			return d
		}, `program "bin/dated" of build "head" differs`},
		{"selection", func(d []*Document) []*Document { d[1].Plan.Selection = "c*"; return d }, `selected are "" and "c*"`},
		{"left out", func(d []*Document) []*Document {
			d[1].Skipped = []Skipped{{Name: "xz", Why: "xz was not found on PATH"}}
			return d
		}, `cell "xz" was left out on one of them: xz was not found on PATH`},
		{"left out first", func(d []*Document) []*Document { d[0].Skipped = []Skipped{{Name: "xz", Why: "no"}}; return d }, `cell "xz" was left out`},
		{"looks", func(d []*Document) []*Document { d[1].Plan.Looks = []int{1, 2}; return d }, "looks, warm-ups, timeouts or sampling"},
		{"whole digest", func(d []*Document) []*Document { d[1].Plan.Whole = "sha256:9"; return d }, "looks, warm-ups, timeouts or sampling"},
		{"definition", func(d []*Document) []*Document { d[1].Dealt[1].Digest = "sha256:9"; return d }, `the definition of cell "c1" differs`},
		{"repeats", func(d []*Document) []*Document { d[1].Dealt[1].Planned = 9; return d }, `cell "c1" has 1 and 9 repeats`},
		{"more cells", func(d []*Document) []*Document {
			d[1].Dealt = append(d[1].Dealt, Dealt{Shard: 1, Benchmark: "new"})
			return d
		}, `cell "new" is in the plan of one of them only`},
		{"fewer cells", func(d []*Document) []*Document { d[1].Dealt = slices.Delete(d[1].Dealt, 3, 4); return d }, `cell "c3" is in the plan of one`},
		{"other order", func(d []*Document) []*Document {
			d[1].Dealt[0], d[1].Dealt[1] = d[1].Dealt[1], d[1].Dealt[0]
			return d
		}, `cell "c0" was dealt in another way`},
		{"kind", func(d []*Document) []*Document {
			d[1].Sessions[0].Host.Strict = map[string]string{"cpu_model": "Xeon", "governor": "performance"}
			return d
		}, `two kinds: cpu_model is "EPYC" and "Xeon"; cpus is "8" and unknown; governor is unknown and "performance"`},
		{"unit", func(d []*Document) []*Document {
			d[0].Metrics["m"], d[1].Metrics["m"] = Metric{Unit: "s", Class: Noisy}, Metric{Unit: "B", Class: Noisy}
			return d
		}, `metric "m" is unit "s" per "", better "", class "noisy" in shard 1/2 (session "1of2-0" of`},
		{"class", func(d []*Document) []*Document {
			d[0].Metrics["m"], d[1].Metrics["m"] = Metric{Unit: "s", Class: Noisy}, Metric{Unit: "s", Class: Exact}
			return d
		}, `class "exact" in shard 2/2 (session "2of2-0" of`},
		{"per", func(d []*Document) []*Document {
			d[0].Metrics["m"], d[1].Metrics["m"] = Metric{Unit: "J", Class: Noisy}, Metric{Unit: "J", Per: "token", Class: Noisy}
			return d
		}, `per "token"`},
		{"better", func(d []*Document) []*Document {
			d[0].Metrics["m"], d[1].Metrics["m"] = Metric{Unit: "s", Class: Noisy, Better: Lower}, Metric{Unit: "s", Class: Noisy, Better: Higher}
			return d
		}, `better "higher"`},
		{"dealt to another shard", func(d []*Document) []*Document {
			// Neither is of shard 3, and they do not agree on what it has.
			d[0].Plan.Shard, d[1].Plan.Shard = "1/3", "2/3"
			d[0].Dealt[4].Shard, d[1].Dealt[4].Shard, d[1].Dealt[3].Shard = 3, 3, 3
			d[1].Cells = d[1].Cells[:2]
			return d
		}, `cell "c3" was dealt in another way`},
		{"session ids", func(d []*Document) []*Document { d[1].Sessions[0].ID = d[0].Sessions[0].ID; return d }, `id "1of2-0" is empty or there twice`},
		{"no list", func(d []*Document) []*Document { d[0].Dealt = nil; return d }, "lists 0 cells of the whole plan, too few for 2 shards"},
		{"cell gone", func(d []*Document) []*Document { d[0].Cells = d[0].Cells[:1]; return d }, `cell "c3" of its plan is not in it`},
		{"cell more", func(d []*Document) []*Document { d[0].Cells = append(d[0].Cells, Cell{Name: "x"}); return d }, `cell "x" is not in its plan`},
		{"other cell", func(d []*Document) []*Document { d[0].Cells[0].Benchmark = "x"; return d }, `is where its plan has "c1"`},
		{"planned otherwise", func(d []*Document) []*Document { d[0].Cells[0].Planned = 0; return d }, `or was planned otherwise`},
		{"shard out of range", func(d []*Document) []*Document { d[0].Dealt[0].Shard = 3; return d }, `cell "c0" is of shard 3, and there are 2`},
		{"dealt twice", func(d []*Document) []*Document { d[0].Dealt[0].Benchmark = "c1"; return d }, `cell "c1" is twice in the whole plan`},
		{"empty shard", func(d []*Document) []*Document {
			d[0].Plan.Shard = "1/3"
			return d[:1]
		}, "shard 3 of 3 has no cell"},
		{"missing one has no name", func(d []*Document) []*Document { d[0].Dealt[0].Benchmark = ""; return d[:1] }, "benchmark is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			docs := tt.edit(twoShards())
			_, err := Merge(docs)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("err = %v, want %q", err, tt.want)
			}
			slices.Reverse(docs)
			if _, other := Merge(docs); other == nil || other.Error() != err.Error() {
				t.Errorf("in another order: %v, want %v", other, err)
			}
		})
	}
}
