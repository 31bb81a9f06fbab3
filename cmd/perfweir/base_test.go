package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/cli"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// desk is a git repository in which perfweir runs without GitHub.
type desk struct {
	*site
	out  string
	temp string // TMPDIR: where base builds stand
}

// deskSuite measures what a built program prints: numbers that do not vary, so
// that every verdict is known beforehand. %s is more keys.
const deskSuite = `version: 1
suite: tools
build: [sh, build.sh]
benchmarks:
  - name: tool
    run: [bin/tool, "{input}"]
    inputs: {files: ["corpus/*"]}
    repeats: 10
    read: [{metric: cost, pattern: 'cost ([\d.]+)', unit: "1", better: lower}, {metric: size, pattern: 'size (\d+)', unit: B, class: exact}]
budgets:
  - {metric: cost, max_regression: 5%%}
  - {metric: size, max: 1kB}
exclusive: none
%s`

// deskBuild makes a program of what the file cost says. It fails where it sees a secret.
const deskBuild = `[ -z "$API_TOKEN" ] || exit 9
mkdir -p bin
printf '#!/bin/sh\necho cost %s\necho size $(wc -c <"$1")\n' "$(cat cost)" >bin/tool
chmod +x bin/tool
`

func newDesk(t *testing.T, keys string) *desk {
	t.Helper()
	s := newSiteAt(t, ghtest.New(t))
	d := &desk{site: s, out: filepath.Join(t.TempDir(), "out"), temp: t.TempDir()}
	s.commit(map[string]string{"perfweir.yml": fmt.Sprintf(deskSuite, keys), "build.sh": deskBuild, "cost": "100\n", "corpus/a": "input",
		".gitignore": "bin/\n.perfweir/\n", "value": ""})
	return d
}

// perfweir runs a command and returns its exit code and what it said.
func (d *desk) perfweir(args ...string) (int, string) {
	d.t.Helper()
	var said bytes.Buffer
	at := []string{"-c", filepath.Join(d.dir, "perfweir.yml")}
	switch args[0] {
	case "gate", "baseline":
		args = append(args, d.out)
	default:
		at = append(at, "-o", d.out)
	}
	code := cli.Main(context.Background(), cli.Command{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said, Now: time.Now,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.temp, "TMPDIR=" + d.temp, "PERFWEIR_LOCK_DIR=" + d.temp, "API_TOKEN=secret"}}, append(args, at...))
	return code, said.String()
}

// ci measures and judges, and checks the exit code.
func (d *desk) ci(want int, args ...string) (*verdict.Document, string) {
	d.t.Helper()
	code, said := d.perfweir(append([]string{"ci"}, args...)...)
	if code != want {
		d.t.Fatalf("ci %v: exit code %d, want %d\n%s", args, code, want, said)
	}
	d.nothingLeft()
	return decoded(d.t, filepath.Join(d.out, "verdict.json"), verdict.Decode), said
}

// nothingLeft: a base build is gone when perfweir has ended.
func (d *desk) nothingLeft() {
	d.t.Helper()
	if list := d.git("worktree", "list"); strings.Contains(list, "\n") {
		d.t.Errorf("git still lists %s", list)
	}
	if left, _ := filepath.Glob(filepath.Join(d.temp, "perfweir-*", "*")); len(left) > 0 {
		d.t.Errorf("left behind: %v", left)
	}
}

// sameAgain judges the folder again and compares every file of it.
func (d *desk) sameAgain() {
	d.t.Helper()
	files := []string{"verdict.json", "exhibits.json", "report.md", "junit.xml", "findings.csv", "measurements.csv"}
	read := func() (all []string) {
		for _, name := range files {
			b, err := os.ReadFile(filepath.Join(d.out, name))
			d.check(err)
			all = append(all, string(b))
		}
		return all
	}
	live := read()
	if _, said := d.perfweir("gate", "--baseline", filepath.Join(d.dir, ".perfweir/baseline/tools")); said == "" {
		d.t.Error("gate said nothing")
	}
	for i, text := range read() {
		if text != live[i] {
			d.t.Errorf("%s is another after gate DIR:\n%s\n--- was\n%s", files[i], text, live[i])
		}
	}
}

// poison makes the stored sessions' costs faster by a share: what a baseline looks
// like that was measured when the machine was another.
func (d *desk) poison(share float64) {
	d.t.Helper()
	files, _ := filepath.Glob(filepath.Join(d.dir, ".perfweir/baseline/tools/*.json"))
	if len(files) == 0 {
		d.t.Fatal("no session is stored")
	}
	for _, file := range files {
		doc := decoded(d.t, file, result.Decode)
		for i := range doc.Cells {
			for k := range doc.Cells[i].Columns {
				if c := &doc.Cells[i].Columns[k]; c.Metric == "cost" {
					for j := range c.V {
						c.V[j] *= 1 - share
					}
				}
			}
		}
		var b bytes.Buffer
		d.check(result.Encode(&b, doc))
		d.check(os.WriteFile(file, b.Bytes(), 0o644))
	}
}

// cost is the finding of the relative budget.
func cost(t *testing.T, v *verdict.Document) *verdict.Finding {
	t.Helper()
	for i := range v.Findings {
		if v.Findings[i].Metric == "cost" {
			return &v.Findings[i]
		}
	}
	t.Fatal("no finding about cost")
	return nil
}

func near(got *float64, want float64) bool {
	return got != nil && math.Abs(*got-want) < 1e-9*want
}

func decoded[T any](t *testing.T, path string, from func(io.Reader) (*T, error)) *T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := from(f)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func (d *desk) has(file string, texts ...string) {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.out, file))
	d.check(err)
	for _, text := range texts {
		if !strings.Contains(string(b), text) {
			d.t.Errorf("%s lacks %q:\n%s", file, text, b)
		}
	}
}

// --base builds the commit and measures it block by block beside head; stored
// sessions have no say.
func TestBaseInterleaves(t *testing.T) {
	d := newDesk(t, "")
	base := d.head()
	d.ci(0)
	d.commit(map[string]string{"cost": "110\n", "corpus/b": "another"})
	d.poison(-0.5) // against the stored session all would be well
	v, said := d.ci(1, "--fresh", "--base", base)
	f := cost(t, v)
	c := v.Comparisons[*f.Comparison]
	if f.Outcome != verdict.Fail || c.Against != "base" || c.Design != verdict.Paired || c.N != [2]int{10, 10} || c.Reference != 100 || c.Current != 110 {
		t.Errorf("%+v, %+v", f, c)
	}
	if v.Builds["base"].Commit != base || len(v.Cells) != 2 {
		t.Errorf("builds %+v, %d rows", v.Builds, len(v.Cells))
	}
	if !strings.Contains(said, "--base "+base[:12]) {
		t.Errorf("nothing tells how to reproduce it:\n%s", said)
	}
	doc := decoded(t, filepath.Join(d.out, "results.json"), result.Decode)
	if len(doc.Cells) != 4 || doc.Cells[2].Build != "base" || doc.Cells[2].Name != "tool/a@base" {
		t.Fatalf("cells %d", len(doc.Cells))
	}
	// The second input is not there in the base commit: it is head's on both sides.
	if !slices.Equal(doc.Cells[1].Runs.Block, doc.Cells[3].Runs.Block) || slices.Equal(doc.Cells[1].Runs.Slot, doc.Cells[3].Runs.Slot) {
		t.Error("head and base do not share their blocks, or their slots are the same")
	}
	if size := doc.Cells[3].Columns[slices.IndexFunc(doc.Cells[3].Columns, func(c result.Column) bool { return c.Metric == "size" })].V[0]; size != 7 {
		t.Errorf("the base build read %v bytes, want head's input", size)
	}
	d.has("report.md", "100 of base", "beside base commit "+base[:12])
	d.sameAgain()
	// What is stored for later is head's alone.
	if code, said := d.perfweir("baseline", "save"); code != 0 {
		t.Fatal(said)
	}
	files, _ := filepath.Glob(filepath.Join(d.dir, ".perfweir/baseline/tools/*.json"))
	for _, file := range files {
		for _, c := range decoded(t, file, result.Decode).Cells {
			if c.Build != "head" {
				t.Errorf("%s has %s", file, c.Name)
			}
		}
	}
}

// A run that was killed goes on with the same base build.
func TestBaseResumes(t *testing.T) {
	d := newDesk(t, "")
	base := d.head()
	d.commit(map[string]string{"cost": "110\n"})
	d.ci(1, "--base", base)
	before := decoded(t, filepath.Join(d.out, "plan.json"), plan.Decode)
	d.cut("journal.jsonl", 12)
	d.check(os.Remove(filepath.Join(d.out, "results.json")))
	v, said := d.ci(1, "--resume")
	if !strings.Contains(said, "runs in the journal, going on") || cost(t, v).Outcome != verdict.Fail {
		t.Errorf("%s", said)
	}
	after := decoded(t, filepath.Join(d.out, "plan.json"), plan.Decode)
	doc := decoded(t, filepath.Join(d.out, "results.json"), result.Decode)
	if after.Digest != before.Digest || doc.Cells[1].Runs.Len() != 10 || doc.Sessions[0].Interrupted {
		t.Errorf("digest %s, was %s; %d runs of the base build", after.Digest, before.Digest, doc.Cells[1].Runs.Len())
	}
	if code, said := d.perfweir("ci", "--resume", "--base", d.head()); code != 4 || !strings.Contains(said, "the plan was made with base commit") {
		t.Errorf("code %d: %s", code, said)
	}
}

// cut leaves the first lines of a journal, as a kill does.
func (d *desk) cut(name string, lines int) {
	d.t.Helper()
	path := filepath.Join(d.out, name)
	b, err := os.ReadFile(path)
	d.check(err)
	all := strings.SplitAfter(string(b), "\n")
	if len(all) <= lines {
		d.t.Fatalf("%s has %d lines", name, len(all))
	}
	d.check(os.WriteFile(path, []byte(strings.Join(all[:lines], "")), 0o644))
}

func TestBaseLacksTheProgram(t *testing.T) {
	d := newDesk(t, "")
	base := d.head()
	suite := fmt.Sprintf(deskSuite, "") + `
`
	suite = strings.Replace(suite, "budgets:", `  - name: fresh
    run: [bin/fresh]
    read: [{metric: cost, pattern: 'cost ([\d.]+)', unit: "1", better: lower}]
  - name: script
    run: [sh, added.sh]
    read: [{metric: cost, pattern: 'cost ([\d.]+)', unit: "1", better: lower}]
  - name: shell
    run: 'sh added.sh | cat'
    read: [{metric: cost, pattern: 'cost ([\d.]+)', unit: "1", better: lower}]
budgets:`, 1)
	d.commit(map[string]string{"perfweir.yml": suite, "added.sh": "echo cost 9\n", "build.sh": deskBuild + "cp bin/tool bin/fresh; printf '#!/bin/sh\\necho cost 7\\n' >bin/fresh\n"})
	v, said := d.ci(0, "--base", base)
	lacks := map[string]string{"fresh": "bin/fresh", "script": "added.sh", "shell": "added.sh"}
	for _, f := range v.Findings {
		name := v.Cells[f.Cell].Name
		if what, ok := lacks[name]; ok && f.Metric == "cost" {
			delete(lacks, name)
			if f.Outcome != verdict.New || !strings.Contains(f.Message, "the base build has no "+what) {
				t.Errorf("%s: %s", f.Outcome, f.Message)
			}
		}
	}
	if len(lacks) > 0 || cost(t, v).Outcome != verdict.Pass || !strings.Contains(said, "measured on head alone: fresh@base") {
		t.Errorf("%+v\n%s", v.Findings, said)
	}
}

// A build command that installs what head runs leaves no head to compare with: that
// is said, and beside itself the base commit is not measured.
func TestBaseBuildReplacesHead(t *testing.T) {
	for _, reference := range []string{"stored", "auto"} {
		t.Run(reference, func(t *testing.T) {
			d := newDesk(t, "gate: {reference: "+reference+"}\n")
			installed := filepath.Join(t.TempDir(), "tool")
			suite := strings.Replace(fmt.Sprintf(deskSuite, "gate: {reference: "+reference+"}\n"), "bin/tool", installed, 1)
			base := d.commit(map[string]string{"perfweir.yml": suite, "build.sh": deskBuild + "cp bin/tool " + installed + "\n"})
			d.ci(0)
			d.commit(map[string]string{"cost": "150\n"})
			said := "building the base commit changed " + installed + ", which head runs"
			if reference == "stored" {
				if code, got := d.perfweir("ci", "--fresh", "--base", base); code != 3 || !strings.Contains(got, said) {
					t.Errorf("exit code %d\n%s", code, got)
				}
				d.nothingLeft()
				return
			}
			v, got := d.ci(1, "--fresh", "--base", base)
			if f := cost(t, v); f.Outcome != verdict.Fail || f.Confirmed != nil || !strings.Contains(got, said) {
				t.Errorf("%+v\n%s", f, got)
			}
			d.has("report.md", said)
		})
	}
}

// Where the suite file says nothing, --base has all measured beside that commit at a
// desk, and without it nothing is.
func TestBaseByDefault(t *testing.T) {
	d := newDesk(t, "")
	base := d.head()
	d.ci(0)
	d.commit(map[string]string{"cost": "150\n"})
	v, said := d.ci(1, "--fresh")
	if f := cost(t, v); v.Comparisons[*f.Comparison].Against != "baseline" || strings.Contains(said, "measured again") {
		t.Errorf("%+v\n%s", f, said)
	}
	v, said = d.ci(1, "--fresh", "--base", base)
	if f := cost(t, v); v.Comparisons[*f.Comparison].Against != "base" || strings.Contains(said, "measured again") {
		t.Errorf("%+v\n%s", f, said)
	}
}

// A base commit that does not build is told, with the end of what its build
// printed, and what stored sessions say stands.
func TestBaseDoesNotBuild(t *testing.T) {
	for _, reference := range []string{"stored", "auto"} {
		t.Run(reference, func(t *testing.T) {
			d := newDesk(t, "gate: {reference: "+reference+"}\n")
			d.ci(0)
			broken := d.commit(map[string]string{"build.sh": "echo no compiler here >&2; exit 3\n"})
			d.commit(map[string]string{"build.sh": deskBuild, "cost": "150\n"})
			v, said := d.ci(1, "--fresh", "--base", broken)
			f := cost(t, v)
			if f.Outcome != verdict.Fail || v.Comparisons[*f.Comparison].Against != "baseline" || f.Confirmed != nil {
				t.Errorf("%+v", f)
			}
			want := []string{broken[:12], "could not be built", "exit status 3", "no compiler here"}
			for _, text := range want {
				if !slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.Contains(w, text) }) || !strings.Contains(said, text) {
					t.Errorf("nothing says %q: %q\n%s", text, v.Warnings, said)
				}
			}
			d.has("report.md", want...)
			d.sameAgain()
		})
	}
}

// Where nothing is stored either, nothing decides, and the session that was compared
// with nothing becomes a baseline only on purpose.
func TestBaseDoesNotBuildAndNothingIsStored(t *testing.T) {
	for _, reference := range []string{"stored", "auto"} {
		t.Run(reference, func(t *testing.T) {
			d := newDesk(t, "gate: {reference: "+reference+"}\n")
			broken := d.commit(map[string]string{"build.sh": "exit 3\n"})
			d.commit(map[string]string{"build.sh": deskBuild})
			stored := filepath.Join(d.dir, ".perfweir/baseline/tools")
			for _, args := range [][]string{{"--base", broken}, {"--resume", "--base", broken}} {
				v, said := d.ci(0, args...)
				if f := cost(t, v); f.Outcome != verdict.NoBaseline {
					t.Errorf("%v: %+v", args, f)
				}
				if _, err := os.Stat(stored); !os.IsNotExist(err) || strings.Contains(said, "perfweir: saved as baseline") || !strings.Contains(said, "not saved as baseline: it was") {
					t.Errorf("%v: %v\n%s", args, err, said)
				}
			}
			d.has("report.md", "could not be built: stored sessions decide, and nothing does where none is stored")
			if code, said := d.perfweir("baseline", "save"); code != 0 {
				t.Fatalf("code %d: %s", code, said)
			}
			if files, err := os.ReadDir(stored); err != nil || len(files) != 1 {
				t.Errorf("%v, %v", files, err)
			}
		})
	}
}

func TestBaseThatIsNone(t *testing.T) {
	d := newDesk(t, "")
	if code, said := d.perfweir("ci", "--base", "nowhere"); code != 4 || !strings.Contains(said, "--base nowhere: no such commit here") {
		t.Errorf("code %d: %s", code, said)
	}
	d.nothingLeft()
}

// What one stored session leaves in doubt is measured again beside the base
// commit: a real regression is confirmed, one that comes from a baseline that is
// 8 % too fast is not.
func TestConfirmation(t *testing.T) {
	for _, tt := range []struct {
		name    string
		cost    string
		poison  float64
		outcome verdict.Outcome
		ratio   float64
		exit    int
		says    []string
	}{
		{"a large regression", "150", 0, verdict.Fail, 1.5, 1, []string{"confirmed: against the base commit"}},
		{"a regression inside the session allowance", "108", 0, verdict.Fail, 1.08, 1, []string{"confirmed: against the base commit"}},
		{"a poisoned baseline", "100", 0.08, verdict.Pass, 1, 0, []string{"not confirmed: against the base commit"}},
		{"a poisoned baseline that breaks the budget", "100", 0.4, verdict.Pass, 1, 0, []string{"not confirmed: against the base commit"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, "gate: {reference: auto}\n")
			base := d.head()
			d.ci(0)
			d.poison(tt.poison)
			d.commit(map[string]string{"cost": tt.cost + "\n", "note": "x"})
			v, said := d.ci(tt.exit, "--fresh", "--base", base)
			f := cost(t, v)
			c := f.Confirmed
			if f.Outcome != tt.outcome || c == nil || c.Outcome != tt.outcome || c.Commit != base || !near(c.Ratio, tt.ratio) || c.N != 6 || c.Look != 1 {
				t.Fatalf("%s %+v\n%s", f.Message, c, said)
			}
			if s := v.Comparisons[*f.Comparison]; s.Against != "baseline" || !near(&s.Reference, 100*(1-tt.poison)) {
				t.Errorf("the stored comparison is %+v", s)
			}
			word := map[bool]string{true: "confirmed", false: "not_confirmed"}[tt.exit == 1]
			d.has("findings.csv", append(tt.says, word)...)
			d.has("junit.xml", append(tt.says, "measured again beside commit "+base[:12])...)
			d.has("report.md", "measured again beside")
			if !strings.Contains(said, "measured again beside") {
				t.Errorf("the terminal does not tell of it:\n%s", said)
			}
			d.sameAgain()
		})
	}
}

// Without a baseline every gated cell is measured beside the base commit, and a
// kill in the middle of that is gone on from.
func TestConfirmationWithoutBaseline(t *testing.T) {
	d := newDesk(t, "gate: {reference: auto}\n")
	base := d.head()
	d.commit(map[string]string{"cost": "120\n"})
	v, _ := d.ci(1, "--base", base)
	f := cost(t, v)
	if c := v.Comparisons[*f.Comparison]; f.Outcome != verdict.Fail || c.Against != "base" || !near(c.Ratio, 1.2) {
		t.Errorf("%+v, %+v", f, c)
	}
	d.cut("confirm/journal.jsonl", 9)
	d.check(os.Remove(filepath.Join(d.out, "confirm/results.json")))
	v, said := d.ci(1, "--resume", "--base", base)
	if !strings.Contains(said, "runs in the journal, going on") || cost(t, v).Outcome != verdict.Fail {
		t.Errorf("%s", said)
	}
	if again := decoded(t, filepath.Join(d.out, "confirm/results.json"), result.Decode); again.Cells[0].Runs.Len() != 6 || again.Cells[1].Runs.Len() != 6 {
		t.Errorf("runs %d and %d, want those of the first look, 6 each", again.Cells[0].Runs.Len(), again.Cells[1].Runs.Len())
	}
}

// At a desk nobody but --base names the commit.
func TestAutoWithoutBase(t *testing.T) {
	d := newDesk(t, "gate: {reference: auto}\n")
	v, said := d.ci(0)
	if cost(t, v).Outcome != verdict.NoBaseline || !strings.Contains(said, "--base names the commit beside which 1 cell in doubt would be measured again") {
		t.Errorf("%s", said)
	}
}
