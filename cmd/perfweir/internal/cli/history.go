package cli

import (
	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
	"github.com/perfweir/perfweir/gate/report"
)

func (c Command) history() *cobra.Command {
	var o flow.Options
	var h flow.HistoryOptions
	var markdown bool
	var rows int
	cmd := &cobra.Command{
		Use:   "history [CELL]",
		Short: "Trend of a metric over the stored sessions: steps, creeps, drift from the anchor",
		Long: `Shows what a metric of each cell did over all stored sessions: where it took another
level, where it crept, and how far the newest sessions are from the first one or
from the anchor's. CELL is a glob: 'encode/**'. Of a single metric of a single
cell the sessions are listed.

Changes are named by sessions behind them: this looks back, and is no gate.

Sessions that workflow runs left on GitHub are read as for a baseline, the newest
of every machine; nothing of them is kept on this machine.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Cells, o.Job.Token = argOr(args, ""), c.token()
			trends, err := c.shell().History(cmd.Context(), o, h)
			if err != nil {
				return err
			}
			render := report.Trends
			if markdown {
				render = report.TrendsMarkdown
			}
			return render(c.Stdout, trends, report.Options{Color: c.Terminal, Rows: rows})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Config, "config", "c", defaultConfig, "suite file")
	f.StringVar(&o.Suite, "suite", "", "name of the suite; default: the file's")
	f.StringVar(&o.Baseline, "baseline", "", "folder of sessions; default: the suite's")
	f.StringVar(&o.From, "from", "", "folder or github; default: as the suite says, github inside a workflow")
	f.IntVar(&h.Sessions, "sessions", 0, "most sessions that are read from GitHub, newest first, two requests each; 0: 100")
	f.StringVar(&h.Metric, "metric", "", "name of one metric; default: those with a budget against the baseline")
	f.StringVar(&h.Anchor, "anchor", "", "commit, tag or branch that ratios are to; default: baseline.anchor, else the first session")
	f.BoolVar(&markdown, "markdown", false, "write GitHub's Markdown")
	f.IntVar(&rows, "rows", 0, "most sessions, or trends, that are listed; 0: 60")
	return cmd
}
