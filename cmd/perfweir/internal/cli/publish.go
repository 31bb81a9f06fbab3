package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
)

func (c Command) publish(code *int) *cobra.Command {
	var o flow.Options
	var j jobFlags
	var finish bool
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Judge what another workflow run measured, and tell it",
		Long: `With --from-run ID, or on a workflow_run event: reads the results that a workflow
run left as artifacts (a fork's pull request, whose own token may not write),
judges them and tells the verdict to the pull request that GitHub names.

With --finish: the last step of a job, which completes the check whatever happened.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if finish {
				return c.shell().Finish(cmd.Context(), o, flow.Steps{
					Prepare: c.env(outcomePrefix + "PREPARE"), Measure: c.env(outcomePrefix + "MEASURE"),
					Judge:   c.env(outcomePrefix + "JUDGE"),
					Verdict: c.env("PERFWEIR_VERDICT"), ExitCode: c.env("PERFWEIR_EXIT_CODE"),
				})
			}
			if o.Job.Token == "" {
				return fmt.Errorf("%w: publish writes to GitHub: give a token in %s", flow.ErrUsage, tokenVariable)
			}
			o.Job.Mode = flow.ModePublish
			told, err := c.shell().CI(cmd.Context(), o)
			return c.tellAll(told, err, code)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Config, "config", "c", defaultConfig, "suite file")
	f.StringVarP(&o.Out, "out", "o", "", "output folder; default: perfweir-SUITE in the runner's temporary folder")
	f.StringVar(&o.Suite, "suite", "", "name of the suite; default: the file's")
	f.StringVar(&o.Shard, "shard", "", "I/N: the part of the matrix that the job measured")
	f.StringVar(&o.Machine, "machine", "", "name of the machine that the job ran on")
	f.BoolVar(&finish, "finish", false, "complete the check that the job started")
	judgingJob(cmd, &o, &j)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := c.fromInputs(cmd); err != nil {
			return err
		}
		return c.finishJob(cmd, &o, &j)
	}
	return cmd
}
