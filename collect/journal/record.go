// Package journal owns journal.jsonl: the append-only log of one matrix, one
// JSON record a line, each written before the next run starts. A process that is
// killed loses at most the run in flight; a machine that loses power, what was
// not yet on disk (see Writer).
//
// The room writes and reads the log and folds it into a results document. It
// does not decide what runs or what a number means. Its data goes to collect,
// which appends, and to flow, which folds.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
)

// Schema is the tag in the first record.
const Schema = "perfweir.journal/v1"

// Record is one line: exactly one field is set.
type Record struct {
	Open    *Opened                  `json:"open,omitempty"`    // the first record, and no other
	Session *result.Session          `json:"session,omitempty"` // one starts; sessions count from 0 in the order of these records
	Metrics map[string]result.Metric `json:"metrics,omitempty"` // definitions, before the first run that uses them
	Look    *Look                    `json:"look,omitempty"`    // one begins; of plans with more than one
	Run     *Run                     `json:"run,omitempty"`
	End     *End                     `json:"end,omitempty"` // a session ended by itself
}

// Opened ties a journal to the plan that it records.
type Opened struct {
	Schema string `json:"schema"`
	Plan   string `json:"plan"` // plan.Plan.Digest
}

// Look says that a look begins, and which cells go on to it: a resume does what
// was begun, whatever it would choose today.
type Look struct {
	Look  int   `json:"look"`  // 1-based
	Cells []int `json:"cells"` // indices into the plan's cells, ascending
}

// Run is one run that ended.
type Run struct {
	Cell    int           `json:"cell"`              // index into the plan's cells
	Repeat  int           `json:"repeat"`            // 1-based; 0 marks a warm-up
	Attempt int           `json:"attempt"`           // 1-based
	Look    int           `json:"look"`              // 1-based
	Block   int           `json:"block"`             // as planned
	Slot    int           `json:"slot"`              // as planned
	Session int           `json:"session,omitempty"` // index of the session record
	Start   float64       `json:"start"`             // s since the session's start
	Status  result.Status `json:"status,omitempty"`  // empty: success
	Detail  result.Detail `json:"detail,omitzero"`
	Values  []Value       `json:"values,omitempty"`
}

// Value is one measurement of a run. V is NaN exactly when Absent says why; it is
// null in the file.
type Value struct {
	Metric string
	Phase  string
	Part   string
	V      float64
	Bound  float64 // error bound in the metric's unit; 0: none is stated
	Absent string
}

// End says how a session went.
type End struct {
	Session     int             `json:"session"`
	Sources     []result.Source `json:"sources,omitempty"`
	Interrupted bool            `json:"interrupted,omitempty"`
}

// wireRecord is a Record as it stands in the file.
type wireRecord struct {
	*Record
	Run *wireRun `json:"run,omitempty"`
}

type wireRun struct {
	*Run
	Values []wireValue `json:"values,omitempty"`
}

type wireValue struct {
	Metric string   `json:"metric"`
	Phase  string   `json:"phase,omitempty"`
	Part   string   `json:"part,omitempty"`
	V      *float64 `json:"v"`
	Bound  float64  `json:"bound,omitempty"`
	Absent string   `json:"absent,omitempty"`
}

// encode appends the line of a record to buf.
func encode(buf *bytes.Buffer, rec *Record) error {
	if err := check(rec); err != nil {
		return err
	}
	wire := wireRecord{Record: rec}
	if rec.Run != nil {
		values := rec.Run.Values
		wire.Run = &wireRun{Run: rec.Run, Values: make([]wireValue, len(values))}
		for i := range values {
			wire.Run.Values[i] = toWire(&values[i])
		}
	}
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	return enc.Encode(wire)
}

func toWire(v *Value) wireValue {
	w := wireValue{Metric: v.Metric, Phase: v.Phase, Part: v.Part, Absent: v.Absent, Bound: v.Bound}
	if !math.IsNaN(v.V) {
		w.V = &v.V
	}
	if math.IsNaN(v.Bound) {
		w.Bound = 0 // none is known
	}
	return w
}

// decode reads the line of a record; the newline is not part of it. Keys that
// this version does not know are skipped, a kind of record that it does not know
// is refused: what it says cannot be left out.
func decode(line []byte) (Record, error) {
	rec := Record{}
	wire := wireRecord{Record: &rec}
	if err := json.Unmarshal(line, &wire); err != nil {
		return rec, err
	}
	if wire.Run != nil {
		rec.Run = wire.Run.Run
		if rec.Run == nil {
			rec.Run = new(Run)
		}
		for i := range wire.Run.Values {
			rec.Run.Values = append(rec.Run.Values, fromWire(&wire.Run.Values[i]))
		}
	}
	return rec, check(&rec)
}

func fromWire(w *wireValue) Value {
	v := Value{Metric: w.Metric, Phase: w.Phase, Part: w.Part, V: math.NaN(), Bound: w.Bound, Absent: w.Absent}
	if w.V != nil {
		v.V = *w.V
	}
	return v
}

// check holds a record against the rules of the journal: what Append refuses,
// Read refuses.
func check(rec *Record) error {
	kinds := 0
	for _, set := range [...]bool{rec.Open != nil, rec.Session != nil, len(rec.Metrics) > 0, rec.Look != nil, rec.Run != nil, rec.End != nil} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("record has %d known kinds, want 1", kinds)
	case rec.Open != nil:
		return result.CheckSchema(rec.Open.Schema, Schema)
	case rec.End != nil && rec.End.Session < 0:
		return fmt.Errorf("end of session %d", rec.End.Session)
	case rec.Look != nil:
		if !slices.IsSorted(rec.Look.Cells) || rec.Look.Look < 1 || len(rec.Look.Cells) > 0 && rec.Look.Cells[0] < 0 {
			return fmt.Errorf("look %d of cells %v", rec.Look.Look, rec.Look.Cells)
		}
	case rec.Run != nil:
		if err := checkRun(rec.Run); err != nil {
			return fmt.Errorf("run of cell %d, repeat %d: %w", rec.Run.Cell, rec.Run.Repeat, err)
		}
	}
	return nil
}

func checkRun(r *Run) error {
	if r.Cell < 0 || r.Repeat < 0 || r.Attempt < 1 || r.Look < 1 || r.Block < 0 || r.Slot < 0 || r.Session < 0 {
		return errors.New("a number is below its least")
	}
	if math.IsNaN(r.Start) || math.IsInf(r.Start, 0) {
		return fmt.Errorf("start %g is not a time", r.Start)
	}
	for i := range r.Values {
		v := &r.Values[i]
		switch {
		case math.IsInf(v.V, 0):
			return fmt.Errorf("value of %q is infinite", v.Metric)
		case math.IsNaN(v.V) && v.Absent == "":
			return fmt.Errorf("value of %q is absent without a reason", v.Metric)
		case !math.IsNaN(v.V) && v.Absent != "":
			return fmt.Errorf("value of %q is there and has a reason to be absent: %q", v.Metric, v.Absent)
		case v.Bound < 0 || math.IsInf(v.Bound, 0):
			return fmt.Errorf("bound %g of %q is not an error bound", v.Bound, v.Metric)
		}
	}
	return nil
}
