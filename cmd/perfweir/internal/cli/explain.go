package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
	"github.com/perfweir/perfweir/gate/report"
)

func (c Command) accept() *cobra.Command {
	var a flow.Acceptance
	var file string
	cmd := &cobra.Command{
		Use:   "accept CELL --metric M --limit 12% --reason TEXT --expires 2027-03-01",
		Short: "Accept a regression: write its entry into the suite file",
		Long: `Writes an entry of "accepted" into the suite file and leaves everything else in it
as it is. CELL is a cell's printed name, or a glob over those: 'encode/**'.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, needed := range [][2]string{{"metric", a.Metric}, {"limit", a.Limit}, {"reason", a.Reason}, {"expires", a.Expires}} {
				if needed[1] == "" {
					return fmt.Errorf("%w: accept needs --%s", flow.ErrUsage, needed[0])
				}
			}
			a.Cell = args[0]
			return c.shell().Accept(file, a, c.Stdout)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "config", "c", defaultConfig, "suite file")
	f.StringVar(&a.Metric, "metric", "", "metric that got worse")
	f.StringVar(&a.Part, "part", "", "glob over its part; default: every part")
	f.StringVar(&a.Limit, "limit", "", "how much worse it may be: 12%, 10ms, '10% + 1ms'")
	f.StringVar(&a.Reason, "reason", "", "why; shown in every report")
	f.StringVar(&a.Expires, "expires", "", "last day on which it counts: 2027-03-01")
	f.BoolVar(&a.Print, "print", false, "print the entry and leave the file as it is")
	return cmd
}

func (c Command) explain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain CELL [DIR]",
		Short: "Everything about one cell: runs, interval, budgets, validity, how to reproduce",
		Long: `Tells everything about one cell of an output folder (default perfweir-out) that
was judged. CELL is its printed name, or a glob that selects it alone.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := c.shell().Explain(args[0], argOr(args[1:], defaultOut))
			if err != nil {
				return err
			}
			return report.Explain(c.Stdout, e, report.Options{Color: c.Terminal})
		},
	}
}
