package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/budget"
)

const acceptHead = `# a comment on top
version: 1
suite: s   # and one beside

benchmarks:
  - {name: encode, run: [a], variants: [{name: fast}]}
`

// The entry goes where the others are; every other byte stays.
func TestAddAccepted(t *testing.T) {
	x := budget.Exception{Cells: "encode/fast", Metric: "wall_time", Text: "12%", Reason: `checksums "on", #812`, Expires: "2027-03-01"}
	const line = `{cells: encode/fast, metric: wall_time, limit: 12%, reason: "checksums \"on\", #812", expires: 2027-03-01}`
	other := `{metric: cpu_time, limit: 5%, reason: "a ] here, # there", expires: 2027-03-01}`
	for name, tt := range map[string]struct{ before, after string }{
		"no list":                  {acceptHead, acceptHead + "accepted:\n  - " + line + "\n"},
		"no list, no last newline": {strings.TrimSuffix(acceptHead, "\n"), acceptHead + "accepted:\n  - " + line + "\n"},
		"a list in the middle": {acceptHead + "accepted:\n- " + other + " # why\n# about the gate\ngate: {}\n",
			acceptHead + "accepted:\n- " + other + " # why\n- " + line + "\n# about the gate\ngate: {}\n"},
		"a list in blocks": {acceptHead + "accepted:\n    - metric: cpu_time\n      limit: 5%\n      reason: x\n      expires: 2027-03-01\n\ngate: {}\n",
			acceptHead + "accepted:\n    - metric: cpu_time\n      limit: 5%\n      reason: x\n      expires: 2027-03-01\n    - " + line + "\n\ngate: {}\n"},
		"a flow list":      {acceptHead + "accepted: [" + other + "]\ngate: {}\n", acceptHead + "accepted: [" + strings.Replace(other, "}", "}, "+line, 1) + "]\ngate: {}\n"},
		"an empty one":     {acceptHead + "accepted: []\n", acceptHead + "accepted: [" + line + "]\n"},
		"a trailing comma": {acceptHead + "accepted: [\n  " + other + ",\n]\n", acceptHead + "accepted: [\n  " + other + ", " + line + "]\n"},
		"Windows":          {strings.ReplaceAll(acceptHead, "\n", "\r\n"), strings.ReplaceAll(acceptHead+"accepted:\n  - "+line+"\n", "\n", "\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a flow list" || name == "a trailing comma" {
				tt.before, tt.after = strings.ReplaceAll(tt.before, "# there", "there"), strings.ReplaceAll(tt.after, "# there", "there")
			}
			got, err := AddAccepted("s.yml", []byte(tt.before), x)
			if err != nil || string(got) != tt.after {
				t.Fatalf("%v:\n%s\nwant:\n%s", err, got, tt.after)
			}
			f, _ := Parse("s.yml", got)
			if !slices.ContainsFunc(f.Accepted, func(a budget.Exception) bool { return a.Reason == x.Reason && a.Limit == 0.12 && a.Cells == x.Cells }) {
				t.Errorf("accepted: %+v", f.Accepted)
			}
			if _, err := AddAccepted("s.yml", got, x); err == nil || !strings.Contains(err.Error(), "is accepted already") {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

// What cannot be edited, or is wrong, changes nothing and says what.
func TestAddAcceptedRefuses(t *testing.T) {
	ok := budget.Exception{Cells: "encode/fast", Metric: "wall_time", Text: "12%", Reason: "x", Expires: "2027-03-01"}
	for name, tt := range map[string]struct {
		file string
		edit func(*budget.Exception)
		want string
	}{
		"a file in flow style": {"{version: 1, suite: s, benchmarks: [{name: encode, run: [a], variants: [{name: fast}]}]}\n", nil, ErrShape.Error()},
		"an end marker":        {acceptHead + "...\n", nil, ErrShape.Error()},
		"an unknown cell":      {acceptHead, func(x *budget.Exception) { x.Cells = "encod/fast" }, `cells "encod/fast" matches no cell`},
		"an unknown metric":    {acceptHead, func(x *budget.Exception) { x.Metric = "wal_time" }, `did you mean "wall_time"?`},
		"a bare limit":         {acceptHead, func(x *budget.Exception) { x.Text = "12" }, `12% or 1200%`},
		"no day":               {acceptHead, func(x *budget.Exception) { x.Expires = "soon" }, `must be a day`},
		"a broken file":        {acceptHead + "gat: {}\n", nil, `"gat" is not a key`},
	} {
		t.Run(name, func(t *testing.T) {
			x := ok
			if tt.edit != nil {
				tt.edit(&x)
			}
			got, err := AddAccepted("s.yml", []byte(tt.file), x)
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrShape) != (tt.want == ErrShape.Error()) {
				t.Errorf("%v\n%s\nwant %q", err, got, tt.want)
			}
		})
	}
}
