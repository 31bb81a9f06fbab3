package result

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// cellReader is a Reader that is inside of a cell; lists are read to scratch
// space and copied once their length is known.
type cellReader struct {
	*Reader
	cell    *Cell
	planned bool // the key was there
	floats  []float64
	ints    []int
	columns []Column
}

func (r *Reader) readCell(c *Cell) error {
	if r.cells == MaxCells {
		return fmt.Errorf("more than %d cells", MaxCells)
	}
	in := &r.inside
	in.Reader, in.cell, in.planned = r, c, false
	if err := r.s.object(in.member); err != nil {
		return err
	}
	if !in.planned {
		c.Planned = distinctRepeats(c.Runs.Repeat)
	}
	if err := checkCell(&r.header, c); err != nil {
		return err
	}
	if r.seen[c.ID()] {
		return errTwice
	}
	r.seen[c.ID()] = true
	return nil
}

// distinctRepeats is the number of repeats that were planned at least, for a
// document that does not say.
func distinctRepeats(repeat []int) int {
	seen := map[int]bool{}
	for _, n := range repeat {
		if n > 0 {
			seen[n] = true
		}
	}
	return len(seen)
}

func (in *cellReader) member(key []byte) (err error) {
	c, s := in.cell, &in.s
	field := in.keep.text(key)
	switch field {
	case "name":
		c.Name, err = in.own()
		in.name = c.Name
	case "benchmark":
		c.Benchmark, err = in.shared()
	case "variant":
		c.Variant, err = in.shared()
	case "input":
		c.Input, err = in.shared()
	case "build":
		c.Build, err = in.shared()
	case "was":
		c.Was, err = in.texts()
	case "digest":
		c.Digest, err = in.own()
	case "argv":
		c.Argv, err = in.texts()
	case "labels":
		c.Labels, err = in.labels()
	case "note":
		c.Note, err = in.shared()
	case "source":
		c.Source, err = in.shared()
	case "control":
		c.Control, err = in.boolean()
	case "planned":
		in.planned = true
		c.Planned, err = s.integer(0, MaxRuns)
	case "looks":
		c.Looks, err = in.list(1, MaxRuns)
	case "runs":
		c.Runs = Runs{}
		return s.object(in.runsMember)
	case "columns":
		return in.readColumns()
	default:
		return s.skip(0)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// boolean reads true or false.
func (in *cellReader) boolean() (v bool, err error) {
	raw, err := in.s.raw()
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	return v, err
}

func (in *cellReader) runsMember(key []byte) (err error) {
	r := &in.cell.Runs
	field := in.keep.text(key)
	switch field {
	case "repeat":
		r.Repeat, err = in.list(0, MaxRuns)
	case "attempt":
		r.Attempt, err = in.list(1, MaxRuns)
	case "look":
		r.Look, err = in.list(1, MaxRuns)
	case "block":
		r.Block, err = in.list(0, maxNumbered)
	case "slot":
		r.Slot, err = in.list(0, maxNumbered)
	case "session":
		r.Session, err = in.list(0, MaxRuns)
	case "start":
		r.Start, err = in.values()
	case "status":
		r.Status = nil
		err = in.positions(func(i int) error {
			text, err := in.shared()
			if s := Status(text); err == nil && s != Success && s != "" {
				setPosition(&r.Status, i, s)
			}
			return err
		})
	case "detail":
		r.Detail = nil
		err = in.positions(func(i int) error {
			d, err := in.detail()
			setPosition(&r.Detail, i, d)
			return err
		})
	default:
		return in.s.skip(0)
	}
	if err != nil {
		return fmt.Errorf("runs: %s: %w", field, err)
	}
	return nil
}

func setPosition[V any](m *map[int]V, i int, v V) {
	if *m == nil {
		*m = map[int]V{}
	}
	(*m)[i] = v
}

// detail is read by encoding/json: few runs have one.
func (in *cellReader) detail() (Detail, error) {
	var d Detail
	raw, err := in.s.raw()
	if err != nil {
		return d, err
	}
	err = json.Unmarshal(raw, &d)
	emptyList(&d.Warnings)
	return d, err
}

func (in *cellReader) readColumns() error {
	in.columns = in.columns[:0]
	err := in.s.array(func() error {
		if len(in.columns) == maxColumns {
			return fmt.Errorf("more than %d columns", maxColumns)
		}
		in.columns = append(in.columns, Column{})
		if err := in.s.object(in.columnMember); err != nil {
			c := &in.columns[len(in.columns)-1]
			return fmt.Errorf("column %s: %w", columnName(c), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	in.cell.Columns = append([]Column(nil), in.columns...)
	return nil
}

func (in *cellReader) columnMember(key []byte) (err error) {
	c := &in.columns[len(in.columns)-1]
	field := in.keep.text(key)
	switch field {
	case "metric":
		c.Metric, err = in.shared()
	case "phase":
		c.Phase, err = in.shared()
	case "part":
		c.Part, err = in.shared()
	case "v":
		c.V, err = in.values()
	case "bound":
		c.Bound, err = in.values()
	case "absent":
		c.Absent = nil
		err = in.positions(func(i int) error {
			reason, err := in.shared()
			setPosition(&c.Absent, i, reason)
			return err
		})
	default:
		return in.s.skip(0)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// positions reads an object that is kept by position in the run list.
func (in *cellReader) positions(member func(i int) error) error {
	return in.s.object(func(key []byte) error {
		i, err := strconv.Atoi(string(key))
		if err != nil || i < 0 || i >= MaxRuns || len(key) > 1 && (key[0] == '0' || key[0] == '+') {
			return fmt.Errorf("key %q is not a position", shorten(string(key)))
		}
		return member(i)
	})
}

func (in *cellReader) list(least, most int) (_ []int, err error) {
	in.ints, err = in.s.integers(in.ints[:0], least, most)
	return in.keep.copyInts(in.ints), err
}

func (in *cellReader) values() (_ Values, err error) {
	in.floats, err = in.s.floats(in.floats[:0])
	return in.keep.copyFloats(in.floats), err
}

// own reads a text that does not repeat in a document.
func (in *cellReader) own() (string, error) {
	b, err := in.s.str()
	return string(b), err
}

// shared reads a text that other cells and columns have too.
func (in *cellReader) shared() (string, error) {
	b, err := in.s.str()
	if err != nil {
		return "", err
	}
	return in.keep.text(b), nil
}

func (in *cellReader) texts() (list []string, err error) {
	err = in.s.array(func() error {
		text, err := in.shared()
		list = append(list, text)
		return err
	})
	return list, err
}

func (in *cellReader) labels() (m map[string]string, err error) {
	err = in.s.object(func(key []byte) error {
		if m == nil {
			m = map[string]string{}
		}
		name := in.keep.text(key)
		m[name], err = in.shared()
		return err
	})
	return m, err
}
