package plan

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/perfweir/perfweir/collect/result"
)

// Facts are what the shell found out for the planner, which does no IO itself.
type Facts struct {
	Root   string                 // absolute folder of the suite file; relative paths are relative to it
	Inputs map[string][]InputFile // by benchmark: every file its globs match, sorted by name
	Stdin  map[string]string      // digest of each stdin file, by the path as written
	// Missing reports whether a program of Requires is not there for an Exec, whose
	// environment may have a PATH of its own; nil: none is missing.
	Missing  func(e *Exec, program string) bool
	Builds   map[string]result.Build // head (and base)
	Seed     uint64
	Selected string // glob of --cells
	Repeats  int    // of --repeats; 0: as the suite says
	Base     *Base  // the base build, measured beside head's; nil: there is none
	// Looks chooses the looks of cells whose suite says auto, each at its place; nil
	// for one that needs none. It is given all cells of the plan, which share an
	// error rate; nil: such a cell keeps its plain repeats.
	Looks func(cells []Cell) [][]int
	// Shard is the part to measure of the plan that all the rest gives; zero: all.
	Shard Shard
	// Control is the program of the control cell; nil: the suite asks for none.
	Control *Control
}

// Make expands a suite into a plan: cells, order, digests. All problems are
// reported at once. Of a shard, what is left out, refused or limited is as in the
// whole plan.
func Make(s *Suite, f Facts) (*Plan, error) {
	p := &Plan{
		Schema: Schema, Seed: f.Seed, Selection: f.Selected, Builds: f.Builds,
		Suite:    result.Suite{Name: s.Name, Path: s.Path, Digest: s.Digest, Accepted: s.Accepted},
		Sampling: s.Sampling, Limits: s.Limits, Metrics: definitions(s.Metrics),
	}
	var errs []error
	for i := range s.Benchmarks {
		errs = append(errs, expandBenchmark(p, &s.Benchmarks[i], f)...)
	}
	errs = append(errs, checkNames(p.Cells)...)
	all := len(p.Cells)
	p.Cells = slices.DeleteFunc(p.Cells, func(c Cell) bool { return !result.MatchName(f.Selected, c.Name) })
	switch {
	case len(errs) > 0:
		return nil, errors.Join(errs...)
	case all == 0 && len(p.Skipped) > 0:
		return nil, fmt.Errorf("no cell is left to run: all %d were left out (%s)", len(p.Skipped), p.Skipped[0].Why)
	case all == 0:
		return nil, errors.New("the suite has no cell to run: add a benchmark")
	case len(p.Cells) == 0:
		return nil, fmt.Errorf("--cells %q selects none of the suite's %d cells; `perfweir run --dry-run` lists them", f.Selected, all)
	case s.Limits.Cells > 0 && len(p.Cells) > s.Limits.Cells:
		return nil, fmt.Errorf("the plan has %d cells, more than limits.cells allows (%d): narrow the inputs or raise the limit", len(p.Cells), s.Limits.Cells)
	}
	if err := p.chooseLooks(s, f); err != nil {
		return nil, err
	}
	if err := errors.Join(p.addBase(f.Root, f.Base)...); err != nil {
		return nil, err
	}
	if err := p.deal(f.Shard); err != nil {
		return nil, err
	}
	p.addControl(f.Root, f.Control)
	p.Order = order(p.Cells, f.Seed)
	p.Digest = p.digest()
	return p, nil
}

func definitions(own map[string]MetricDef) map[string]result.Metric {
	if len(own) == 0 {
		return nil
	}
	out := make(map[string]result.Metric, len(own))
	for name, d := range own {
		out[name] = result.Metric{Unit: d.Unit, Per: d.Per, Better: d.Better, Class: result.Class(d.Class), Source: "report"}
	}
	return out
}

func maxRepeats(cells []Cell) int {
	n := 0
	for i := range cells {
		n = max(n, cells[i].Repeats)
	}
	return n
}

func expandBenchmark(p *Plan, b *Benchmark, f Facts) []error {
	variants := b.Variants
	if len(variants) == 0 {
		variants = []Variant{{}}
	}
	inputs, err := chooseInputs(b, f.Inputs[b.Name])
	if err != nil {
		return []error{err}
	}
	var errs []error
	for i := range variants {
		v := &variants[i]
		exec, err := resolve(b, v, f.Root)
		if err != nil {
			errs = append(errs, fmt.Errorf("benchmark %q variant %q: %w", b.Name, v.Name, err))
			continue
		}
		for _, in := range inputs {
			name := result.PrintedName(b.Name, v.Name, in.Name)
			if missing := missingProgram(&exec, f.Missing); missing != "" {
				p.Skipped = append(p.Skipped, result.Skipped{Name: name, Why: missing + " was not found on PATH"})
				continue
			}
			if err := checkShellInput(b.Name, &exec, in); err != nil {
				errs = append(errs, err)
				continue
			}
			p.Cells = append(p.Cells, newCell(b, v, in, exec, name, f))
		}
	}
	return errs
}

func newCell(b *Benchmark, v *Variant, in InputFile, exec Exec, name string, f Facts) Cell {
	c := Cell{
		Name: name, Benchmark: b.Name, Variant: v.Name, Input: in.Name, Build: result.BuildHead,
		Was: b.Was, InputPath: in.Path, Labels: b.Labels, Note: v.Note, Source: b.Source,
		Repeats: b.Repeats, Warmups: b.Warmups, Exec: exec,
	}
	if v.Source != "" {
		c.Source = v.Source
	}
	c.setLooks(b.Looks)
	if v.Repeats != nil {
		c.Repeats, c.Looks = *v.Repeats, nil
	}
	if len(v.Looks) > 0 {
		c.setLooks(v.Looks)
	}
	if f.Repeats > 0 {
		c.Repeats, c.Looks = f.Repeats, nil
	}
	c.Key = KeyFor(result.ID{Benchmark: b.Name, Variant: v.Name, Input: in.Name, Build: c.Build}, name)
	c.Digest = cellDigest(&exec, in.Digest, f.Stdin[exec.Stdin], f.Root)
	if exec.Stdin != "" {
		c.Exec.Stdin = absolute(f.Root, exec.Stdin)
	}
	c.Argv = exec.Argv
	for _, argv := range []*[]string{&c.Exec.Argv, &c.Exec.Prepare, &c.Exec.Cleanup} {
		if len(*argv) > 0 {
			*argv = append([]string{Program(f.Root, (*argv)[0])}, (*argv)[1:]...)
		}
	}
	return c
}

// chooseInputs applies shuffle and limit. The shuffle is seeded by the
// benchmark's name alone, so that every session chooses the same files and a
// baseline keeps its cells.
func chooseInputs(b *Benchmark, found []InputFile) ([]InputFile, error) {
	if b.Inputs == nil {
		return []InputFile{{}}, nil
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("benchmark %q: no file matches its inputs (%s)", b.Name, strings.Join(b.Inputs.Files, ", "))
	}
	chosen := slices.Clone(found)
	if b.Inputs.Shuffle {
		h := fnv.New64a()
		h.Write([]byte(b.Name))
		r := rand.New(rand.NewPCG(h.Sum64(), 0))
		r.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	}
	if b.Inputs.Limit > 0 && len(chosen) > b.Inputs.Limit {
		chosen = chosen[:b.Inputs.Limit]
	}
	slices.SortFunc(chosen, func(a, b InputFile) int { return strings.Compare(a.Name, b.Name) })
	return chosen, nil
}

// resolve makes one variant's Exec: edits applied, paths absolute where they
// name the program or the folder. Other arguments stay as written: the command
// runs in the suite's folder, so relative ones mean what the author meant.
func resolve(b *Benchmark, v *Variant, root string) (Exec, error) {
	e := b.Exec
	if e.Shell {
		if len(v.Set)+len(v.Remove)+len(v.Add) > 0 || v.Path != "" {
			return e, errors.New("args and path edit a run that is a list; this one is a shell string: write it as a list")
		}
	} else {
		argv, err := editArgs(e.Argv, v)
		if err != nil {
			return e, err
		}
		e.Argv = argv
	}
	e.Env = e.Env.merge(v.Env)
	if v.Window != nil {
		e.Window = *v.Window
	}
	if v.Timeout != nil {
		e.Timeout = *v.Timeout
	}
	if e.Timeout.Factor > 0 && e.Timeout.Of == v.Name {
		// The benchmark's timeout names this variant: its own last run must not
		// decide about its next.
		e.Timeout = Timeout{Fixed: e.Timeout.Max}
	}
	e.Requires = append(slices.Clone(e.Requires), v.Requires...)
	if of := e.Timeout.Of; e.Timeout.Factor > 0 && !hasVariant(b, of) {
		return e, fmt.Errorf("timeout of variant %q: there is no such variant", of)
	}
	if e.Cwd == "" {
		e.Cwd = root
	} else {
		e.Cwd = absolute(root, e.Cwd)
	}
	return e, nil
}

func hasVariant(b *Benchmark, name string) bool {
	return slices.ContainsFunc(b.Variants, func(v Variant) bool { return v.Name == name })
}

func absolute(root, p string) string {
	if filepath.IsAbs(p) || strings.HasPrefix(p, "{") {
		return p
	}
	return filepath.Join(root, p)
}

// Program resolves the first word of a command: one with a slash relates to the
// suite's folder, another is looked up on PATH when it starts.
func Program(root, name string) string {
	if !strings.Contains(name, "/") {
		return name
	}
	return absolute(root, name)
}

// Execs resolves every variant of a suite, its inputs aside. Variants that cannot
// be resolved are left out: Make reports them.
func Execs(s *Suite, root string) []Exec {
	var out []Exec
	for i := range s.Benchmarks {
		b := &s.Benchmarks[i]
		variants := b.Variants
		if len(variants) == 0 {
			variants = []Variant{{}}
		}
		for j := range variants {
			if e, err := resolve(b, &variants[j], root); err == nil {
				out = append(out, e)
			}
		}
	}
	return out
}

func missingProgram(e *Exec, missing func(*Exec, string) bool) string {
	if missing == nil {
		return ""
	}
	for _, r := range e.Requires {
		if missing(e, r) {
			return r
		}
	}
	return ""
}

// ShellHolds reports whether a string that a shell reads holds a placeholder:
// there a path must be a plain one, since nobody knows in which quotes it stands.
func (e *Exec) ShellHolds(placeholder string) bool {
	holds := func(argv []string, shell bool) bool {
		return shell && slices.ContainsFunc(argv, func(a string) bool { return strings.Contains(a, placeholder) })
	}
	return holds(e.Argv, e.Shell) || holds(e.Prepare, e.PrepareSh) || holds(e.Cleanup, e.CleanupSh)
}

// checkShellInput refuses names that a shell would read as something else than
// a name.
func checkShellInput(benchmark string, e *Exec, in InputFile) error {
	if in.Path == "" || PlainPath(in.Path) || !e.ShellHolds("{input}") {
		return nil
	}
	return fmt.Errorf(`benchmark %q: the path of input %q holds characters that a shell reads as more than a name: write the command as a list, or hand the path over as env: {FILE: "{input}"} and write "$FILE"`, benchmark, in.Name)
}

// PlainPath reports whether a shell reads a path as nothing but a name.
func PlainPath(path string) bool {
	for _, r := range path {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=@%,:", r)
		if !plain {
			return false
		}
	}
	return true
}

// checkNames refuses cells that print alike, and names that would leave a folder.
func checkNames(cells []Cell) []error {
	var errs []error
	seen := make(map[string]int, len(cells))
	for i := range cells {
		c := &cells[i]
		if !utf8.ValidString(c.Name) {
			errs = append(errs, fmt.Errorf("the name of cell %q is not valid UTF-8: rename the file", c.Name))
		}
		if j, ok := seen[c.Name]; ok {
			o := &cells[j]
			errs = append(errs, alike(o, c))
			continue
		}
		seen[c.Name] = i
	}
	return errs
}

// alike says what is the same about two cells, and what to do.
func alike(a, b *Cell) error {
	if a.Benchmark == b.Benchmark && a.Variant == b.Variant {
		return fmt.Errorf("two cells print as %q: input %q comes from %q and from %q; write one glob for both, which keeps the folders in the names: {a,b}/*", a.Name, a.Input, a.InputPath, b.InputPath)
	}
	return fmt.Errorf("two cells print as %q: benchmark %q variant %q input %q, and benchmark %q variant %q input %q; rename one",
		a.Name, a.Benchmark, a.Variant, a.Input, b.Benchmark, b.Variant, b.Input)
}

// InputName is the identity of an input file within its glob: its path relative
// to the part of the glob that has no wildcard, so that `corpus/**/*.bin` names
// its files without "corpus/".
func InputName(glob, file string) string {
	base := path.Dir(glob)
	if i := strings.IndexAny(glob, `*?[{\`); i >= 0 {
		base = path.Dir(glob[:i] + "x")
	}
	file = path.Clean(file)
	if rel, ok := strings.CutPrefix(file, strings.TrimSuffix(path.Clean(base), "/")+"/"); ok {
		return rel
	}
	return file
}
