package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// rowsDigest tells sets of broken rows apart: which budgets of which cells on
// which machines are broken, whatever the numbers.
func (r Report) rowsDigest() string {
	var rows []string
	for _, p := range r.Parts {
		for i := range p.Verdict.Findings {
			if p.Verdict.StandingOf(i) == verdict.Broken {
				rows = append(rows, rowKey(p.Name(), p.Verdict, &p.Verdict.Findings[i]))
			}
		}
		for _, c := range bareCells(p.Verdict) {
			rows = append(rows, strings.Join([]string{p.Name(), p.Verdict.Cells[c].Name, string(p.Verdict.Cells[c].Outcome)}, "\x00"))
		}
	}
	for _, m := range r.Missing {
		rows = append(rows, m+"\x00missing")
	}
	slices.Sort(rows)
	h := sha256.New()
	for _, row := range rows {
		h.Write([]byte(strconv.Itoa(len(row)) + ":" + row))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func rowKey(machine string, v *verdict.Document, f *verdict.Finding) string {
	b := budgetOf(v, f)
	return strings.Join([]string{machine, cellOf(v, f).Name, f.Metric, f.Phase, f.Part,
		string(b.Kind), b.Against, string(f.Outcome)}, "\x00")
}

// bareCells are red cells that no broken finding explains.
func bareCells(v *verdict.Document) []int {
	explained := make([]bool, len(v.Cells))
	for i := range v.Findings {
		if c := v.Findings[i].Cell; c >= 0 && c < len(explained) && v.StandingOf(i) == verdict.Broken {
			explained[c] = true
		}
	}
	var bare []int
	for i := range v.Cells {
		if v.Cells[i].Outcome.Red() && !explained[i] {
			bare = append(bare, i)
		}
	}
	return bare
}

func budgetOf(v *verdict.Document, f *verdict.Finding) *budget.Budget {
	if f.Budget < 0 || f.Budget >= len(v.Budgets) {
		return &budget.Budget{}
	}
	return &v.Budgets[f.Budget]
}

func cellOf(v *verdict.Document, f *verdict.Finding) *verdict.Cell {
	if f.Cell < 0 || f.Cell >= len(v.Cells) {
		return &verdict.Cell{}
	}
	return &v.Cells[f.Cell]
}
