package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/gate/verdict"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// format is a renderer as the golden files know it.
type format struct {
	name   string
	render func(io.Writer, *verdict.Document, Options) error
	opts   Options
}

func formats() []format {
	full := "perfweir-out/findings.csv"
	return []format{
		{"report.md", Markdown, Options{Key: "codec", Full: full}},
		{"terminal.txt", Terminal, Options{Full: "perfweir-out/report.md"}},
		{"terminal80.txt", Terminal, Options{Width: 80, Color: true}},
		{"junit.xml", JUnit, Options{}},
		{"findings.csv", FindingsCSV, Options{}},
	}
}

func render(t *testing.T, f format, v *verdict.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.render(&b, v, f.opts); err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for name, v := range documents() {
		for _, f := range formats() {
			if name == "large" && f.name != "report.md" && f.name != "terminal.txt" {
				continue // megabytes that nobody would review
			}
			t.Run(name+"/"+f.name, func(t *testing.T) {
				got := render(t, f, v)
				if again := render(t, f, v); !bytes.Equal(got, again) {
					t.Fatal("the same document gave other bytes")
				}
				golden(t, name+"."+f.name, got)
			})
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with go test ./gate/report -update)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
		if err := os.WriteFile(path+".got", got, 0o644); err != nil {
			t.Error(err)
		}
	}
}
