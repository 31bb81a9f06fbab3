package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// withLooks makes the desk's suite one with looks.
func (d *desk) withLooks(keys string) {
	text := strings.Replace(fmt.Sprintf(deskSuite, keys), "repeats: 10", "repeats: {looks: [5, 10, 20]}", 1)
	d.commit(map[string]string{"perfweir.yml": text})
}

// Five blocks cannot call a fail at a third of the error, ten can: a cell and its
// twin on the base build go on to the second look together, also after a kill.
func TestBaseGoesOnWithItsCell(t *testing.T) {
	d := newDesk(t, "")
	d.withLooks("")
	base := d.head()
	d.ci(0)
	d.commit(map[string]string{"cost": "110\n"})
	check := func(v *verdict.Document, said string) {
		t.Helper()
		f := cost(t, v)
		doc := decoded(t, filepath.Join(d.out, "results.json"), result.Decode)
		if f.Outcome != verdict.Fail || f.Look != 2 || v.Comparisons[*f.Comparison].N != [2]int{10, 10} || doc.Plan.Reached != 2 {
			t.Errorf("%s at look %d, reached %d: %s\n%s", f.Outcome, f.Look, doc.Plan.Reached, f.Message, said)
		}
		for i := range doc.Cells {
			if c := &doc.Cells[i]; c.Runs.Len() != 10 {
				t.Errorf("%s has %d runs, want 10", c.Name, c.Runs.Len())
			}
		}
		d.sameAgain()
	}
	check(d.ci(1, "--fresh", "--base", base))
	d.cut("journal.jsonl", 16) // in the second look
	check(d.ci(1, "--resume"))
}
