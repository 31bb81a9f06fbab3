package budget

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// file is a suite file's budgets, one a word: "time<=5" is max_regression 5 %,
// "time<=5~" the same at level warn, "time<=5@gpu*" on some parts.
func file(words string) []Budget {
	var out []Budget
	for w := range strings.FieldsSeq(words) {
		b := Budget{Kind: MaxRegression, Against: AgainstBaseline, Level: Fail, Text: w}
		var rest string
		b.Metric, rest, _ = strings.Cut(w, "<=")
		if short, ok := strings.CutSuffix(rest, "~"); ok {
			rest, b.Level = short, Warn
		}
		rest, b.Part, _ = strings.Cut(rest, "@")
		if _, err := fmt.Sscan(rest, &b.Limit); err != nil {
			panic(err)
		}
		out = append(out, b)
	}
	return out
}

func upTo(from, to int) []int {
	var out []int
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// decide tells which budgets of two files count for a column, base's in brackets.
func decide(head, base, part string) string {
	h := file(head)
	all := append(h, file(base)...)
	var words []string
	for _, c := range Choose(all, For(all, upTo(0, len(h)), "time", "", part), For(all, upTo(len(h), len(all)), "time", "", part), SameRule) {
		w := all[c.Budget()].Text
		if c.Loosened {
			w = "[" + w + "]"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct{ name, base, head, part, want string }{
		{"unchanged", "time<=5", "time<=5", "", "time<=5"},
		{"loosened", "time<=5", "time<=9", "", "[time<=5]"},
		{"tightened", "time<=5", "time<=3", "", "time<=3"},
		{"deleted", "time<=5", "", "", "[time<=5]"},
		{"added", "", "time<=5", "", "time<=5"},
		{"another level", "time<=5", "time<=3~", "", "[time<=5]"},
		{"a stricter level", "time<=5~", "time<=5", "", "time<=5"},
		{"the last match of each file counts", "time<=5 time<=9", "time<=7", "", "time<=7"},
		{"an exception that is gone", "time<=9 time<=3@gpu*", "time<=9", "gpu0", "[time<=3@gpu*]"},
		{"and does not matter elsewhere", "time<=9 time<=3@gpu*", "time<=9", "cpu", "time<=9"},
		{"a new exception", "time<=9", "time<=9 time<=20@gpu*", "gpu0", "[time<=9]"},
		{"a narrower one", "time<=3@gpu*", "time<=3@gpu0", "gpu1", "[time<=3@gpu*]"},
		{"a narrower one, where it still is", "time<=3@gpu*", "time<=3@gpu0", "gpu0", "time<=3@gpu0"},
	} {
		if got := decide(tt.head, tt.base, tt.part); got != tt.want {
			t.Errorf("%s: %q decide, want %q", tt.name, got, tt.want)
		}
	}
}

func randomFile(r *rand.Rand) []Budget {
	var out []Budget
	for range r.IntN(5) {
		b := randomBudget(r, []Kind{Max, MaxRegression}[r.IntN(2)])
		b.Metric = []string{"time", "energy"}[r.IntN(2)]
		b.Part = []string{"", "", "gpu*", "gpu0"}[r.IntN(4)]
		if b.Kind.Relative() {
			b.Against = []string{AgainstBaseline, "variant:b"}[r.IntN(2)]
		}
		out = append(out, b)
	}
	return out
}

// Of every rule that either file has exactly one budget decides; it is never
// looser than base's; and it is head's unless head's is looser or gone.
func TestChooseIsNeverLooser(t *testing.T) {
	loosened, kept := 0, 0
	for i := range uint64(3000) {
		r := rand.New(rand.NewPCG(i, 2))
		head := randomFile(r)
		all := append(head, randomFile(r)...)
		for _, part := range []string{"", "gpu0", "gpu1"} {
			h := For(all, upTo(0, len(head)), "time", "", part)
			b := For(all, upTo(len(head), len(all)), "time", "", part)
			choices := Choose(all, h, b, SameRule)
			for _, at := range slices.Concat(h, b) {
				n := 0
				for _, c := range choices {
					if SameRule(&all[at], &all[c.Budget()]) {
						n++
					}
				}
				if n != 1 {
					t.Fatalf("case %d: %d budgets decide where %+v is", i, n, all[at])
				}
			}
			for _, c := range choices {
				decides := c.Budget()
				switch {
				case c.Base != None && Looser(&all[c.Base], &all[decides]):
					t.Fatalf("case %d: %+v is looser than %+v and decides", i, all[decides], all[c.Base])
				case c.Loosened != (decides == c.Base), c.Loosened && c.Head != None && !Looser(&all[c.Base], &all[c.Head]):
					t.Fatalf("case %d: %+v: %+v is not loosened", i, c, all[decides])
				case c.Loosened:
					loosened++
				default:
					kept++
				}
			}
			if alone := Choose(all, h, nil, SameRule); len(alone) != len(h) || slices.ContainsFunc(alone, func(c Choice) bool { return c.Loosened }) {
				t.Fatalf("case %d: without base %v decide, want %v", i, alone, h)
			}
		}
	}
	if loosened < 500 || kept < 500 {
		t.Fatalf("%d loosened and %d kept: the cases say little", loosened, kept)
	}
}

func TestLineOnHead(t *testing.T) {
	for _, tt := range []struct {
		source Source
		want   int
	}{
		{Source{}, 0}, {Source{Line: 7}, 7}, {Source{Line: 7, Commit: "77fe"}, 0},
		{Source{Line: 7, Commit: "77fe", HeadLine: 9}, 9}, {Source{HeadLine: 9}, 9},
	} {
		if got := tt.source.LineOnHead(); got != tt.want {
			t.Errorf("%+v: line %d, want %d", tt.source, got, tt.want)
		}
	}
}
