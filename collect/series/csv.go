package series

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// The form of samples.csv, which is stable:
//
//	t,memory B,gpu_power[gpu0] W
//	0.000412,2203648,
//	0.000501,,31.5
//
// The first column is the time of the reading in s since the run's start. Every
// other column is one series, in the order of the set; its heading is the
// metric, the part in brackets when there is one, a space and the unit. An empty
// cell is no reading. Sources are stamped one by one, so a row holds what one
// source read at one moment, and rows are in time order. Numbers are the
// shortest decimal that gives the same float64 back.
//
// Names may come from the program under test: everything in a heading that is
// not a letter, a digit or one of _ . / : * - is percent-encoded, so a heading
// can neither break the grammar nor start a spreadsheet formula.
//
// One wide table was taken over one row a reading (t, metric, part, unit,
// value): it is a third of the size and a plotting program reads it as it is.

// MaxBytes is the size from which Decode refuses a file: a day of ten series at
// ten readings a second is less.
const MaxBytes = 256 << 20

const timeHeading = "t"

// Encode writes the set as samples.csv. A set that Check refuses or that holds
// one key twice is an error, and nothing is written then.
func Encode(w io.Writer, set Set) error {
	seen := make(map[Key]bool, len(set.Series))
	for i := range set.Series {
		s := &set.Series[i]
		if err := s.Check(); err != nil {
			return fmt.Errorf("encode samples: %w", err)
		}
		if seen[s.Key()] {
			return fmt.Errorf("encode samples: series %q is there twice", heading(s.Key()))
		}
		seen[s.Key()] = true
	}
	bw := bufio.NewWriter(w)
	bw.WriteString(timeHeading)
	for i := range set.Series {
		bw.WriteByte(',')
		bw.WriteString(heading(set.Series[i].Key()))
	}
	bw.WriteByte('\n')
	writeRows(bw, set.Series)
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("encode samples: %w", err)
	}
	return nil
}

// writeRows merges the series by time. Two readings of one series at the same
// time take two rows. The error of the writer surfaces at Flush.
func writeRows(w *bufio.Writer, all []Series) {
	next := make([]int, len(all)) // position of the next reading, by series
	var line []byte
	for {
		t, ok := earliest(all, next)
		if !ok {
			return
		}
		line = appendNumber(line[:0], t+0) // +0 makes -0 a 0
		for i := range all {
			line = append(line, ',')
			if n := next[i]; n < len(all[i].T) && all[i].T[n] == t {
				line = appendNumber(line, all[i].V[n])
				next[i]++
			}
		}
		w.Write(append(line, '\n'))
	}
}

// appendNumber writes bytes and seconds as people do, and keeps the exponent for
// what would be a row of zeros.
func appendNumber(to []byte, f float64) []byte {
	form := byte('f')
	if a := math.Abs(f); a >= 1e15 || a < 1e-6 && a > 0 {
		form = 'e'
	}
	return strconv.AppendFloat(to, f, form, -1, 64)
}

func earliest(all []Series, next []int) (t float64, ok bool) {
	for i := range all {
		if next[i] == len(all[i].T) {
			continue
		}
		if at := all[i].T[next[i]]; !ok || at < t {
			t, ok = at, true
		}
	}
	return t, ok
}

// Decode reads samples.csv. What does not follow the form is an error that
// names the line; a number that is not finite is one too (ErrNotFinite). The
// file may have been saved by a spreadsheet: quoted cells and CRLF are read.
func Decode(r io.Reader) (Set, error) {
	bounded := &io.LimitedReader{R: r, N: MaxBytes + 1}
	cr := csv.NewReader(bounded)
	cr.ReuseRecord = true
	head, err := cr.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return Set{}, fmt.Errorf("decode samples: %w", err)
	}
	set, err := decodeHead(head)
	if err != nil {
		return Set{}, fmt.Errorf("decode samples: line 1: %w", err)
	}
	for last := math.Inf(-1); ; {
		row, err := cr.Read()
		if bounded.N == 0 {
			return Set{}, fmt.Errorf("decode samples: the file is over %d bytes", MaxBytes)
		}
		if errors.Is(err, io.EOF) {
			return set, nil
		}
		if err != nil {
			return Set{}, fmt.Errorf("decode samples: %w", err)
		}
		line, _ := cr.FieldPos(0)
		t, err := decodeRow(row, set.Series)
		if err == nil && t < last {
			err = ErrOrder
		}
		if err != nil {
			return Set{}, fmt.Errorf("decode samples: line %d: %w", line, err)
		}
		last = t
	}
}

func decodeHead(cells []string) (Set, error) {
	if cells[0] != timeHeading {
		return Set{}, fmt.Errorf("the first column is %.40q, not %q: this is no samples file", cells[0], timeHeading)
	}
	var set Set
	var keys []Key
	for _, c := range cells[1:] {
		k, err := parseHeading(c)
		if err != nil {
			return Set{}, err
		}
		if slices.Contains(keys, k) {
			return Set{}, fmt.Errorf("column %.80q is there twice", c)
		}
		keys = append(keys, k)
		set.Series = append(set.Series, Series{Metric: k.Metric, Part: k.Part, Unit: k.Unit})
	}
	return set, nil
}

// decodeRow appends the readings of one row to the series of its columns.
func decodeRow(cells []string, all []Series) (t float64, err error) {
	if t, err = number(cells[0]); err != nil {
		return 0, err
	}
	t += 0
	empty := true
	for i, c := range cells[1:] {
		if c == "" {
			continue
		}
		v, err := number(c)
		if err != nil {
			return 0, err
		}
		all[i].Add(t, v)
		empty = false
	}
	if empty {
		return 0, errors.New("the row holds no reading")
	}
	return t, nil
}

func number(cell string) (float64, error) {
	f, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a number", cell)
	}
	if !finite(f) {
		return 0, fmt.Errorf("%.40q: %w", cell, ErrNotFinite)
	}
	return f, nil
}
