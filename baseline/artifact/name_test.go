package artifact

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for _, tt := range []struct {
		suite, machine, shard string
		attempt               int
		want                  string
	}{
		{"codec", "perf-1", "", 1, "perfweir-results-codec-perf-1-1of1-a1"},
		{"codec", "perf-1", "2/3", 12, "perfweir-results-codec-perf-1-2of3-a12"},
		{"codec", "perf-1", "2of3", 0, "perfweir-results-codec-perf-1-2of3-a1"},
		{"self-gate", "ip-10-0-0-1", "1/1", 1, "perfweir-results-self--gate-ip-10-0-0-1-1of1-a1"},
		{"code c", "x", "", 1, "perfweir-results-code_c.6778d3d5-x-1of1-a1"},
		{"codec", "", "", 1, "perfweir-results-codec-_.e3b0c442-1of1-a1"},
		{"codec", "-x", "", 1, "perfweir-results-codec-_x.a4209624-1of1-a1"},
	} {
		got := Name(tt.suite, tt.machine, tt.shard, tt.attempt)
		if got != tt.want {
			t.Errorf("%q %q %q: %s, want %s", tt.suite, tt.machine, tt.shard, got, tt.want)
		}
		if report := ReportName(tt.suite, tt.machine, tt.shard, tt.attempt); report != strings.Replace(got, "-results-", "-reports-", 1) {
			t.Errorf("report %s", report)
		}
	}
}

// nasty are texts that cleaning could merge, cut or misread.
var nasty = []string{"", "a", "b", "a-b", "a--b", "a-", "-a", "--", "a b", "a_b", "a/b", "a\\b", "ä", "Ã¤", "..", "a.b", "a_b.c8687a08",
	"1of1", "a1", "b-1of1", "x-1of1-a1", "a-b-1of1-a1", strings.Repeat("x", maxPart), strings.Repeat("x", maxPart+1), strings.Repeat("x", 300),
	strings.Repeat("-", 300), "a\nb", "a\x00b", `a"b`, "*", "results", "perfweir-results-", "\xff", "a.0123abcd"}

// Distinct inputs have distinct names; a name gives back what it was made from.
func TestNamesAreDistinctAndRead(t *testing.T) {
	from := map[string][3]string{}
	for _, suite := range nasty {
		for _, machine := range nasty {
			for _, shard := range []string{"1/1", "1/2", "11/2", "1-1", "a"} {
				name := Name(suite, machine, shard, 3)
				in := [3]string{suite, machine, shard}
				if other, ok := from[name]; ok {
					t.Errorf("%q and %q are both %s", in, other, name)
				}
				from[name] = in
				if len(name) > maxName-10 || strings.ContainsFunc(name, func(r rune) bool { return r > 0x7f || !isNameByte(byte(r)) }) {
					t.Errorf("%q: name %q of %d bytes", in, name, len(name))
				}
				if !strings.HasPrefix(name, Prefix(suite)) || !IsResults(name, suite) {
					t.Errorf("%q does not begin with %q", name, Prefix(suite))
				}
				n, ok := parse(Artifact{Name: name}, suite)
				if !ok || n.machine != machinePart(machine) || n.shard != shardPart(shard) || n.attempt != 3 {
					t.Errorf("%q is read as %q, %q, %d", name, n.machine, n.shard, n.attempt)
				}
				for _, other := range nasty {
					if _, ok := parse(Artifact{Name: name}, other); ok && other != suite {
						t.Errorf("%q of suite %q is read as of suite %q", name, suite, other)
					}
				}
			}
		}
	}
}

func TestParseRefusesOtherNames(t *testing.T) {
	for _, name := range []string{"", "x", "perfweir-results-codec", "perfweir-results-codec-", "perfweir-results-codec-a1", "perfweir-results-codec-m-a1",
		"perfweir-results-codec-m-1of1", "perfweir-results-codec-m-1of1-a", "perfweir-results-codec-m-1of1-a0", "perfweir-results-codec-m-1of1-a-1",
		"perfweir-results-codec-m-1of1-a01", "perfweir-results-codec-m-1of1-a1x", "perfweir-results-codec-m-1of1-a99999999999999999999",
		"perfweir-results-codec--m-1of1-a1", "perfweir-results-codec-m\n-1of1-a1", "perfweir-results-codec-m/../x-1of1-a1", "perfweir-results-codec-ä-1of1-a1",
		"perfweir-reports-codec-m-1of1-a1", "perfweir-results-codec-" + strings.Repeat("m", 300) + "-1of1-a1"} {
		if n, ok := parse(Artifact{Name: name}, "codec"); ok || IsResults(name, "codec") {
			t.Errorf("%q is read as %q, %q, %d", name, n.machine, n.shard, n.attempt)
		}
	}
}
