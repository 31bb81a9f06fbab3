package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// wavering is a program whose cost on input b is nearer to the base's in the first
// two repeats: six blocks cannot tell, ten can.
const wavering = `mkdir -p bin
cat >bin/tool <<'END'
#!/bin/sh
n=${PERFWEIR_OUT##*/r}
cost=100
case $1 in */b) cost=110; case ${n%%.*} in 1|2) cost=104 ;; esac ;; esac
echo cost $cost
echo size 5
END
chmod +x bin/tool
`

// inDoubt is a desk whose stored session is far too fast, so that both inputs are in
// doubt, and the commit before the change: nothing changed for a, and b is 10 % worse.
func inDoubt(t *testing.T) (d *desk, base string) {
	t.Helper()
	d = newDesk(t, "gate: {reference: auto}\n")
	base = d.commit(map[string]string{"corpus/b": "input"})
	d.ci(0)
	d.poison(0.4)
	d.commit(map[string]string{"build.sh": wavering})
	return d, base
}

// again is what was measured again.
func (d *desk) again() *result.Document {
	return decoded(d.t, filepath.Join(d.out, "confirm/results.json"), result.Decode)
}

// A doubt that is settled at the first look costs no more blocks; the other one goes
// on to the second, with its twin.
func TestConfirmationLooks(t *testing.T) {
	d, base := inDoubt(t)
	v, said := d.ci(1, "--fresh", "--base", base)
	want := &verdict.Confirmation{Commit: base, Family: 2, Looks: []int{6, 10, 20}}
	for i, tt := range []struct {
		blocks, look int
		outcome      verdict.Outcome
		word         string
	}{{6, 1, verdict.Pass, "not confirmed"}, {10, 2, verdict.Fail, "confirmed"}} {
		f := &v.Findings[slices.IndexFunc(v.Findings, func(f verdict.Finding) bool { return f.Cell == i && f.Metric == "cost" })]
		c := f.Confirmed
		if f.Outcome != tt.outcome || c == nil || c.N != tt.blocks || c.Look != tt.look || f.Level > .05/3+1e-15 {
			t.Errorf("%s: %+v at level %v", f.Message, c, f.Level)
		}
		if text := fmt.Sprintf("%s: against the base commit %.12s", tt.word, base); !strings.Contains(f.Message, text) || !strings.Contains(f.Message, fmt.Sprintf("in %d blocks (look %d of 3)", tt.blocks, tt.look)) {
			t.Errorf("message %q lacks %q", f.Message, text)
		}
		want.Cells = append(want.Cells, verdict.Again{Cell: i, Planned: 20, Seen: tt.blocks, Look: tt.look, Stop: "decided"})
	}
	if got := fmt.Sprintf("%+v", v.Confirmation); got != fmt.Sprintf("%+v", want) {
		t.Errorf("measured again %s, want %+v", got, want)
	}
	doc := d.again()
	for i, n := range []int{6, 10, 6, 10} {
		if c := &doc.Cells[i]; c.Runs.Len() != n {
			t.Errorf("%s was run %d times, want %d", c.Name, c.Runs.Len(), n)
		}
	}
	for _, text := range []string{"judged after 6, 10 and 20 blocks", "look 2 of 3: tool/b, tool/b@base go on, 8 runs", "look 3 of 3 is not needed"} {
		if !strings.Contains(said, text) {
			t.Errorf("nothing says %q:\n%s", text, said)
		}
	}
	d.has("report.md", "n 6, pass after look 1 of 3", "n 10, fail after look 2 of 3", "2 tests that share the same rate anew, judged after 6, 10, 20 blocks")
	d.sameAgain()
}

// A kill in the first look of a confirmation, between two looks and in the second one
// changes nothing: going on comes to the bytes of a run that was not killed.
func TestConfirmationLooksResume(t *testing.T) {
	d, base := inDoubt(t)
	d.ci(1, "--fresh", "--base", base)
	whole := d.read("verdict.json")
	journal := bytes.SplitAfter(d.read("confirm/journal.jsonl"), []byte("\n"))
	second := slices.IndexFunc(journal, func(line []byte) bool { return bytes.Contains(line, []byte(`"look":{"look":2`)) })
	if second < 20 {
		t.Fatalf("the second look begins at line %d of %s", second+1, bytes.Join(journal, nil))
	}
	for _, tt := range []struct {
		name  string
		lines int
	}{{"in the first look", 9}, {"between two looks", second}, {"when the second had begun", second + 1}, {"in the second look", second + 4}} {
		d.check(os.WriteFile(filepath.Join(d.out, "confirm/journal.jsonl"), bytes.Join(journal[:tt.lines], nil), 0o644))
		d.check(os.Remove(filepath.Join(d.out, "confirm/results.json")))
		_, said := d.ci(1, "--resume", "--base", base)
		if !strings.Contains(said, "runs in the journal, going on") {
			t.Errorf("%s: nothing is gone on with:\n%s", tt.name, said)
		}
		if got := d.read("verdict.json"); !bytes.Equal(got, whole) {
			t.Errorf("%s: another verdict:\n%s\n--- was\n%s", tt.name, got, whole)
		}
		for i, n := range []int{6, 10, 6, 10} {
			if c := &d.again().Cells[i]; c.Runs.Len() != n {
				t.Errorf("%s: %s was run %d times, want %d", tt.name, c.Name, c.Runs.Len(), n)
			}
		}
		d.sameAgain()
	}
}

func (d *desk) read(name string) []byte {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.out, name))
	d.check(err)
	return b
}

// Once limits.time is spent a look is not begun, and the doubt says so.
func TestConfirmationTimeCap(t *testing.T) {
	d, base := inDoubt(t)
	text := strings.Replace(fmt.Sprintf(deskSuite, "gate: {reference: auto}\n"), "exclusive: none", "limits: {time: 1ms}\nexclusive: none", 1)
	d.commit(map[string]string{"perfweir.yml": text})
	v, said := d.ci(0, "--fresh", "--base", base)
	f := &v.Findings[slices.IndexFunc(v.Findings, func(f verdict.Finding) bool { return f.Cell == 1 && f.Metric == "cost" })]
	if f.Grade != verdict.Suspect || f.Confirmed.N != 6 || v.Confirmation.Cells[1].Stop != "time_cap" || !strings.Contains(f.Message, "limits.time left no time for more") {
		t.Errorf("%s: %+v", f.Message, v.Confirmation)
	}
	if !strings.Contains(said, "look 2 of 3 is not begun") {
		t.Errorf("%s", said)
	}
	d.sameAgain()
}

// Doubts are measured again after the last look of the session, at looks of their own.
func TestConfirmationAfterLooks(t *testing.T) {
	d := newDesk(t, "")
	text := strings.Replace(fmt.Sprintf(deskSuite, "gate: {reference: auto}\n"), "repeats: 10", "repeats: {looks: [5, 10, 24]}", 1)
	base := d.commit(map[string]string{"perfweir.yml": text})
	d.ci(0)
	d.poison(0.4)
	d.commit(map[string]string{"note": "x"})
	v, said := d.ci(0, "--fresh", "--base", base)
	f := cost(t, v)
	if f.Outcome != verdict.Pass || f.Confirmed == nil || f.Look != 1 || f.Confirmed.N != 6 || f.Confirmed.Look != 1 {
		t.Errorf("%s at look %d, %+v: %s\n%s", f.Outcome, f.Look, f.Confirmed, f.Message, said)
	}
	// The last has the repeats that the suite asks for.
	again := decoded(t, filepath.Join(d.out, "confirm/plan.json"), plan.Decode)
	if want := []int{6, 12, 24}; !slices.Equal(again.Looks, want) || !slices.Equal(again.Cells[0].Looks, want) {
		t.Errorf("measured again at looks %v, a cell at %v, want %v", again.Looks, again.Cells[0].Looks, want)
	}
	d.sameAgain()
}

// A doubt about an exact metric alone needs no test: three blocks, at once.
func TestConfirmationOfAnExactMetric(t *testing.T) {
	d := newDesk(t, "gate: {reference: auto}\n")
	text := strings.Replace(fmt.Sprintf(deskSuite, "gate: {reference: auto}\n"), "{metric: size, max: 1kB}", "{metric: size, max_regression: 0%%}", 1)
	base := d.commit(map[string]string{"perfweir.yml": strings.ReplaceAll(text, "%%", "%")})
	d.ci(0)
	d.commit(map[string]string{"build.sh": strings.Replace(deskBuild, `size $(wc -c <"$1")`, "size 9", 1)})
	v, _ := d.ci(1, "--fresh", "--base", base)
	if c := v.Confirmation; c == nil || !slices.Equal(c.Looks, []int{3}) || c.Cells[0] != (verdict.Again{Planned: 3, Seen: 3}) {
		t.Errorf("measured again %+v", c)
	}
	d.sameAgain()
}

// Where the base build lacks all that is in doubt nothing is measured, and the verdict
// says why.
func TestConfirmationOfNewPrograms(t *testing.T) {
	d := newDesk(t, "gate: {reference: auto}\n")
	base := d.head()
	d.ci(0)
	text := strings.Replace(fmt.Sprintf(deskSuite, "gate: {reference: auto}\n"), "budgets:", `  - name: fresh
    run: [bin/fresh]
    read: [{metric: cost, pattern: 'cost ([\d.]+)', unit: "1", better: lower}]
budgets:`, 1)
	d.commit(map[string]string{"perfweir.yml": text, "build.sh": deskBuild + "cp bin/tool bin/fresh; printf '#!/bin/sh\\necho cost 7\\n' >bin/fresh\n"})
	v, said := d.ci(0, "--fresh", "--base", base)
	f := &v.Findings[slices.IndexFunc(v.Findings, func(f verdict.Finding) bool { return v.Cells[f.Cell].Name == "fresh" && f.Metric == "cost" })]
	if f.Outcome != verdict.New || !strings.Contains(f.Message, "the base build has no bin/fresh") || v.Confirmation != nil {
		t.Errorf("%s: %s, %+v", f.Outcome, f.Message, v.Confirmation)
	}
	if !strings.Contains(said, "not measured again: fresh@base: the base build has no bin/fresh") {
		t.Errorf("%s", said)
	}
	d.sameAgain()
	// Beside another doubt it is not counted as measured.
	d.commit(map[string]string{"cost": "150\n"})
	if _, said := d.ci(1, "--fresh", "--base", base); !strings.Contains(said, "in doubt: 2 cells, 1 of them measured again beside "+base[:12]) {
		t.Errorf("%s", said)
	}
}

// A command that writes over what was measured, while doubts are measured again,
// changes nothing for who judges the folder later.
func TestConfirmationKeepsWhatWasMeasured(t *testing.T) {
	d := newDesk(t, "gate: {reference: auto}\n")
	base := d.head()
	d.ci(0)
	results := filepath.Join(d.out, "results.json")
	forger := strings.Replace(deskBuild, "#!/bin/sh\\n", "#!/bin/sh\\n[ ! -e "+results+" ] || { sed -i s/150/100/g "+results+"; echo {} >"+filepath.Join(d.out, "selftest.json")+"; rm -rf "+filepath.Join(d.out, "baseline")+"; }\\n", 1)
	if forger == deskBuild {
		t.Fatal("the build is another")
	}
	d.commit(map[string]string{"cost": "150\n", "build.sh": forger})
	v, said := d.ci(1, "--fresh", "--base", base)
	if f := cost(t, v); f.Confirmed == nil || f.Confirmed.Outcome != verdict.Fail {
		t.Errorf("%+v", f)
	}
	d.writtenAnew(results, said)
}

// Nor does a base build that writes over it and fails.
func TestConfirmationKeepsWhatWasMeasuredBesideAFailedBuild(t *testing.T) {
	d := newDesk(t, "gate: {reference: auto}\n")
	d.ci(0)
	results := filepath.Join(d.out, "results.json")
	broken := d.commit(map[string]string{"build.sh": "sed -i s/150/100/g " + results + "; exit 3\n"})
	d.commit(map[string]string{"build.sh": deskBuild, "cost": "150\n"})
	_, said := d.ci(1, "--fresh", "--base", broken)
	d.writtenAnew(results, said)
}

// writtenAnew wants the change to results.json undone and told.
func (d *desk) writtenAnew(results, said string) {
	d.t.Helper()
	if !strings.Contains(said, "results.json was changed while doubts were measured again: it is written anew") {
		d.t.Errorf("%s", said)
	}
	data, err := os.ReadFile(results)
	d.check(err)
	if !strings.Contains(string(data), "150") {
		d.t.Errorf("what was forged stayed: %s", data)
	}
	d.sameAgain()
}
