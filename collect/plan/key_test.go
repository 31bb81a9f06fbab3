package plan

import (
	"regexp"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

func TestKeyForIsAlwaysAPlainFolderName(t *testing.T) {
	safe := regexp.MustCompile(`^[0-9a-f]{10}-[A-Za-z0-9._-]{0,60}$`)
	for _, name := range []string{
		"encode/b2/lena.bin", "", ".", "..", "../../etc/passwd", "/", "-rf", "a\x00b", "a\nb", "héllo wörld",
		strings.Repeat("x", 300), strings.Repeat("é", 300), "\xff\xfe", "CON", `a\b`, "trailing.",
	} {
		key := KeyFor(result.ID{Benchmark: name, Build: "head"}, name)
		if !safe.MatchString(key) {
			t.Errorf("KeyFor(%q) = %q, want a match of %s", name, key, safe)
		}
	}
	got := KeyFor(result.ID{Benchmark: "encode", Variant: "b2", Input: "lena.bin", Build: "head"}, "encode/b2/lena.bin")
	if want := "-encode_b2_lena.bin"; got[10:] != want {
		t.Errorf("readable part = %q, want %q", got[10:], want)
	}
}

// Cells whose names clean to the same text, or whose fields join to the same
// text, must not share a folder.
func TestKeyForTellsCellsApart(t *testing.T) {
	seen := map[string]result.ID{}
	for _, id := range []result.ID{
		{Benchmark: "a", Variant: "bc", Build: "head"},
		{Benchmark: "ab", Variant: "c", Build: "head"},
		{Benchmark: "abc", Build: "head"},
		{Benchmark: "abc", Build: "base"},
		{Variant: "abc", Build: "head"},
		{Input: "abc", Build: "head"},
		{Benchmark: "a?c", Build: "head"},
		{Benchmark: "a*c", Build: "head"},
		{Benchmark: strings.Repeat("x", 300), Build: "head"},
		{Benchmark: strings.Repeat("x", 301), Build: "head"},
	} {
		key := KeyFor(id, "same")
		if other, ok := seen[key]; ok {
			t.Errorf("%v and %v share the key %q", id, other, key)
		}
		seen[key] = id
	}
}
