package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/collect/result"
)

// metrics are what is recorded, each in the unit that its whole numbers are in.
var metrics = []struct {
	name  string
	scale float64 // base units in one
}{{result.WallTime, 1e-6}, {result.CPUTime, 1e-6}}

// session is one recorded session.
type session struct {
	injected string // "cpu=auto"; "-" where nothing was
	rows     []row
}

// row is one metric of one cell, its runs in the order of their blocks, in base
// units.
type row struct {
	cell, metric string
	slowed       bool // the cell was injected
	values       []float64
}

// record writes what one self-test kept: a line a session ("session INJECTED"),
// then a line a cell and metric: name, metric, + where it was injected, values.
func record(w io.Writer, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "sessions.json"))
	if err != nil {
		return err
	}
	var kept []struct {
		File, Injected string
		Cells          []string
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	for _, k := range kept {
		doc, err := proof.Decode(filepath.Join(dir, k.File), result.Decode)
		if err != nil {
			return err
		}
		injected := k.Injected
		if injected == "" {
			injected = "-"
		}
		fmt.Fprintln(w, "session", injected)
		for i := range doc.Cells {
			recordCell(w, &doc.Cells[i], slices.Contains(k.Cells, doc.Cells[i].Name))
		}
	}
	return nil
}

func recordCell(w io.Writer, c *result.Cell, slowed bool) {
	mark := "."
	if slowed {
		mark = "+"
	}
	for _, m := range metrics {
		for k := range c.Columns {
			if c.Columns[k].Metric != m.name {
				continue
			}
			fmt.Fprint(w, c.Name, " ", m.name, " ", mark)
			for _, v := range c.Runs.ValuesOf(&c.Columns[k], c.Runs.Clean(), 0) {
				fmt.Fprintf(w, " %d", int64(math.Round(v/m.scale)))
			}
			fmt.Fprintln(w)
		}
	}
}

// read reads what record wrote.
func read(path string) ([]session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []session
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 0 || words[0] == "#":
			continue
		case words[0] == "session" && len(words) == 2:
			out = append(out, session{injected: words[1]})
			continue
		case len(out) == 0 || len(words) < 4:
			return nil, fmt.Errorf("%s:%d: no line of a session", path, n)
		}
		r := row{cell: words[0], metric: words[1], slowed: words[2] == "+"}
		scale := 0.0
		for _, m := range metrics {
			if m.name == r.metric {
				scale = m.scale
			}
		}
		for _, word := range words[3:] {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil || scale == 0 {
				return nil, fmt.Errorf("%s:%d: %q of %q is no value", path, n, word, r.metric)
			}
			r.values = append(r.values, v*scale)
		}
		last := &out[len(out)-1]
		last.rows = append(last.rows, r)
	}
	return out, lines.Err()
}

// find is the same cell's metric in another session; nil where it has none.
func (s *session) find(r *row) *row {
	for i := range s.rows {
		if s.rows[i].cell == r.cell && s.rows[i].metric == r.metric {
			return &s.rows[i]
		}
	}
	return nil
}
