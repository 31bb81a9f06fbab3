package result

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// PrintedName joins the fields of a cell's identity with slashes, leaving out
// empty ones. It is only a name: two identities may print alike, and a plan that
// has such a pair is refused.
func PrintedName(benchmark, variant, input string) string {
	parts := make([]string, 0, 3)
	for _, p := range []string{benchmark, variant, input} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "/")
}

// MatchName reports whether a glob selects a name: * stays inside one field, **
// crosses slashes, and a pattern that ends at a field selects everything below
// it ("encode" selects "encode/b2/a.bin"). The empty pattern selects all. A
// malformed pattern selects nothing; config refuses those.
func MatchName(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	if ok, err := doublestar.Match(pattern, name); err == nil && ok {
		return true
	}
	ok, err := doublestar.Match(strings.TrimSuffix(pattern, "/")+"/**", name)
	return err == nil && ok
}

// QuoteName escapes a name so that MatchName selects it literally.
func QuoteName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
