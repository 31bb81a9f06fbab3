package measure

import (
	"strings"

	"github.com/perfweir/perfweir/collect/plan"
)

// places are what the two placeholders of a suite file stand for in one run.
type places struct {
	out   string // absolute
	input string // absolute; empty: the cell has no input, and {input} stays as it is
}

// text replaces the placeholders in one pass: a path that holds the other one's
// name is left alone.
func (p places) text(s string) string { return p.replace(s, func(path string) string { return path }) }

func (p places) replace(s string, form func(string) string) string {
	pairs := []string{"{out}", form(p.out)}
	if p.input != "" {
		pairs = append(pairs, "{input}", form(p.input))
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// argv replaces the placeholders in a command. In a shell's string a path with
// characters that mean something to the shell is quoted.
func (p places) argv(argv []string, shell bool) []string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		if shell {
			out[i] = p.replace(arg, shellWord)
		} else {
			out[i] = p.text(arg)
		}
	}
	return out
}

// env replaces the placeholders in the values of an edit.
func (p places) env(e plan.Env) plan.Env {
	return plan.Env{Set: p.values(e.Set), Unset: e.Unset, Prepend: p.values(e.Prepend)}
}

func (p places) values(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for name, value := range m {
		out[name] = p.text(value)
	}
	return out
}

// shellWord quotes a path where a shell would not read it as one plain word.
func shellWord(path string) string {
	if plan.PlainPath(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
