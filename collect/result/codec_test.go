package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func encoded(t *testing.T, d *Document) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Encode(&buf, d); err != nil {
		t.Fatalf("Encode: %v", err)
	}
	return buf.Bytes()
}

func TestDecodeReturnsWhatWasEncoded(t *testing.T) {
	for seed := range uint64(2000) {
		want := randomDocument(rand.New(rand.NewPCG(seed, 1)))
		text := encoded(t, want)
		got, err := Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("document %d: %v\n%s", seed, err, text)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("document %d differs after Decode(Encode) (-want +got):\n%s", seed, diff)
		}
		if again := encoded(t, got); !bytes.Equal(again, text) {
			t.Fatalf("document %d: encoding it again gives other bytes:\n%s\n%s", seed, text, again)
		}
	}
}

// The hand-written codec and encoding/json agree on what a document says.
func TestCodecAgreesWithEncodingJSON(t *testing.T) {
	for seed := range uint64(300) {
		want := randomDocument(rand.New(rand.NewPCG(seed, 2)))
		text := encoded(t, want)
		got := new(Document)
		if err := json.Unmarshal(text, got); err != nil {
			t.Fatalf("document %d: encoding/json refuses what Encode wrote: %v\n%s", seed, err, text)
		}
		same := cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Fatalf("document %d as encoding/json reads it (-want +got):\n%s", seed, diff)
		}
		if len(want.Cells) == 0 {
			continue // encoding/json writes null, and a document says that it has no cells
		}
		// What encoding/json writes has null for an empty list and other
		// spaces, and is the same document.
		text, err := json.MarshalIndent(want, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("document %d: Decode refuses what encoding/json wrote: %v\n%s", seed, err, text)
		}
		if diff := cmp.Diff(want, back, same); diff != "" {
			t.Fatalf("document %d from encoding/json (-want +got):\n%s", seed, diff)
		}
	}
}

// Wherever a read ends, inside of a key, a number, an escape, the document is
// the same.
func TestDecodeFromAnyReader(t *testing.T) {
	for seed := range uint64(50) {
		want := randomDocument(rand.New(rand.NewPCG(seed, 3)))
		text := encoded(t, want)
		for name, r := range map[string]io.Reader{
			"one byte at a time": iotest.OneByteReader(bytes.NewReader(text)),
			"half of each read":  iotest.HalfReader(bytes.NewReader(text)),
			"end with the data":  iotest.DataErrReader(bytes.NewReader(text)),
		} {
			got, err := Decode(r)
			if err != nil {
				t.Fatalf("%s: document %d: %v", name, seed, err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Fatalf("%s: document %d (-want +got):\n%s", name, seed, diff)
			}
		}
	}
}

// Documents that cross many windows, so that each part meets a window's end.
func TestDecodeLongDocument(t *testing.T) {
	want := largeDocument(300, 7, 10)
	got, err := Decode(bytes.NewReader(encoded(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// A document that is cut off is never a shorter document.
func TestDecodeCutAnywhere(t *testing.T) {
	text := bytes.TrimSpace(encoded(t, randomDocument(rand.New(rand.NewPCG(7, 4)))))
	for n := range len(text) {
		if d, err := Decode(bytes.NewReader(text[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes decode to %d cells", n, len(text), len(d.Cells))
		}
	}
	broken := errors.New("disk on fire")
	_, err := Decode(io.MultiReader(bytes.NewReader(text[:len(text)/2]), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want the reader's", err)
	}
}

func TestDecodeExample(t *testing.T) {
	text, err := os.ReadFile("testdata/example.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	no := false
	want := Cell{
		Name: "encode/b2/lena.bin", Benchmark: "encode", Variant: "b2", Input: "lena.bin", Build: "head", Digest: "sha256:c0",
		Argv: []string{"bin/encode", "-b", "2"}, Planned: 3,
		Runs: Runs{
			Repeat: []int{1, 2, 3, 3}, Attempt: []int{1, 1, 1, 2}, Look: []int{1, 1, 1, 1}, Block: []int{1, 2, 3, 3},
			Slot: []int{0, 1, 0, 1}, Start: []float64{0, 1.4, 2.9, 9.1}, Status: map[int]Status{2: Timeout},
			Detail: map[int]Detail{2: {
				Signal: "KILL", Timeout: 5, TimeoutBasis: "4 x encode/default", StderrTail: "..",
				Warnings: []string{"throttled 12 %"}, Valid: &no,
			}},
		},
		Columns: []Column{
			{Metric: "wall_time", V: Values{1.21, 1.19, math.NaN(), 1.22}, Absent: map[int]string{2: "timeout"}},
			{Metric: "energy_per_token", Phase: "decode", V: Values{0.41, 0.4, math.NaN(), 0.42},
				Bound: Values{0.01, 0.01, math.NaN(), 0.01}, Absent: map[int]string{2: "too_short"}},
			{Metric: "gpu_memory_peak", Part: "gpu0", V: Values{1073741824, 1073741824, 0, 1073741824}},
		},
	}
	if diff := cmp.Diff([]Cell{want}, d.Cells, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	s := d.Sessions[0]
	if !s.StartedAt.Equal(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)) || s.WorkflowRun.ID != 4711 || s.Sources[1].Coverage != 0.999 {
		t.Errorf("session = %+v", s)
	}
	if d.Plan.Seed != 7 || len(d.Plan.Looks) != 3 || d.Metrics["energy_per_token"].Per != "token" || d.Builds["base"].Commit != "77fe" {
		t.Errorf("header = %+v", d.Header)
	}
}

func TestReaderStreams(t *testing.T) {
	r, err := NewReader(bytes.NewReader(encoded(t, largeDocument(3, 2, 1))))
	if err != nil {
		t.Fatal(err)
	}
	if r.Header().Suite.Name != "codec" {
		t.Errorf("header = %+v", r.Header())
	}
	for i := range 3 {
		c, err := r.Next()
		if err != nil || c.Input != string(rune('0'+i))+".bin" {
			t.Fatalf("cell %d = %+v, %v", i, c, err)
		}
	}
	for range 2 {
		if c, err := r.Next(); err != io.EOF || c != nil {
			t.Fatalf("after the last cell: %v, %v, want io.EOF", c, err)
		}
	}
}

// Default statuses are left out, and nil and empty are the same.
func TestEncodeNormalForm(t *testing.T) {
	d := largeDocument(1, 2, 1)
	plain := encoded(t, d)
	r := &d.Cells[0].Runs
	r.Status = map[int]Status{0: Success, 1: ""}
	r.Detail, r.Attempt, r.Session = map[int]Detail{}, []int{}, []int{}
	d.Cells[0].Labels, d.Cells[0].Was = map[string]string{}, []string{}
	d.Cells[0].Columns[0].Bound, d.Cells[0].Columns[0].Absent = Values{}, map[int]string{}
	d.Skipped, d.Schema = []Skipped{}, ""
	d.Sessions[0].StartedAt = d.Sessions[0].StartedAt.In(time.FixedZone("somewhere", 3600))
	if got := encoded(t, d); !bytes.Equal(got, plain) {
		t.Errorf("got\n%s\nwant\n%s", got, plain)
	}
	// Positions are in numeric, not textual, order.
	d = largeDocument(1, 11, 1)
	d.Cells[0].Runs.Status = map[int]Status{10: Failed, 2: Timeout}
	if text := string(encoded(t, d)); !strings.Contains(text, `"status":{"2":"timeout","10":"failed"}`) {
		t.Errorf("status not in order in %s", text)
	}
}

func TestCheckSchema(t *testing.T) {
	for _, c := range []struct{ tag, want string }{
		{"perfweir.results/v1", ""},
		{"perfweir.results/v2", "perfweir.results/v2 is newer than this version reads (v1): use a newer perfweir"},
		{"perfweir.results/v10", "perfweir.results/v10 is newer than this version reads (v1): use a newer perfweir"},
		{"", `not a perfweir results document (schema "")`},
		{"perfweir.verdict/v1", `not a perfweir results document (schema "perfweir.verdict/v1")`},
		{"perfweir.verdict/v2", `not a perfweir results document (schema "perfweir.verdict/v2")`},
		{"perfweir.results/v0", `not a perfweir results document (schema "perfweir.results/v0")`},
		{"perfweir.results/v01", `not a perfweir results document (schema "perfweir.results/v01")`},
		{"perfweir.results/v2.1", `not a perfweir results document (schema "perfweir.results/v2.1")`},
		{strings.Repeat("x", 200), `not a perfweir results document (schema "` + strings.Repeat("x", 80) + `...")`},
	} {
		err := CheckSchema(c.tag, Schema)
		if got := ""; err != nil {
			got = err.Error()
			if got != c.want {
				t.Errorf("CheckSchema(%q) = %q, want %q", c.tag, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("CheckSchema(%q) = nil, want %q", c.tag, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for seed := range uint64(20) {
		var buf bytes.Buffer
		if err := Encode(&buf, randomDocument(rand.New(rand.NewPCG(seed, 5)))); err != nil {
			f.Fatal(err)
		}
		f.Add(buf.Bytes())
	}
	example, err := os.ReadFile("testdata/example.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	for _, text := range refusedDocuments() {
		f.Add([]byte(text.doc))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Decode(bytes.NewReader(text))
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("accepted what is not JSON: %s", text)
		}
		var once, twice bytes.Buffer
		if err := Encode(&once, d); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Decode(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := cmp.Diff(d, again, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("Decode(Encode(x)) differs from x:\n%s", diff)
		}
		if err := Encode(&twice, again); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("encoding is not stable (%v):\n%s\n%s", err, &once, &twice)
		}
	})
}
