package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/collect/result"
)

const suiteManual = "docs/suite.md"

// TestSuiteManualIsWhole: the manual has every key of the grammar and every
// metric of the catalogue.
func TestSuiteManualIsWhole(t *testing.T) {
	manual := read(t, suiteManual)
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	schemaKeys(schema, keys)
	if len(keys) < 60 {
		t.Fatalf("the schema has %d keys: the walk is broken", len(keys))
	}
	for key := range keys {
		// sampling.interval stands for interval.
		if !regexp.MustCompile("`([a-z]+\\.)?" + regexp.QuoteMeta(key) + "`").MatchString(manual) {
			t.Errorf("%s does not tell of the key %s", suiteManual, key)
		}
	}
	for name, m := range result.Catalogue() {
		row := regexp.MustCompile("(?m)^\\| [^|]*`" + name + "`[^|]*\\| (\\S+) \\| (\\S+) \\| (\\S+) \\|").FindStringSubmatch(manual)
		if row == nil {
			t.Errorf("%s does not tell of the metric %s", suiteManual, name)
		} else if want := []string{m.Unit, m.Better, string(m.Class)}; !slices.Equal(row[1:], want) {
			t.Errorf("%s: %s is %v, the catalogue says %v", suiteManual, name, row[1:], want)
		}
	}
}

// schemaKeys collects the names of all properties below a schema.
func schemaKeys(node any, keys map[string]bool) {
	switch n := node.(type) {
	case map[string]any:
		for name, child := range n {
			if properties, ok := child.(map[string]any); ok && name == "properties" {
				for key := range properties {
					keys[key] = true
				}
				for _, property := range properties {
					schemaKeys(property, keys)
				}
				continue
			}
			schemaKeys(child, keys)
		}
	case []any:
		for _, child := range n {
			schemaKeys(child, keys)
		}
	}
}

// TestSuiteManualExamples: every suite of the manual parses without a word.
func TestSuiteManualExamples(t *testing.T) {
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(read(t, suiteManual), -1)
	seen := 0
	for _, e := range examples {
		if !strings.Contains(e[1], "version:") {
			continue
		}
		seen++
		f, problems := config.Parse("example.yml", []byte(e[1]))
		if len(problems) > 0 {
			t.Errorf("%s\n%s", problems, e[1])
		} else if len(f.Warnings) > 0 {
			t.Errorf("%s\n%s", f.Warnings, e[1])
		}
	}
	if seen < 5 {
		t.Errorf("%d examples, want at least five", seen)
	}
}

// TestSuiteManualLaterKeys: every key that is refused for now is listed as that.
func TestSuiteManualLaterKeys(t *testing.T) {
	manual := read(t, suiteManual)
	_, section, found := strings.Cut(manual, "## Keys of later versions")
	if !found {
		t.Fatal("no section of later keys")
	}
	later := read(t, "testdata/config/err/shape_later_keys.out")
	for _, m := range regexp.MustCompile(`"([a-z_]+)" is not supported by this version`).FindAllStringSubmatch(later, -1) {
		if !strings.Contains(section, "`"+m[1]+"`") {
			t.Errorf("%s does not tell that %s is refused", suiteManual, m[1])
		}
	}
}
