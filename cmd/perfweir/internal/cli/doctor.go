package cli

import "github.com/spf13/cobra"

func (c Command) doctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "What makes this machine noisy or unsafe to measure on, and what to do",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return c.shell().Doctor(c.Stdout)
		},
	}
}
