package result

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]Shard{"1/1": {1, 1}, "2/3": {2, 3}, "10/10": {10, 10}, "1000/1000": {1000, 1000}} {
		got, err := ParseShard(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("ParseShard(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "/", "1", "1/", "/3", "0/3", "4/3", "-1/3", "1/-3", "a/b", "1/3/3", " 1/3", "1/3 ", "+1/3", "01/3", "1/03", "1.0/3", "1of3", "0/0",
		"1/1001", "99999999999999999999/99999999999999999999",
	} {
		got, err := ParseShard(text)
		if err == nil || got != (Shard{}) || !strings.Contains(err.Error(), "want I/N with 1 <= I <= N") {
			t.Errorf("ParseShard(%q) = %v, %v, want an error that says what is wanted", text, got, err)
		}
	}
}

func TestShardOfTheWhole(t *testing.T) {
	for shard, whole := range map[Shard]bool{{}: true, {1, 1}: true, {1, 2}: false, {2, 2}: false} {
		if shard.Whole() != whole || shard.Check() != nil {
			t.Errorf("%v: whole is %v, check %v", shard, shard.Whole(), shard.Check())
		}
	}
}

func TestPartial(t *testing.T) {
	for _, tt := range []struct {
		plan PlanRef
		want bool
	}{
		{PlanRef{}, false},
		{PlanRef{Selection: "encode/**"}, true},
		{PlanRef{Shard: "1/2"}, true},
		{PlanRef{Shards: []ShardRef{{Shard: "1/2"}, {Shard: "2/2", Missing: true}}}, false}, // what is missing is in the document
	} {
		if got := tt.plan.Partial(); got != tt.want {
			t.Errorf("%+v: partial is %v", tt.plan, got)
		}
	}
}

// The list of a whole plan's cells may come from an artifact.
func TestDealtIsBounded(t *testing.T) {
	// Four bytes each, so that every read ends with a whole one.
	start := `{"schema":"perfweir.results/v1","dealt":[{}`
	r := &endless{start: start + strings.Repeat(" ", 4-len(start)%4), again: ",{} "}
	if _, err := Decode(r); err == nil || !strings.Contains(err.Error(), "dealt: more than 100000") || r.taken > 1<<20 {
		t.Errorf("err = %v after %d bytes", err, r.taken)
	}
	// The list is bounded by its length, each entry by its bytes.
	r = &endless{start: `{"schema":"perfweir.results/v1","dealt":[{"input":"`, again: "aaaaaaaa"}
	if _, err := Decode(r); err == nil || !strings.Contains(err.Error(), "dealt 0: ") || r.taken > 16<<20 {
		t.Errorf("err = %v after %d bytes", err, r.taken)
	}
	d := largeDocument(1, 1, 1)
	d.Dealt = []Dealt{{Shard: 1, Benchmark: "b", Input: "caf\xe9"}}
	if err := Encode(io.Discard, d); err == nil || !strings.Contains(err.Error(), `dealt cell 0: name "caf\xe9" is not valid UTF-8`) {
		t.Errorf("err = %v, want one about the name", err)
	}
}

// A plan of as many cells as a document may have is more than one key of a header
// may hold, and is read all the same.
func TestDealtMayBeLong(t *testing.T) {
	d := largeDocument(1, 1, 1)
	for i := range MaxCells {
		d.Dealt = append(d.Dealt, Dealt{Shard: 1, Benchmark: "b", Input: strconv.Itoa(i), Build: BuildHead, Digest: strings.Repeat("d", 64)})
	}
	got, err := Decode(bytes.NewReader(encoded(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Dealt) != MaxCells || got.Dealt[MaxCells-1].Input != d.Dealt[MaxCells-1].Input {
		t.Errorf("%d cells came back", len(got.Dealt))
	}
}
