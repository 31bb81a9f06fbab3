package result

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

type refused struct{ name, doc, want string }

const (
	head = `{"schema":"perfweir.results/v1","sessions":[{"id":"s"}],"metrics":{"m":{"unit":"s","class":"noisy"}},"cells":[`
	runs = `"runs":{"repeat":[1,2],"block":[0,0],"slot":[0,1],"start":[0,1]}`
	cell = `{"name":"b/x","benchmark":"b",` + runs
)

// refusedDocuments are documents that break one rule each.
func refusedDocuments() []refused {
	column := func(text string) string { return head + cell + `,"columns":[` + text + `]}]}` }
	withRuns := func(text string) string { return head + `{"name":"b","benchmark":"b","runs":{` + text + `}}]}` }
	return []refused{
		{"nothing", ``, `not a perfweir results document (schema "")`},
		{"an array", `[1]`, `not a perfweir results document (schema "")`},
		{"another format", `{"results":[{"command":"sleep"}]}`, `not a perfweir results document (schema "")`},
		{"no schema", `{"cells":[]}`, `not a perfweir results document (schema "")`},
		{"another document", `{"schema":"perfweir.verdict/v1","cells":[]}`, `not a perfweir results document (schema "perfweir.verdict/v1")`},
		{"newer", `{"schema":"perfweir.results/v2","sessions":"changed"}`, `perfweir.results/v2 is newer than this version reads (v1): use a newer perfweir`},
		{"schema twice", `{"schema":"perfweir.results/v1","schema":"perfweir.results/v1","cells":[]}`, `key "schema" is there twice`},
		{"no cells", `{"schema":"perfweir.results/v1"}`, `no cells`},
		{"cells not last", head + `],"metrics":{}}`, `cells has to be the last key`},
		{"more after the end", head + `]} x`, `after the end of the document`},
		{"comma at the end", head + cell + `,"columns":[]},]}`, `cell 1 ("")`},
		{"session twice", `{"schema":"perfweir.results/v1","sessions":[{"id":"a"},{"id":"a"}],"cells":[]}`, `session 1: id "a"`},
		{"unknown class", `{"schema":"perfweir.results/v1","metrics":{"m":{"class":"x"}},"cells":[]}`, `metric "m": unknown class "x"`},
		{"unknown direction", `{"schema":"perfweir.results/v1","metrics":{"m":{"class":"noisy","better":"x"}},"cells":[]}`, `unknown direction`},
		{"cell twice", head + cell + `},` + cell + `}]}`, `cell 1 ("b/x"), byte 301: a cell of this identity`},
		{"no benchmark", head + `{"name":"x"}]}`, `cell 0 ("x"), byte 122: benchmark is empty`},
		{"block too short", withRuns(`"repeat":[1,2],"block":[0],"slot":[0,0],"start":[0,0]`), `block has 1 entries, repeat has 2`},
		{"slot absent", withRuns(`"repeat":[1,2],"block":[0,0],"start":[0,0]`), `slot has 0 entries`},
		{"start null", withRuns(`"repeat":[1],"block":[0],"slot":[0],"start":[null]`), `start of run 0`},
		{"start absent", withRuns(`"repeat":[1],"block":[0],"slot":[0]`), `start has 0 entries`},
		{"attempt too short", withRuns(`"repeat":[1,2],"attempt":[1],"block":[0,0],"slot":[0,0],"start":[0,0]`), `attempt has 1 entries`},
		{"attempt 0", withRuns(`"repeat":[1],"attempt":[0],"block":[0],"slot":[0],"start":[0]`), `from 1 to`},
		{"repeat negative", withRuns(`"repeat":[-1]`), `found -1, want a whole number from 0`},
		{"repeat fraction", withRuns(`"repeat":[1.5]`), `found 1.5, want a whole number`},
		{"repeat exponent", withRuns(`"repeat":[1e3]`), `found 1e3, want a whole number`},
		{"repeat beyond int64", withRuns(`"repeat":[99999999999999999999]`), `want a whole number`},
		{"session out of range", withRuns(`"repeat":[1],"session":[1],"block":[0],"slot":[0],"start":[0]`), `session of run 0: 1 is not from 0 to 0`},
		{"status out of range", withRuns(`"repeat":[1],"block":[0],"slot":[0],"start":[0],"status":{"1":"failed"}`), `status of run 1: there are 1 runs`},
		{"status unknown", withRuns(`"repeat":[1],"block":[0],"slot":[0],"start":[0],"status":{"0":"fine"}`), `unknown status "fine"`},
		{"detail out of range", withRuns(`"repeat":[1],"block":[0],"slot":[0],"start":[0],"detail":{"7":{}}`), `detail of run 7`},
		{"position negative", withRuns(`"status":{"-1":"failed"}`), `key "-1" is not a position`},
		{"position padded", withRuns(`"status":{"01":"failed"}`), `key "01" is not a position`},
		{"planned beyond all", head + `{"benchmark":"b","planned":1000001}]}`, `planned: found 1000001`},
		{"metric undefined", column(`{"metric":"x","v":[1,2]}`), `column "x": the metric is not defined`},
		{"column short", column(`{"metric":"m","v":[1]}`), `column "m": 1 values, 2 runs`},
		{"column absent", column(`{"metric":"m"}`), `column "m": 0 values, 2 runs`},
		{"column twice", column(`{"metric":"m","part":"p","v":[1,2]},{"metric":"m","part":"p","v":[1,2]}`), `column "m" part "p" is there twice`},
		{"bound short", column(`{"metric":"m","v":[1,2],"bound":[1]}`), `1 bounds, 2 runs`},
		{"bound negative", column(`{"metric":"m","v":[1,2],"bound":[1,-1]}`), `bound of run 1`},
		{"null without reason", column(`{"metric":"m","v":[1,null]}`), `cell 0 ("b/x"), byte 245: column "m": value of run 1 is absent without a reason`},
		{"null with empty reason", column(`{"metric":"m","v":[1,null],"absent":{"1":""}}`), `absent without a reason`},
		{"reason beside a value", column(`{"metric":"m","v":[1,2],"absent":{"1":"x"}}`), `run 1 has a value`},
		{"reason out of range", column(`{"metric":"m","v":[1,2],"absent":{"2":"x"}}`), `absent 2: there are 2 runs`},
		{"NaN", column(`{"metric":"m","v":[1,NaN]}`), `v: found 'N', want a number`},
		{"Infinity", column(`{"metric":"m","v":[1,Infinity]}`), `found 'I', want a number`},
		{"beyond float64", column(`{"metric":"m","v":[1,1e999]}`), `number 1e999 is not finite`},
		{"leading zero", column(`{"metric":"m","v":[01,2]}`), `column "m"`},
		{"point without digit", column(`{"metric":"m","v":[1.,2]}`), `column "m"`},
		{"plus", column(`{"metric":"m","v":[+1,2]}`), `found '+'`},
		{"hexadecimal", column(`{"metric":"m","v":[0x1p-2,2]}`), `found 'x'`},
		{"underscore", column(`{"metric":"m","v":[1_0,2]}`), `found '_'`},
		{"string for a number", column(`{"metric":"m","v":["1",2]}`), `found '"', want a number`},
		{"control character", head + "{\"name\":\"a\nb\"}]}", `control character '\n' in a string`},
		{"escape of nothing", head + `{"name":"a\x"}]}`, `cell 0`},
		{"unknown key that is no JSON", head + `{"x":[1,}]}`, `cell 0`},
		{"unknown key too deep", head + `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}]}`, `nested deeper than 64`},
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range refusedDocuments() {
		t.Run(c.name, func(t *testing.T) {
			d, err := Decode(strings.NewReader(c.doc))
			if err == nil {
				t.Fatalf("decoded to %+v, want an error with %q", d, c.want)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %q, want it to contain %q", err, c.want)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Document)
		want  string
	}{
		{"infinite value", func(d *Document) { d.Cells[1].Columns[0].V[1] = math.Inf(1) }, `cell 1 ("encode/b1/1.bin"): column "allocs_per_op": value of run 1 is infinite`},
		{"absent without reason", func(d *Document) { d.Cells[0].Columns[0].V[0] = math.NaN() }, `value of run 0 is absent without a reason`},
		{"reason beside a value", func(d *Document) { d.Cells[0].Columns[0].Absent = map[int]string{0: "x"} }, `run 0 has a value`},
		{"reason out of range", func(d *Document) { d.Cells[0].Columns[0].Absent = map[int]string{-1: "x"} }, `absent -1`},
		{"infinite bound", func(d *Document) { d.Cells[0].Columns[0].Bound = Values{0, math.Inf(1)} }, `bound of run 1`},
		{"start not a number", func(d *Document) { d.Cells[0].Runs.Start[1] = math.NaN() }, `start of run 1`},
		{"column short", func(d *Document) { d.Cells[0].Columns[0].V = Values{1} }, `1 values, 2 runs`},
		{"metric undefined", func(d *Document) { d.Cells[0].Columns[0].Metric = "x" }, `not defined`},
		{"column twice", func(d *Document) { d.Cells[0].Columns[1] = d.Cells[0].Columns[0] }, `is there twice`},
		{"block short", func(d *Document) { d.Cells[0].Runs.Block = nil }, `block has 0 entries`},
		{"repeat negative", func(d *Document) { d.Cells[0].Runs.Repeat[0] = -1 }, `repeat of run 0: -1`},
		{"session unknown", func(d *Document) { d.Cells[0].Runs.Session = []int{0, 1} }, `session of run 1`},
		{"no session", func(d *Document) { d.Sessions = nil }, `no session`},
		{"identity twice", func(d *Document) { d.Cells[1] = d.Cells[0] }, `identity`},
		{"name not UTF-8", func(d *Document) { d.Cells[0].Input = "\xff" }, `not valid UTF-8`},
		{"status unknown", func(d *Document) { d.Cells[0].Runs.Status = map[int]Status{0: "fine"} }, `unknown status`},
		{"detail out of range", func(d *Document) { d.Cells[0].Runs.Detail = map[int]Detail{2: {}} }, `detail of run 2`},
		{"detail not finite", func(d *Document) { d.Cells[0].Runs.Detail = map[int]Detail{1: {Timeout: math.Inf(1)}} }, `detail of run 1`},
		{"planned negative", func(d *Document) { d.Cells[0].Planned = -1 }, `planned`},
		{"step not finite", func(d *Document) { d.Metrics["attempts"] = Metric{Class: Noisy, Step: math.NaN()} }, `step`},
		{"schema of another", func(d *Document) { d.Schema = "perfweir.verdict/v1" }, `not a perfweir results document`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := largeDocument(2, 2, 2)
			c.spoil(d)
			err := Encode(io.Discard, d)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
		})
	}
}

// endless repeats a text for ever and counts what was taken.
type endless struct {
	start, again string
	taken        int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		text := e.again
		if e.start != "" {
			text = e.start
		}
		k := copy(p[n:], text)
		if e.start != "" {
			e.start = e.start[k:]
		}
		n += k
	}
	e.taken += int64(n)
	return n, nil
}

// A document from an artifact may be written to exhaust us. Each of these never
// ends; each is refused after few bytes.
func TestDecodeBoundsWhatItReads(t *testing.T) {
	for _, c := range []struct {
		name, start, again string
		most               int64
	}{
		{"name", head + `{"name":"`, "aaaaaaaa", 4 << 20},
		{"key", head + `{"`, "aaaaaaaa", 4 << 20},
		{"number", head + `{"planned":`, "11111111", 1 << 20},
		{"fraction", head + `{"planned":0.`, "00000000", 1 << 20},
		{"depth", head + `{"x":`, "[", 1 << 20},
		{"runs", head + `{"runs":{"repeat":[1`, ",1", 4 << 20},
		{"values", head + `{"columns":[{"v":[1`, ",1", 4 << 20},
		{"columns", head + `{"columns":[{}`, ",{}", 4 << 20},
		{"sessions", `{"schema":"perfweir.results/v1","sessions":[{}`, ",{}", 1 << 20},
		{"metrics", `{"schema":"perfweir.results/v1","metrics":{"a":{}`, `,"a":{}`, 16 << 20},
		{"detail", head + `{"runs":{"detail":{"0":{"warnings":[""`, `,""`, 16 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &endless{start: c.start, again: c.again}
			_, err := Decode(r)
			if err == nil {
				t.Fatal("decoded a document without an end")
			}
			if r.taken > c.most {
				t.Errorf("refused after %d bytes (%v), want at most %d", r.taken, err, c.most)
			}
		})
	}
}

func TestDecodeBoundsCells(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(head)
	for i := range MaxCells + 1 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"benchmark":"%d"}`, i)
	}
	b.WriteString("]}")
	_, err := Decode(&b)
	if err == nil || !strings.Contains(err.Error(), "more than 100000 cells") {
		t.Errorf("error = %v, want one about too many cells", err)
	}
}
