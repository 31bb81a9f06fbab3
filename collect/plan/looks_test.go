package plan

import (
	"slices"
	"strings"
	"testing"
)

// TestOrderOfLooks: all of a look comes before any of the next; every repeat is
// there once, in the look that its number says; a block is of one look.
func TestOrderOfLooks(t *testing.T) {
	s := suite(3, 0)
	s.Benchmarks[0].Looks, s.Benchmarks[1].Looks = []int{4, 9}, []int{3, 6, 12}
	s.Benchmarks[0].Warmups = 1
	p, err := Make(s, facts(5))
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{3, 6, 12}; !slices.Equal(p.Looks, want) {
		t.Errorf("the plan's looks are %v, want %v", p.Looks, want)
	}
	last := 0
	seen := map[[2]int]bool{}
	for i := range p.Order.Len() {
		r := p.Order.At(i)
		if r.Look < last {
			t.Fatalf("run %d is of look %d, after look %d", i, r.Look, last)
		}
		last = r.Look
		if r.Repeat == 0 {
			continue
		}
		c := &p.Cells[r.Cell]
		if r.Block != r.Repeat || seen[[2]int{r.Cell, r.Repeat}] || r.Look != c.LookOf(r.Repeat) {
			t.Fatalf("run %d: %+v of %s", i, r, c.Name)
		}
		seen[[2]int{r.Cell, r.Repeat}] = true
		if r.Slot > 0 && p.Order.Block[i-1] != r.Block {
			t.Fatalf("run %d: slot %d of block %d follows block %d", i, r.Slot, r.Block, p.Order.Block[i-1])
		}
	}
	if want := 6*9 + 12; len(seen) != want {
		t.Errorf("%d repeats, want %d", len(seen), want)
	}
	for look, want := range map[int]int{1: 6*4 + 3, 2: 6*5 + 3, 3: 6, 4: 0} {
		if got := p.Runs(p.All(look)); got != want {
			t.Errorf("look %d has %d runs, want %d", look, got, want)
		}
	}
	if got := p.Only(3, func(c int) bool { return p.Cells[c].Benchmark == "a" }); len(got.Cells) != 0 {
		t.Errorf("look 3 has cells %v, and theirs end at look 2", got.Cells)
	}
}

func TestLooksOfACell(t *testing.T) {
	for _, tt := range []struct {
		looks  []int
		repeat int
		want   int
	}{{nil, 1, 1}, {nil, 99, 1}, {[]int{5, 10, 20}, 1, 1}, {[]int{5, 10, 20}, 5, 1}, {[]int{5, 10, 20}, 6, 2}, {[]int{5, 10, 20}, 20, 3}} {
		c := Cell{Looks: tt.looks}
		if got := c.LookOf(tt.repeat); got != tt.want {
			t.Errorf("repeat %d of %v is of look %d, want %d", tt.repeat, tt.looks, got, tt.want)
		}
	}
}

// TestLooksOfVariants: what shares blocks is in step.
func TestLooksOfVariants(t *testing.T) {
	n := func(v int) *int { return &v }
	for _, tt := range []struct {
		name       string
		of         []int // the benchmark's
		edit       func(v *Variant)
		want       []int // of the edited variant; nil: plain
		repeats    int
		refuse     string
		everywhere int // --repeats
	}{
		{name: "inherited", of: []int{5, 10}, edit: func(*Variant) {}, want: []int{5, 10}, repeats: 10},
		{name: "a plain number", of: []int{5, 10, 20}, edit: func(v *Variant) { v.Repeats = n(10) }, want: []int{5, 10}, repeats: 10},
		{name: "fewer than a look", of: []int{5, 10, 20}, edit: func(v *Variant) { v.Repeats = n(3) }, repeats: 3},
		{name: "between looks", of: []int{5, 10, 20}, edit: func(v *Variant) { v.Repeats = n(7) }, want: []int{5, 7}, repeats: 7},
		{name: "more than all", of: []int{5, 10, 20}, edit: func(v *Variant) { v.Repeats = n(30) }, want: []int{5, 10, 30}, repeats: 30},
		{name: "the first looks alone", of: []int{5, 10, 20}, edit: func(v *Variant) { v.Looks = []int{5, 10} }, want: []int{5, 10}, repeats: 10},
		{name: "others", of: []int{5, 10, 20}, edit: func(v *Variant) { v.Looks = []int{6, 10} }, refuse: `give the variants of benchmark "a" the same looks`},
		{name: "a look between", of: []int{5, 10}, edit: func(v *Variant) { v.Looks = []int{5, 7, 10} }, refuse: "share their blocks"},
		{name: "--repeats", of: []int{5, 10}, edit: func(v *Variant) { v.Looks = []int{6, 10} }, repeats: 4, everywhere: 4},
	} {
		s, f := suite(2, 1), facts(1)
		s.Benchmarks[0].Looks = tt.of
		tt.edit(&s.Benchmarks[0].Variants[1])
		f.Repeats = tt.everywhere
		p, err := Make(s, f)
		if tt.refuse != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refuse) {
				t.Errorf("%s: err = %v, want %q", tt.name, err, tt.refuse)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		at := slices.IndexFunc(p.Cells, func(c Cell) bool { return c.Name == "a/q/x" })
		if c := p.Cells[at]; !slices.Equal(c.Looks, tt.want) || c.Repeats != tt.repeats {
			t.Errorf("%s: looks %v and %d repeats, want %v and %d", tt.name, c.Looks, c.Repeats, tt.want, tt.repeats)
		}
	}
}

func TestAutoLooks(t *testing.T) {
	s, f := suite(2, 1), facts(1)
	s.Benchmarks[0].AutoLooks = true
	f.Looks = func(cells []Cell) [][]int {
		if len(cells) != 5 {
			t.Errorf("the chooser saw %d cells, want all 5", len(cells))
		}
		out := make([][]int, len(cells))
		for i := range out {
			out[i] = []int{6, 10, 20}
		}
		return out
	}
	f.Shard = Shard{Index: 1, Of: 3}
	p, err := Make(s, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Cells {
		if auto := c.Benchmark == "a"; auto != (len(c.Looks) == 3) {
			t.Errorf("%s has looks %v", c.Name, c.Looks)
		}
	}
	f.Repeats, f.Looks = 3, func([]Cell) [][]int { t.Error("--repeats leaves nothing to choose"); return nil }
	if p, err = Make(s, f); err != nil || len(p.Looks) != 1 {
		t.Errorf("--repeats 3 gives looks %v, %v", p.Looks, err)
	}
}

// Another list of looks is another plan.
func TestLooksAreInTheDigest(t *testing.T) {
	make := func(looks ...int) *Plan {
		s := suite(2, 1)
		s.Benchmarks[1].Looks, s.Benchmarks[0].Looks = looks, []int{5, 10, 20}
		p, err := Make(s, facts(1))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := make(5, 10), make(6, 10)
	if a.Digest == b.Digest {
		t.Error("the digest is the same")
	}
	if got := strings.Join(Differences(a, b), "; "); !strings.Contains(got, "cell z had looks after [5 10], and has them after [6 10] repeats") {
		t.Error(got)
	}
}

func TestCheckLooks(t *testing.T) {
	for _, tt := range []struct {
		looks []int
		want  string
	}{
		{[]int{5, 10, 20}, ""}, {[]int{2}, ""}, {nil, "no look"}, {[]int{1, 5}, "the first look is after 1 repeat"},
		{[]int{5, 5}, "5 repeats come after 5"}, {[]int{2, 4, 6, 8, 10, 12}, "6 looks, and at most 5"},
	} {
		if got := CheckLooks(tt.looks); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%v: %q, want %q", tt.looks, got, tt.want)
		}
	}
}
