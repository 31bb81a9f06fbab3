package parse

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

func TestFormats(t *testing.T) {
	all := Formats()
	if !slices.IsSortedFunc(all, func(a, b Format) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the formats are not in order")
	}
	builtin := result.Catalogue()
	for _, f := range all {
		if got, ok := FormatOf(f.Name); !ok || got.Name != f.Name {
			t.Errorf("format %s is not found", f.Name)
		}
		if _, ok := builtin[f.Metric]; !ok {
			t.Errorf("%s: its metric %q is not in the catalogue: nobody could define it where nothing was read", f.Name, f.Metric)
		}
		// Text of another kind is no measurement, and is told.
		got, err := f.Read([]byte("hello\nworld\n"))
		if err == nil && (len(got.Measurements) > 0 || len(got.Warnings) == 0) {
			t.Errorf("%s read a greeting as %+v", f.Name, got)
		}
	}
	if _, ok := FormatOf("go-"); ok {
		t.Error("a format that does not exist was found")
	}
}
