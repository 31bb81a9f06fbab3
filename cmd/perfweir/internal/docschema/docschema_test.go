package docschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/exhibit"
	"github.com/perfweir/perfweir/gate/selftest"
	"github.com/perfweir/perfweir/gate/verdict"
)

// fill sets every field that v reaches to something random that JSON can say.
func fill(rnd *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(rnd.Int64N(4e9), rnd.Int64N(1e9)).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"", "a", "é\n\"<&>\u2028", "x/y"}[rnd.IntN(4)])
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(rnd.Int64N(100))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(rnd.Uint64N(200))
	case reflect.Float64:
		v.SetFloat(rnd.NormFloat64())
	case reflect.Pointer:
		if rnd.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rnd, v.Elem())
		}
	case reflect.Slice:
		for range rnd.IntN(3) {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(rnd, e)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rnd, v.Index(i))
		}
	case reflect.Map:
		for range rnd.IntN(3) {
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			key, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(rnd, key)
			fill(rnd, e)
			v.SetMapIndex(key, e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rnd, v.Field(i))
		}
	default:
		panic(fmt.Sprintf("fill: %s", v.Type()))
	}
}

func random[T any](rnd *rand.Rand) *T {
	x := new(T)
	fill(rnd, reflect.ValueOf(x).Elem())
	return x
}

func randomPlan(rnd *rand.Rand) *plan.Plan {
	p := random[plan.Plan](rnd)
	p.Schema, p.Order = plan.Schema, plan.Order{}
	for i := range p.Cells {
		o := &p.Order
		o.Cell, o.Repeat, o.Look = append(o.Cell, i), append(o.Repeat, 1), append(o.Look, 1)
		o.Block, o.Slot = append(o.Block, 0), append(o.Slot, i)
	}
	return p
}

func randomVerdict(rnd *rand.Rand) *verdict.Document {
	d := random[verdict.Document](rnd)
	d.Schema, d.Outcome = verdict.Schema, verdict.Fail
	d.Cells = append(d.Cells, verdict.Cell{})
	d.Budgets = append(d.Budgets, budget.Budget{})
	d.Comparisons = append(d.Comparisons, verdict.Comparison{})
	d.Excuses = append(d.Excuses, verdict.Excuse{})
	for i := range d.Cells {
		d.Cells[i].Outcome = verdict.New
	}
	for i := range d.Budgets {
		d.Budgets[i].Kind = budget.MaxRegression
	}
	for i := range d.Comparisons {
		d.Comparisons[i].Cell = rnd.IntN(len(d.Cells))
	}
	if b := d.Baseline; b != nil {
		for i := range b.Cuts {
			b.Cuts[i].Cell = rnd.IntN(len(d.Cells))
		}
		for i := range b.Odd {
			b.Odd[i].Cell = rnd.IntN(len(d.Cells))
		}
	}
	if c := d.Confirmation; c != nil {
		for i := range c.Cells {
			c.Cells[i].Cell = rnd.IntN(len(d.Cells))
		}
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		f.Was = verdict.Fail
		if f.Excuse != nil {
			*f.Excuse = rnd.IntN(len(d.Excuses))
		}
		f.Outcome, f.Cell, f.Budget = verdict.Pass, rnd.IntN(len(d.Cells)), rnd.IntN(len(d.Budgets))
		if f.Comparison != nil {
			*f.Comparison = rnd.IntN(len(d.Comparisons))
		}
	}
	return d
}

func randomExhibits(rnd *rand.Rand) *exhibit.Document {
	d := random[exhibit.Document](rnd)
	d.Schema = exhibit.Schema
	level := func(s *exhibit.Series) {
		n := min(len(s.Block), len(s.Values))
		s.Block, s.Values = s.Block[:n], s.Values[:n]
	}
	for i := range d.Strips {
		level(&d.Strips[i].Current)
		for j := range d.Strips[i].Reference {
			level(&d.Strips[i].Reference[j])
		}
	}
	return d
}

func randomSelftest(rnd *rand.Rand) *selftest.Document {
	d := random[selftest.Document](rnd)
	d.Schema = selftest.Schema
	for i := range d.Metrics {
		for _, columns := range [][]selftest.ColumnSpread{d.Metrics[i].Columns, d.Metrics[i].Control} {
			for k := range columns {
				c := &columns[k]
				c.SD, c.DF, c.Repeats, c.Digest = math.Abs(c.SD), 1+k, 10, "sha256:1"
			}
		}
	}
	return d
}

func randomResults(rnd *rand.Rand) *result.Document {
	d := random[result.Document](rnd)
	d.Schema = result.Schema
	d.Sessions = append(d.Sessions, *random[result.Session](rnd))
	for i := range d.Sessions {
		d.Sessions[i].ID = strconv.Itoa(i)
	}
	d.Metrics = map[string]result.Metric{"m": {Unit: "s", Class: result.Noisy, Step: 0.1}}
	d.Plan.Looks = []int{5, 10, 20}
	d.Plan.Reached = rnd.IntN(4)
	for i := range d.Cells {
		c := &d.Cells[i]
		if c.Benchmark = strconv.Itoa(i); c.Control {
			c.Benchmark, c.Variant = result.ControlBenchmark, strconv.Itoa(i)
		}
		c.Looks, c.Planned = []int{5, 10, 20}[:rnd.IntN(4)], 5
		if n := len(c.Looks); n > 0 {
			c.Planned = c.Looks[n-1]
		}
		c.Runs = result.Runs{
			Repeat: []int{0, 1}, Block: []int{0, 0}, Slot: []int{0, 1}, Start: []float64{0, 1.5}, Look: []int{1, 2},
			Status: map[int]result.Status{1: result.Timeout}, Detail: map[int]result.Detail{1: *random[result.Detail](rnd)},
		}
		c.Columns = []result.Column{{
			Metric: "m", Part: "p", V: result.Values{1.25, math.NaN()}, Bound: result.Values{0.5, math.NaN()}, Absent: map[int]string{1: "timeout"},
		}}
	}
	return d
}

// codec is how a document is made, written, and read back and written again.
type codec struct {
	encode func(io.Writer, *rand.Rand) any
	decode func(io.Reader) (any, func(io.Writer) error, error)
}

func codecOf[T any](make func(*rand.Rand) *T, encode func(io.Writer, *T) error, decode func(io.Reader) (*T, error)) codec {
	return codec{
		encode: func(w io.Writer, rnd *rand.Rand) any {
			x := make(rnd)
			if err := encode(w, x); err != nil {
				panic(err)
			}
			return x
		},
		decode: func(r io.Reader) (any, func(io.Writer) error, error) {
			x, err := decode(r)
			return x, func(w io.Writer) error { return encode(w, x) }, err
		},
	}
}

func codecs() map[string]codec {
	return map[string]codec{
		"plan":     codecOf(randomPlan, plan.Encode, plan.Decode),
		"results":  codecOf(randomResults, result.Encode, result.Decode),
		"verdict":  codecOf(randomVerdict, verdict.Encode, verdict.Decode),
		"exhibits": codecOf(randomExhibits, exhibit.Encode, exhibit.Decode),
		"selftest": codecOf(randomSelftest, selftest.Encode, selftest.Decode),
	}
}

// What is written validates against the schema, reads back as it was, and is
// then written as the same bytes.
func TestDocuments(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			schema := resolved(t, name)
			c := codecs()[name]
			for seed := range uint64(100) {
				var text, again bytes.Buffer
				want := c.encode(&text, rand.New(rand.NewPCG(seed, 1)))
				if err := validate(schema, text.Bytes()); err != nil {
					t.Fatalf("document %d: %v\n%s", seed, err, &text)
				}
				got, encode, err := c.decode(bytes.NewReader(text.Bytes()))
				if err != nil {
					t.Fatalf("document %d: %v\n%s", seed, err, &text)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
					t.Fatalf("document %d (-want +got):\n%s", seed, diff)
				}
				if err := encode(&again); err != nil || !bytes.Equal(text.Bytes(), again.Bytes()) {
					t.Fatalf("document %d: written again (%v):\n%s\n%s", seed, err, &text, &again)
				}
			}
		})
	}
}

// A schema that allows everything would pass the test above.
func TestSchemasRefuse(t *testing.T) {
	for _, c := range []struct{ name, old, new string }{
		{"results", `"v":[1.25,null]`, `"v":[1.25,"x"]`},
		{"results", `"absent":{"1":"timeout"}`, `"absent":{"first":"timeout"}`},
		{"results", `"status":{"1":"timeout"}`, `"status":{"1":7}`},
		{"results", `"repeat":[0,1]`, `"repeat":[0,1.5]`},
		{"results", `perfweir.results/v1`, `perfweir.results/v2`},
		{"verdict", `"outcome":"fail"`, `"outcome":7`},
		{"verdict", `"findings":`, `"findingz":`},
		{"plan", `"order":{`, `"order":7,"x":{`},
		{"exhibits", `"strips":`, `"stripes":`},
		{"selftest", `"sessions":`, `"sezzions":`},
	} {
		var text bytes.Buffer
		rnd := rand.New(rand.NewPCG(0, 0))
		for !strings.Contains(text.String(), c.old) {
			text.Reset()
			codecs()[c.name].encode(&text, rnd)
		}
		schema := resolved(t, c.name)
		if err := validate(schema, text.Bytes()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := validate(schema, []byte(strings.Replace(text.String(), c.old, c.new, 1))); err == nil {
			t.Errorf("%s: the schema allows %s", c.name, c.new)
		}
		more := strings.Replace(text.String(), `{"schema"`, `{"of_a_later_version":1,"schema"`, 1)
		if err := validate(schema, []byte(more)); err != nil {
			t.Errorf("%s: an unknown key: %v", c.name, err)
		}
	}
	if _, err := Schema("journal"); err == nil {
		t.Error("a schema of an unknown document")
	}
}

func TestSchemaIsTheSameEveryTime(t *testing.T) {
	for _, name := range Names() {
		one, err := Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if two, err := Schema(name); err != nil || !bytes.Equal(one, two) {
				t.Fatalf("%s: other bytes (%v)", name, err)
			}
		}
	}
}

// resolved is the schema as a user gets it.
func resolved(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	text, err := Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func validate(s *jsonschema.Resolved, text []byte) error {
	var x any
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	return s.Validate(x)
}
