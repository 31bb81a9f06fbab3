package flow

import (
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/measure"
)

// hide keeps a secret of our environment from the code under test, which runs as
// the same user and could read it in /proc. What we start gets no secret anyway
// (measure.Environ). For root nothing can be hidden: doctor says so.
func (s Shell) hide() {
	if len(secrets(s.Environ)) == 0 {
		return
	}
	if err := hideProcess(); err != nil {
		s.say("warning: the secrets in this environment can be read by what is measured: %v", err)
	}
}

// tokenName is the variable in which the token comes.
const tokenName = "PERFWEIR_TOKEN"

// secrets are the names of the variables that are kept from commands, sorted.
// perfweir's own are none, but for the token.
func secrets(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, v, _ := strings.Cut(kv, "=")
		if v != "" && measure.Secret(name) && (name == tokenName || !strings.HasPrefix(name, "PERFWEIR_")) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
