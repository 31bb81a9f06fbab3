package cli

import (
	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
)

func (c Command) baseline() *cobra.Command {
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
		RunE: func(_ *cobra.Command, args []string) error {
			pull.Out = argOr(args, defaultOut)
			return c.shell().PullBaseline(pull)
		},
	}
	listing := &cobra.Command{
		Use:   "list",
		Short: "Show every candidate and why it was taken or not",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return c.shell().ListBaseline(list, c.Stdout) },
	}
	for cmd, o := range map[*cobra.Command]*flow.Options{saving: &save, pulling: &pull, listing: &list} {
		cmd.Flags().StringVarP(&o.Config, "config", "c", defaultConfig, "suite file")
		cmd.Flags().StringVar(&o.Baseline, "baseline", "", "folder of the baseline; default: the suite's")
	}
	cmd.AddCommand(saving, pulling, listing)
	return cmd
}

func argOr(args []string, def string) string {
	if len(args) == 0 {
		return def
	}
	return args[0]
}
