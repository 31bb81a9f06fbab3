package report

import (
	"io"
	"math"

	"github.com/perfweir/perfweir/collect/result"
)

// measurementsHead is the first line of measurements.csv.
const measurementsHead = "cell,benchmark,variant,input,build,session,repeat,attempt,warmup,block,slot,start," +
	"status,valid,metric,phase,part,unit,value,bound,absent\n"

// MeasurementsCSV writes measurements.csv: one row a run and column, in base
// units. A run of a cell without columns has one row, so that no run vanishes.
func MeasurementsCSV(w io.Writer, doc *result.Document) error {
	m := NewMeasurementWriter(w, &doc.Header)
	for i := range doc.Cells {
		m.Cell(&doc.Cells[i])
	}
	return m.Close()
}

// MeasurementWriter writes measurements.csv cell by cell, for documents that are
// streamed.
type MeasurementWriter struct {
	header *result.Header
	csv    *csvWriter
	row    csvRow
	cell   []byte   // fields of the cell
	run    csvRow   // fields of the run
	fields [][]byte // fields of each column: metric, phase, part, unit
}

// NewMeasurementWriter writes the head line. The header is read at each Cell.
func NewMeasurementWriter(w io.Writer, header *result.Header) *MeasurementWriter {
	m := &MeasurementWriter{header: header, csv: newCSVWriter(w, "measurements.csv")}
	m.csv.write([]byte(measurementsHead))
	return m
}

// Cell writes the rows of a cell. An error of the writer below is told by Close.
func (m *MeasurementWriter) Cell(c *result.Cell) {
	m.cell = m.cell[:0]
	for _, s := range [...]string{c.Name, c.Benchmark, c.Variant, c.Input, c.Build} {
		m.cell = append(appendText(m.cell, s), ',')
	}
	m.fields = m.fields[:0]
	for i := range c.Columns {
		m.fields = append(m.fields, m.columnFields(&c.Columns[i]))
	}
	for run := range c.Runs.Len() {
		m.runFields(&c.Runs, run)
		if len(c.Columns) == 0 {
			m.write([]byte(",,,"), nil, run)
		}
		for i := range c.Columns {
			m.write(m.fields[i], &c.Columns[i], run)
		}
	}
}

// Close writes what is buffered and returns the first error.
func (m *MeasurementWriter) Close() error { return m.csv.flush() }

func (m *MeasurementWriter) columnFields(col *result.Column) []byte {
	var b []byte
	for i, s := range [...]string{col.Metric, col.Phase, col.Part, unitText(m.header.Metrics[col.Metric])} {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, s)
	}
	return b
}

func (m *MeasurementWriter) runFields(r *result.Runs, i int) {
	session := ""
	if s := r.SessionAt(i); s >= 0 && s < len(m.header.Sessions) {
		session = m.header.Sessions[s].ID
	}
	m.run.begin()
	m.run.text(session)
	m.run.int(r.Repeat[i])
	m.run.int(r.AttemptAt(i))
	m.run.bool(r.Warmup(i))
	m.run.intAt(r.Block, i)
	m.run.intAt(r.Slot, i)
	if i < len(r.Start) {
		m.run.float(r.Start[i])
	} else {
		m.run.empty()
	}
	m.run.text(string(r.StatusAt(i)))
	m.run.bool(r.ValidAt(i))
}

func (r *csvRow) intAt(v []int, i int) {
	if i < len(v) {
		r.int(v[i])
		return
	}
	r.empty()
}

// write writes one row. A value that is not there leaves its reason.
func (m *MeasurementWriter) write(fields []byte, col *result.Column, run int) {
	b := append(m.row.buf[:0], m.cell...)
	b = append(b, m.run.buf...)
	b = append(b, ',')
	b = append(b, fields...)
	b = append(b, ',')
	value := math.NaN()
	if col != nil && run < len(col.V) {
		value = col.V[run]
	}
	b = append(appendNumber(b, value), ',')
	if col != nil && run < len(col.Bound) {
		b = appendNumber(b, col.Bound[run])
	}
	b = append(b, ',')
	if math.IsNaN(value) || math.IsInf(value, 0) {
		b = appendText(b, absence(col, run, value))
	}
	m.row.buf = append(b, '\n')
	m.csv.write(m.row.buf)
}

func absence(col *result.Column, run int, value float64) string {
	switch {
	case col == nil:
		return result.AbsentNotRun
	case col.Absent[run] != "":
		return col.Absent[run]
	case math.IsInf(value, 0):
		return result.AbsentNotFinite
	}
	return "unknown"
}
