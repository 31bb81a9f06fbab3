package config

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"

	"github.com/perfweir/perfweir/collect/plan"
)

// What brings the machine into its state before a run, and what is undone after.

type hookFile struct {
	mark    `what:"a hook"`
	Run     command  `key:"run" required:"true" doc:"The command."`
	Timeout duration `key:"timeout" positive:"true" doc:"Longest time of the command. The default is 10m."`
}

type cooldownFile struct {
	mark `what:"cooldown"`
	Rest duration `key:"rest" doc:"Rest before each run, whatever the temperature. The default is none."`
	Band number   `key:"band" doc:"Wait until the machine is at most so many degrees Celsius above the session's start."`
	Max  duration `key:"max" positive:"true" doc:"Longest wait, rest included; when it is reached, the run says so. The default is 60s."`
}

// hook is a command, or {run, timeout}.
type hook struct {
	mark
	file hookFile
}

func (x *hook) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind != yaml.MappingNode {
		r.value(n, &x.file.Run, s)
		x.bad = x.file.Run.bad
		return
	}
	r.value(n, &x.file, s)
	x.bad = x.file.bad
}

func (x *hook) schema(tag reflect.StructTag) *jsonschema.Schema {
	out := (&command{}).schema(tag)
	out.AnyOf = append(out.AnyOf, schemaOf(reflect.TypeFor[hookFile](), ""))
	return out
}

// cooldown is a duration, or {rest, band, max}.
type cooldown struct {
	mark
	file cooldownFile
}

func (x *cooldown) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind != yaml.MappingNode {
		r.value(n, &x.file.Rest, s)
		x.bad = x.file.Rest.bad
		return
	}
	r.value(n, &x.file, s)
	x.bad = x.file.bad
}

func (x *cooldown) schema(tag reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{(&duration{}).schema(tag), schemaOf(reflect.TypeFor[cooldownFile](), "")}}
}

const (
	defaultCooldownMax = 60 // s: what a small heat sink needs, and no more than a run is worth
	maxBand            = 50 // °C: beyond, every machine is always inside
)

// beforehand checks what is done with the machine before a run.
func (c *checker) beforehand(f *inheritable, x *plan.Exec) {
	x.Prepare, x.PrepareSh = c.command(&f.Prepare.file.Run, "prepare")
	x.Cleanup, x.CleanupSh = c.command(&f.Cleanup.file.Run, "cleanup")
	x.PrepareTimeout, x.CleanupTimeout = f.Prepare.file.Timeout.s, f.Cleanup.file.Timeout.s
	x.Cooldown = c.cooldown(&f.Cooldown)
	for i := range f.StaleProcesses.items {
		if s := &f.StaleProcesses.items[i]; s.usable() && c.processName(s) {
			x.StaleProcesses = append(x.StaleProcesses, s.text)
		}
	}
}

func (c *checker) cooldown(x *cooldown) plan.Cooldown {
	f := &x.file
	out := plan.Cooldown{Rest: f.Rest.s, Band: f.Band.v}
	switch {
	case f.Band.usable() && f.Band.v > maxBand:
		c.problem(f.Band.mark, fmt.Sprintf("band is %g degrees", f.Band.v), fmt.Sprintf("write degrees Celsius above the session's start, at most %d; 3 is a good band", maxBand))
	case f.Band.given():
		out.Max = orDefault(f.Max.given(), f.Max.s, max(defaultCooldownMax, f.Rest.s))
	case f.Max.usable():
		c.problem(f.Max.mark, "max without band limits nothing", "add band: 3, or remove max")
	}
	if f.Max.usable() && f.Rest.usable() && f.Rest.s > f.Max.s {
		c.problem(f.Rest.mark, "rest is longer than max", "swap them")
	}
	return out
}

// shortestProcess is how much of a name is needed: less matches what nobody meant
// ("sh", "go").
const shortestProcess = 4

func (c *checker) processName(s *str) bool {
	switch n := utf8.RuneCountInString(s.text); {
	case strings.Contains(s.text, "/"):
		c.problem(s.mark, fmt.Sprintf("stale process %s is a path", quote(s.text)), "write the start of the process's name as `ps -o comm` shows it, without folders")
	case strings.ContainsFunc(s.text, func(r rune) bool { return !unicode.IsPrint(r) }):
		c.problem(s.mark, fmt.Sprintf("stale process %s holds a character that cannot be printed", quote(s.text)), "remove it")
	case n < shortestProcess:
		c.problem(s.mark, fmt.Sprintf("stale process %s has %d characters and would match too much", quote(s.text), n), fmt.Sprintf("write at least the first %d of the process's name", shortestProcess))
	default:
		return true
	}
	return false
}

// exclusive is what a session keeps for itself while it measures.
func (c *checker) exclusive() string {
	e := &c.f.Exclusive
	return orDefault(e.usable(), e.text, ExclusiveMachine)
}

// Values of exclusive.
const (
	ExclusiveMachine = "machine" // one session on a machine measures at a time
	ExclusiveNone    = "none"
)
