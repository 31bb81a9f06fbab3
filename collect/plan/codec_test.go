package plan

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/perfweir/perfweir/collect/result"
)

func small() *Plan {
	return &Plan{
		Schema: Schema, Suite: result.Suite{Name: "codec", Path: "perfweir.yml"}, Digest: "sha256:41", Seed: 1<<64 - 1, Looks: []int{2},
		Builds: map[string]result.Build{"head": {Commit: "3c1a"}},
		Cells: []Cell{
			{Name: "encode", Benchmark: "encode", Build: "head", Key: "0123456789-encode", Repeats: 2, Exec: Exec{
				Argv: []string{"bash", "-c", "a && b > c"}, Env: Env{Set: map[string]string{"LC_ALL": "C"}},
				Expect: []Expect{{File: "{out}/x", StartsWith: []byte{0x7f, 'E', 'L', 'F'}}}, Read: []Read{{Metric: "frames", Count: "^frame "}},
			}},
			{Name: "serve", Benchmark: "serve", Build: "head", Repeats: 1, Exec: Exec{Argv: []string{"bin/serve"}, Timeout: Timeout{Factor: 4, Of: "default"}}},
		},
		Order: Order{Cell: []int{1, 0, 0}, Repeat: []int{1, 0, 1}, Look: []int{1, 1, 1}, Block: []int{0, 0, 1}, Slot: []int{0, 1, 0}},
	}
}

func TestCodec(t *testing.T) {
	want := small()
	var text bytes.Buffer
	if err := Encode(&text, want); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "\n"); n != 1+1+2 {
		t.Errorf("%d lines, want one for each cell:\n%s", n, &text)
	}
	if !strings.Contains(text.String(), "a && b > c") {
		t.Errorf("a command is escaped for HTML:\n%s", &text)
	}
	got, err := Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestCodecRefuses(t *testing.T) {
	for want, spoil := range map[string]func(*Plan){
		"order: a column has 2 entries, cell has 3":    func(p *Plan) { p.Order.Slot = []int{0, 1} },
		"order 2: cell 2 of 2":                         func(p *Plan) { p.Order.Cell[2] = 2 },
		`cell 1: name "\xff" is not valid UTF-8`:       func(p *Plan) { p.Cells[1].Input = "\xff" },
		"not a perfweir plan document (schema \"x\")":  func(p *Plan) { p.Schema = "x" },
		"perfweir.plan/v2 is newer than this version ": func(p *Plan) { p.Schema = "perfweir.plan/v2" },
	} {
		p := small()
		spoil(p)
		if err := Encode(io.Discard, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Encode: %v, want %q", err, want)
		}
	}
	for text, want := range map[string]string{
		`{}`:                            `not a perfweir plan document (schema "")`,
		`{"schema":"perfweir.plan/v2"}`: `use a newer perfweir`,
		`{"schema":"perfweir.plan/v1","order":{"cell":[0],"repeat":[1],"look":[1],"block":[0],"slot":[0]}}`: `order 0: cell 0 of 0`,
	} {
		if _, err := Decode(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Decode(%s): %v, want %q", text, err, want)
		}
	}
}
