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
