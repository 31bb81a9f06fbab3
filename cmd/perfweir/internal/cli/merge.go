package cli

import (
	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
)

func (c Command) merge() *cobra.Command {
	var o flow.Options
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Join the shards that several runners measured",
		Long: `Reads the results of several output folders, each a shard of one matrix (--shard),
and writes them as one results document into the output folder. perfweir gate
judges it.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.shell().Merge(args, o) },
	}
	cmd.Flags().StringVarP(&o.Out, "out", "o", defaultOut, "output folder")
	cmd.Flags().BoolVar(&o.Fresh, "fresh", false, "remove what an earlier run left in the output folder")
	return cmd
}
