package cli

import (
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
)

// inputPrefix begins the variables in which the action hands its inputs over:
// PERFWEIR_INPUT_FAIL_ON is what --fail-on is on a command line. Values come
// through the environment because text in a script would be run.
const inputPrefix = "PERFWEIR_INPUT_"

// tokenVariable holds the token of the steps that talk to GitHub. It is a
// variable and no option: command lines can be read by everybody on the machine.
const tokenVariable = "PERFWEIR_TOKEN"

// digestVariable holds the digest of what the first step prepared, as the runner
// kept it between the steps.
const digestVariable = "PERFWEIR_CONTEXT_DIGEST"

// outVariable holds the folder that the first step made.
const outVariable = "PERFWEIR_CONTEXT_OUT"

// outcomePrefix begins the variables that say how earlier steps ended.
const outcomePrefix = "PERFWEIR_OUTCOME_"

// inputArgs is the input whose words are options.
const inputArgs = "args"

// fromInputs sets options from the action's inputs, where the command line does
// not set them. An input that is empty was not given. Options in the input args
// come last;
// they are of ci alone.
func (c Command) fromInputs(cmd *cobra.Command) error {
	var args string
	for _, kv := range c.Environ {
		name, v, _ := strings.Cut(kv, "=")
		name, ok := strings.CutPrefix(name, inputPrefix)
		if !ok || v == "" {
			continue
		}
		name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
		if name == inputArgs {
			args = v
			continue
		}
		f := cmd.Flags().Lookup(name)
		if f == nil || f.Changed {
			continue // of another command, or of the action itself
		}
		if err := cmd.Flags().Set(name, strings.TrimSpace(v)); err != nil {
			return fmt.Errorf("%w: input %s: %w", flow.ErrUsage, name, err)
		}
	}
	if cmd.Name() != "ci" {
		return nil
	}
	words, err := shellquote.Split(args)
	if err != nil {
		return fmt.Errorf("%w: input args: %w", flow.ErrUsage, err)
	}
	set := pflag.NewFlagSet("args", pflag.ContinueOnError)
	set.AddFlagSet(cmd.Flags())
	if err := set.Parse(words); err != nil {
		return fmt.Errorf("%w: input args: %w", flow.ErrUsage, err)
	}
	if set.NArg() > 0 {
		return fmt.Errorf("%w: input args: %q is no option", flow.ErrUsage, set.Arg(0))
	}
	return nil
}

// env is a variable of the environment; the last one counts.
func (c Command) env(name string) string {
	out := ""
	for _, kv := range c.Environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			out = v
		}
	}
	return out
}
