package plan

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/perfweir/perfweir/collect/result"
)

// Encode writes a plan, one cell a line, those of other shards too. It refuses a plan whose order does not
// fit its cells, and names that are not UTF-8: results could not be written under
// them, and that is better said before the first run.
func Encode(w io.Writer, p *Plan) error {
	out := *p
	if out.Schema == "" {
		out.Schema = Schema
	}
	if err := result.CheckSchema(out.Schema, Schema); err != nil {
		return err
	}
	if err := check(&out); err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	head := struct {
		*Plan
		Dealt *struct{} `json:"dealt,omitempty"` // written line by line
		Cells *struct{} `json:"cells,omitempty"` // and so are these
	}{Plan: &out}
	var arrays []result.Lines
	if len(p.Dealt) > 0 {
		arrays = append(arrays, result.Lines{Key: "dealt", Len: len(p.Dealt), At: func(i int) any { return &p.Dealt[i] }})
	}
	arrays = append(arrays, result.Lines{Key: "cells", Len: len(p.Cells), At: func(i int) any { return &p.Cells[i] }})
	err := result.WriteDocument(w, head, arrays...)
	if err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	return nil
}

// Decode reads a plan. A document of another kind or of a newer version is
// refused in words, and so is an order that does not fit the cells.
func Decode(r io.Reader) (*Plan, error) {
	p := new(Plan)
	err := result.ReadDocument(r, Schema, p)
	if err == nil {
		err = check(p)
	}
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if len(p.Cells) == 0 {
		p.Cells = nil
	}
	if len(p.Dealt) == 0 {
		p.Dealt = nil
	}
	return p, nil
}

func check(p *Plan) error {
	for i := range p.Cells {
		c := &p.Cells[i]
		for _, s := range [...]string{c.Name, c.Benchmark, c.Variant, c.Input, c.Build} {
			if !utf8.ValidString(s) {
				return fmt.Errorf("cell %d: name %q is not valid UTF-8: rename it", i, s)
			}
		}
	}
	o := &p.Order
	n := o.Len()
	for _, column := range [...][]int{o.Repeat, o.Look, o.Block, o.Slot} {
		if len(column) != n {
			return fmt.Errorf("order: a column has %d entries, cell has %d", len(column), n)
		}
	}
	for i, c := range o.Cell {
		if c < 0 || c >= len(p.Cells) {
			return fmt.Errorf("order %d: cell %d of %d", i, c, len(p.Cells))
		}
	}
	return nil
}
