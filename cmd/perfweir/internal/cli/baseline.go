package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
)

func (c Command) baseline(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use: "baseline", Short: "Keep, fetch and list the sessions to compare with",
		Args: cobra.NoArgs, // a misspelt one must not pass as a request for help
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var save, pull, list flow.Options
	saving := &cobra.Command{
		Use:   "save [DIR]",
		Short: "Store the session of an output folder in the baseline",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			save.Out = argOr(args, defaultOut)
			return c.shell().SaveBaseline(save)
		},
	}
	pulling := &cobra.Command{
		Use:   "pull [DIR]",
		Short: "Copy the sessions that would be compared with into an output folder",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pull.Out = argOr(args, defaultOut)
			return c.shell().PullBaseline(cmd.Context(), pull)
		},
	}
	var check bool
	listing := &cobra.Command{
		Use:   "list",
		Short: "Show every candidate and why it was taken or not",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			old, err := c.shell().ListBaseline(cmd.Context(), list, c.Stdout)
			if old && check {
				*code = exitUndecided
			}
			return err
		},
	}
	listing.Flags().BoolVar(&list.AnyMachine, "any-machine", false, "sessions of every machine, not of this one's kind")
	listing.Flags().BoolVar(&check, "check", false, "exit with 3 when there is none, or the newest is too old")
	for cmd, o := range map[*cobra.Command]*flow.Options{saving: &save, pulling: &pull, listing: &list} {
		cmd.Flags().StringVarP(&o.Config, "config", "c", defaultConfig, "suite file")
		cmd.Flags().StringVar(&o.Baseline, "baseline", "", "folder of the baseline; default: the suite's")
		cmd.Flags().StringVar(&o.Suite, "suite", "", "name of the suite; default: the file's")
	}
	for cmd, o := range map[*cobra.Command]*flow.Options{pulling: &pull, listing: &list} {
		f := cmd.Flags()
		f.StringVar(&o.From, "from", "", "folder or github; default: as the suite says, github inside a workflow")
		f.StringVar(&o.Machine, "machine", "", "name of the machine whose sessions go first")
		f.StringVar(&o.Job.Base, "base", "", "only sessions of this commit and those before it")
		cmd.PreRun = func(*cobra.Command, []string) { o.Job.Token = c.token() }
	}
	cmd.AddCommand(saving, pulling, listing)
	return cmd
}

// token is the token that a person or a workflow gives to read with.
func (c Command) token() string {
	return cmp.Or(c.env(tokenVariable), c.env("GITHUB_TOKEN"), c.env("GH_TOKEN"))
}

func argOr(args []string, def string) string {
	if len(args) == 0 {
		return def
	}
	return args[0]
}
