package plan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

// TestVariantVectors holds variant edits against what an earlier tool of the
// field answered for them (testdata/cells/README.md).
func TestVariantVectors(t *testing.T) {
	files, _ := filepath.Glob("testdata/cells/*.json")
	if len(files) < 9 {
		t.Fatalf("only %d vectors found", len(files))
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		t.Run(name, func(t *testing.T) {
			var v struct {
				Given struct {
					Base struct {
						Args     []string
						Env      map[string]string
						Path     string
						Duration float64 `json:"duration_s"`
					}
					Window float64 `json:"matrix_duration_s"`
					Cell   struct {
						Name string
						Args struct {
							Set    map[string]any
							Remove []string
							Add    []any
						}
						Env      map[string]any
						Path     string
						Duration *float64 `json:"duration_s"`
					}
				}
				Expected struct {
					Args     []string
					Env      map[string]string
					Path     string
					Duration float64 `json:"duration_s"`
				}
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b, &v); err != nil {
				t.Fatal(err)
			}
			base := &Benchmark{Name: "b", Repeats: 1, Exec: Exec{
				Argv: append([]string{v.Given.Base.Path}, v.Given.Base.Args...),
				Env:  Env{Set: v.Given.Base.Env}, Window: v.Given.Window,
			}}
			variant := &Variant{Name: v.Given.Cell.Name, Remove: v.Given.Cell.Args.Remove, Path: v.Given.Cell.Path, Window: v.Given.Cell.Duration}
			for flag, value := range v.Given.Cell.Args.Set {
				variant.Set = append(variant.Set, FlagValue{flag, text(value)})
			}
			for _, a := range v.Given.Cell.Args.Add {
				variant.Add = append(variant.Add, text(a))
			}
			for k, value := range v.Given.Cell.Env {
				if variant.Env.Set == nil {
					variant.Env.Set = map[string]string{}
				}
				variant.Env.Set[k] = text(value)
			}
			got, err := resolve(base, variant, "/suite")
			if name == "set_of_a_trailing_flag_appends_flag_and_value" {
				// Ours differs by design: the flag is there twice and another
				// flag follows it, so what was meant cannot be known.
				if err == nil || !strings.Contains(err.Error(), "ambiguous") {
					t.Fatalf("err = %v, want ambiguous", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Argv[1:], v.Expected.Args) || got.Argv[0] != v.Expected.Path {
				t.Errorf("argv = %q, want %q %q", got.Argv, v.Expected.Path, v.Expected.Args)
			}
			if !reflect.DeepEqual(got.Env.Set, v.Expected.Env) {
				t.Errorf("env = %v, want %v", got.Env.Set, v.Expected.Env)
			}
			if got.Window != v.Expected.Duration {
				t.Errorf("window = %v, want %v", got.Window, v.Expected.Duration)
			}
		})
	}
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return strings.Trim(string(b), `"`)
}

func TestSetFlag(t *testing.T) {
	for _, tt := range []struct {
		name string
		argv []string
		fv   FlagValue
		want string // or the error, when it starts with !
	}{
		{"next value", []string{"p", "-b", "8"}, FlagValue{"-b", "2"}, "p -b 2"},
		{"negative number is a value", []string{"p", "-b", "-8"}, FlagValue{"-b", "2"}, "p -b 2"},
		{"stdin dash is a value", []string{"p", "-i", "-"}, FlagValue{"-i", "f"}, "p -i f"},
		{"joined value", []string{"p", "--level=3"}, FlagValue{"--level", "9"}, "p --level=9"},
		{"missing", []string{"p", "x"}, FlagValue{"-t", "4"}, "p x -t 4"},
		{"program of the same name is no flag", []string{"-b", "x"}, FlagValue{"-b", "2"}, "-b x -b 2"},
		{"last", []string{"p", "-b"}, FlagValue{"-b", "2"}, "!last"},
		{"another flag follows", []string{"p", "-S", "--verbose"}, FlagValue{"-S", "x"}, "!another flag"},
		{"twice", []string{"p", "-b", "1", "-b", "2"}, FlagValue{"-b", "3"}, "!more than once"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := setFlag(slices.Clone(tt.argv), tt.fv)
			if want, isErr := strings.CutPrefix(tt.want, "!"); isErr {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Fatalf("err = %v, want %q", err, want)
				}
				return
			}
			if err != nil || strings.Join(got, " ") != tt.want {
				t.Fatalf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// suite of one benchmark with v variants, plus a second benchmark.
func suite(v, repeats int) *Suite {
	b := Benchmark{Name: "a", Repeats: repeats, Exec: Exec{Argv: []string{"bin/p", "{input}"}},
		Inputs: &Inputs{Files: []string{"corpus/*"}}}
	for i := range v {
		b.Variants = append(b.Variants, Variant{Name: string(rune('p' + i)), Add: []string{string(rune('p' + i))}})
	}
	return &Suite{Name: "s", Benchmarks: []Benchmark{b, {Name: "z", Repeats: repeats, Exec: Exec{Argv: []string{"true"}}}}}
}

func facts(seed uint64) Facts {
	return Facts{Root: "/suite", Seed: seed, Inputs: map[string][]InputFile{"a": {
		{Name: "x", Path: "/suite/corpus/x", Digest: "sha256:1"}, {Name: "y", Path: "/suite/corpus/y", Digest: "sha256:2"}}}}
}

// TestOrder checks the layout (V6, V14, V39): every cell once in every block,
// variants of one input next to each other, every variant equally often in
// every slot, and no run of a later block before an earlier one is done.
func TestOrder(t *testing.T) {
	for v := 1; v <= 5; v++ {
		p, err := Make(suite(v, 2*v), facts(7))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Order.Len(), 2*v*(2*v+1); got != want {
			t.Fatalf("%d runs, want %d", got, want)
		}
		slots := map[[2]int]int{}
		block := 1
		for i := range p.Order.Len() {
			r := p.Order.At(i)
			if r.Block < block || r.Repeat != r.Block {
				t.Fatalf("run %d: block %d repeat %d after block %d", i, r.Block, r.Repeat, block)
			}
			block = r.Block
			slots[[2]int{r.Cell, r.Slot}]++
			if r.Slot > 0 {
				a, b := &p.Cells[p.Order.Cell[i-1]], &p.Cells[r.Cell]
				if a.Benchmark != b.Benchmark || a.Input != b.Input {
					t.Fatalf("slot %d of %s follows %s", r.Slot, b.Name, a.Name)
				}
			}
		}
		for c := range p.Cells {
			n := v
			if p.Cells[c].Benchmark == "z" {
				n = 1
			}
			for s := range n {
				if got, want := slots[[2]int{c, s}], 2*v/n; got != want {
					t.Errorf("%d variants: cell %s stood %d times in slot %d, want %d", v, p.Cells[c].Name, got, s, want)
				}
			}
		}
	}
}

func TestOrderIsSeeded(t *testing.T) {
	make := func(seed uint64) *Plan {
		p, err := Make(suite(3, 6), facts(seed))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b, c := make(1), make(1), make(2)
	if !reflect.DeepEqual(a.Order, b.Order) || a.Digest != b.Digest {
		t.Error("the same seed gave another order")
	}
	if reflect.DeepEqual(a.Order, c.Order) || a.Digest == c.Digest {
		t.Error("another seed gave the same order")
	}
}

func TestUnequalRepeatsAndWarmups(t *testing.T) {
	s := suite(2, 4)
	two := 2
	s.Benchmarks[0].Variants[1].Repeats = &two
	s.Benchmarks[0].Warmups = 1
	p, err := Make(s, facts(3))
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int{}
	warm := map[string]int{}
	for i := range p.Order.Len() {
		r := p.Order.At(i)
		if r.Repeat == 0 {
			warm[p.Cells[r.Cell].Name]++
		} else {
			runs[p.Cells[r.Cell].Name]++
		}
	}
	if runs["a/p/x"] != 4 || runs["a/q/x"] != 2 || warm["a/p/x"] != 1 || warm["z"] != 0 {
		t.Errorf("runs %v, warm-ups %v", runs, warm)
	}
}

// TestCellDigest: the digest changes with what changes the numbers, only.
func TestCellDigest(t *testing.T) {
	digest := func(edit func(*Suite, *Facts)) string {
		s, f := suite(1, 3), facts(1)
		edit(s, &f)
		p, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		return p.Cells[0].Digest
	}
	base := digest(func(*Suite, *Facts) {})
	same := map[string]func(*Suite, *Facts){
		"name":     func(s *Suite, f *Facts) { s.Benchmarks[0].Name = "n"; f.Inputs["n"] = f.Inputs["a"] },
		"repeats":  func(s *Suite, f *Facts) { s.Benchmarks[0].Repeats = 9 },
		"seed":     func(s *Suite, f *Facts) { f.Seed = 99 },
		"checkout": func(s *Suite, f *Facts) { f.Root = "/elsewhere" },
		"note":     func(s *Suite, f *Facts) { s.Benchmarks[0].Variants[0].Note = "n" },
	}
	for name, edit := range same {
		if digest(edit) != base {
			t.Errorf("%s changed the digest", name)
		}
	}
	other := map[string]func(*Suite, *Facts){
		"argument": func(s *Suite, f *Facts) { s.Benchmarks[0].Variants[0].Add = []string{"more"} },
		"env":      func(s *Suite, f *Facts) { s.Benchmarks[0].Exec.Env.Set = map[string]string{"A": "1"} },
		"prepare":  func(s *Suite, f *Facts) { s.Benchmarks[0].Exec.Prepare = []string{"sync"} },
		"input":    func(s *Suite, f *Facts) { f.Inputs["a"][0].Digest = "sha256:3" },
		"window":   func(s *Suite, f *Facts) { s.Benchmarks[0].Exec.Window = 1 },
		"reader":   func(s *Suite, f *Facts) { s.Benchmarks[0].Exec.Read = []Read{{Metric: "m", Count: "^x"}} },
		"units":    func(s *Suite, f *Facts) { s.Benchmarks[0].Exec.UnitsPerRun = 2 },
		"stdin": func(s *Suite, f *Facts) {
			s.Benchmarks[0].Exec.Stdin = "in"
			f.Stdin = map[string]string{"in": "sha256:4"}
		},
	}
	for name, edit := range other {
		if digest(edit) == base {
			t.Errorf("%s left the digest as it was", name)
		}
	}
}

func TestMakeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*Suite, *Facts)
		want string
	}{
		{"ambiguous names", func(s *Suite, f *Facts) {
			s.Benchmarks = append(s.Benchmarks, Benchmark{Name: "a/p", Repeats: 1, Exec: Exec{Argv: []string{"true"}}, Variants: []Variant{{Name: "x"}}})
		}, `two cells print as "a/p/x"`},
		{"two files of one name", func(s *Suite, f *Facts) {
			for name, files := range f.Inputs {
				f.Inputs[name] = append(files, InputFile{Name: files[0].Name, Path: "/elsewhere/x"})
			}
		}, `and from "/elsewhere/x"`},
		{"a name in Latin-1", func(s *Suite, f *Facts) {
			for name := range f.Inputs {
				f.Inputs[name] = []InputFile{{Name: "caf\xe9", Path: "/caf\xe9"}}
			}
		}, "not valid UTF-8"},
		{"no input", func(s *Suite, f *Facts) { f.Inputs = nil }, "no file matches"},
		{"selection", func(s *Suite, f *Facts) { f.Selected = "nothing/**" }, "selects none"},
		{"limit", func(s *Suite, f *Facts) { s.Limits.Cells = 2 }, "limits.cells"},
		{"all left out", func(s *Suite, f *Facts) {
			s.Benchmarks = s.Benchmarks[:1]
			s.Benchmarks[0].Exec.Requires = []string{"xz"}
			f.Missing = func(_ *Exec, program string) bool { return program == "xz" }
		}, "xz was not found"},
		{"timeout of nobody", func(s *Suite, f *Facts) { s.Benchmarks[0].Exec.Timeout = Timeout{Factor: 2, Of: "gone"} }, "no such variant"},
		{"edited shell", func(s *Suite, f *Facts) { s.Benchmarks[0].Exec.Shell = true }, "shell string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, f := suite(2, 2), facts(1)
			tt.edit(s, &f)
			if _, err := Make(s, f); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("err = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestInputName(t *testing.T) {
	for _, tt := range []struct{ glob, file, want string }{
		{"corpus/**/*.bin", "corpus/a/lena.bin", "a/lena.bin"},
		{"corpus/*.bin", "corpus/lena.bin", "lena.bin"},
		{"*.bin", "lena.bin", "lena.bin"},
		{"corpus/lena.bin", "corpus/lena.bin", "lena.bin"},
		{"./corpus/l*", "corpus/lena.bin", "lena.bin"},
		{"corpus/l{e,a}*", "corpus/lena.bin", "lena.bin"},
		{"../big/*", "../big/x", "x"},
		{"/data/big/**/*.bin", "/data/big/a/x.bin", "a/x.bin"},
		{"/*", "/x", "x"},
		{"/data/x", "/data/x", "x"},
	} {
		if got := InputName(tt.glob, tt.file); got != tt.want {
			t.Errorf("InputName(%q, %q) = %q, want %q", tt.glob, tt.file, got, tt.want)
		}
	}
}

func TestResolveTimeout(t *testing.T) {
	f := Timeout{Factor: 4, Of: "default", Min: 60, Max: 300}
	for _, tt := range []struct {
		t       Timeout
		latest  float64
		seconds float64
		basis   string
	}{
		{Timeout{Fixed: 5}, 0, 5, ""},
		{f, 0, 300, "the cap: b/default/i has no time yet"},
		{f, 20, 80, "4 x b/default/i"},
		{f, 1, 60, "the minimum, above 4 x b/default/i"},
		{f, 100, 300, "the cap, below 4 x b/default/i"},
	} {
		s, basis := tt.t.Resolve("b", "i", tt.latest)
		if s != tt.seconds || basis != tt.basis {
			t.Errorf("%+v latest %v: %v %q, want %v %q", tt.t, tt.latest, s, basis, tt.seconds, tt.basis)
		}
	}
}

func TestMatchNameThroughSelection(t *testing.T) {
	s, f := suite(2, 1), facts(1)
	for pattern, want := range map[string]int{"": 5, "a": 4, "a/p": 2, "a/*/x": 2, "**/x": 2, "z": 1, "**": 5, "a/p/x": 1, "*": 5} {
		f.Selected = pattern
		p, err := Make(s, f)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		if len(p.Cells) != want {
			t.Errorf("%q selects %d cells, want %d", pattern, len(p.Cells), want)
		}
	}
	if !result.MatchName(result.QuoteName("a[1]*"), "a[1]*") || result.MatchName(result.QuoteName("a*"), "ab") {
		t.Error("a quoted name is not literal")
	}
}
