package plan

import (
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

func TestDifferences(t *testing.T) {
	build := map[string]result.Build{"head": {Commit: "aaaa", Tree: "sha256:1", Programs: map[string]string{"bin/p": "sha256:1"}}}
	base := func() *Plan {
		f := facts(1)
		f.Builds = build
		p, err := Make(suite(2, 3), f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, tt := range []struct {
		want string
		edit func(*Suite, *Facts)
	}{
		{`program "bin/p" changed`, func(s *Suite, f *Facts) {
			f.Builds = map[string]result.Build{"head": {Commit: "aaaa", Tree: "sha256:1", Programs: map[string]string{"bin/p": "sha256:2"}}}
		}},
		{"the commit was aaaa and is bbbb", func(s *Suite, f *Facts) {
			f.Builds = map[string]result.Build{"head": {Commit: "bbbb", Tree: "sha256:1", Programs: map[string]string{"bin/p": "sha256:1"}}}
		}},
		{"tracked files in the suite's folder changed", func(s *Suite, f *Facts) {
			f.Builds = map[string]result.Build{"head": {Commit: "aaaa", Tree: "sha256:2", Programs: map[string]string{"bin/p": "sha256:1"}}}
		}},
		{"the definition of cell z changed", func(s *Suite, f *Facts) { s.Benchmarks[1].Exec.Argv = []string{"false"} }},
		{"cell z had 3 repeats", func(s *Suite, f *Facts) { s.Benchmarks[1].Repeats = 4 }},
		{"cell z is gone", func(s *Suite, f *Facts) { s.Benchmarks = s.Benchmarks[:1] }},
		{"cell y is new", func(s *Suite, f *Facts) {
			s.Benchmarks = append(s.Benchmarks, Benchmark{Name: "y", Repeats: 1, Exec: Exec{Argv: []string{"true"}}})
		}},
		{"the timeout of cell z changed", func(s *Suite, f *Facts) { s.Benchmarks[1].Exec.Timeout.Fixed = 9 }},
		{"sampling interval", func(s *Suite, f *Facts) { s.Sampling.Interval = 9 }},
	} {
		s, f := suite(2, 3), facts(1)
		f.Builds = build
		tt.edit(s, &f)
		is, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		was := base()
		if was.Digest == is.Digest {
			t.Errorf("%s: the digest is the same", tt.want)
		}
		if got := strings.Join(Differences(was, is), "; "); !strings.Contains(got, tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// A resume of a shard says what changed in the plan that it is a part of, where
// nothing of its own did.
func TestDifferencesOfShards(t *testing.T) {
	z := func(s *Suite) *Benchmark { return &s.Benchmarks[1] }
	for _, tt := range []struct {
		want string
		edit func(*Suite, *Facts)
	}{
		{"the shard was 2/2 and is 1/2", func(s *Suite, f *Facts) { f.Shard.Index = 1 }},
		{"the shard was 2/2 and is the whole plan", func(s *Suite, f *Facts) { f.Shard = Shard{} }},
		{"the definition of cell z changed", func(s *Suite, f *Facts) { z(s).Exec.Argv = []string{"false"} }},
		{"cell z had 3 repeats, and has 2", func(s *Suite, f *Facts) { z(s).Repeats = 2 }},
		{"cell y is new", func(s *Suite, f *Facts) {
			s.Benchmarks = append(s.Benchmarks, Benchmark{Name: "y", Repeats: 1, Exec: Exec{Argv: []string{"true"}}})
		}},
		{"cell z is gone", func(s *Suite, f *Facts) { s.Benchmarks = s.Benchmarks[:1] }},
		{"warm-ups or timeouts of another shard's cells", func(s *Suite, f *Facts) { z(s).Exec.Timeout.Fixed = 9 }},
		{"the timeout of cell a/p/y changed", func(s *Suite, f *Facts) { s.Benchmarks[0].Exec.Timeout.Fixed = 9 }},
		{"cell a/p/y had 3 repeats and 0 warm-ups, and has 3 and 1", func(s *Suite, f *Facts) { s.Benchmarks[0].Warmups = 1 }},
	} {
		plan := func(edit func(*Suite, *Facts)) *Plan {
			s, f := suite(2, 3), facts(1)
			f.Shard = Shard{Index: 2, Of: 2} // z is in the other
			edit(s, &f)
			p, err := Make(s, f)
			if err != nil {
				t.Fatalf("%s: %v", tt.want, err)
			}
			return p
		}
		was, is := plan(func(*Suite, *Facts) {}), plan(tt.edit)
		if was.Digest == is.Digest {
			t.Errorf("%s: the digest is the same", tt.want)
		}
		if got := strings.Join(Differences(was, is), "; "); !strings.HasPrefix(got, tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
