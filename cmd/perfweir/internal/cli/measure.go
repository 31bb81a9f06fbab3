package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
	"github.com/perfweir/perfweir/gate/report"
	"github.com/perfweir/perfweir/gate/verdict"
)

// measuring are the options of commands that measure.
func measuring(cmd *cobra.Command, o *flow.Options) {
	f := cmd.Flags()
	f.StringVarP(&o.Config, "config", "c", defaultConfig, "suite file")
	f.StringVarP(&o.Out, "out", "o", defaultOut, "output folder")
	f.BoolVar(&o.Fresh, "fresh", false, "remove what an earlier run left in the output folder")
	f.BoolVar(&o.Resume, "resume", false, "go on with what an earlier run left: missing, interrupted and invalid runs")
	f.BoolVar(&o.RetryFailed, "retry-failed", false, "with --resume: also try again what went wrong; the crash rate keeps counting first attempts")
	f.StringVar(&o.Cells, "cells", "", "only cells that this glob selects: 'encode/**'")
	f.IntVar(&o.Repeats, "repeats", 0, "repeats of every cell; 0: as the suite says")
	f.StringVar(&o.Shard, "shard", "", "I/N: measure the I-th of N parts of the matrix")
	f.StringVar(&o.Suite, "suite", "", "name of the suite; default: the file's")
	f.StringVar(&o.Machine, "machine", "", "name of this machine; default: a self-hosted runner's, else the host's")
	f.Uint64("seed", 0, "seed of the order; drawn when not given")
	cmd.Args = cobra.NoArgs
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if o.Repeats < 0 {
			return fmt.Errorf("%w: --repeats %d: want a positive number", flow.ErrUsage, o.Repeats)
		}
		if f.Changed("seed") {
			seed, err := f.GetUint64("seed")
			if err != nil {
				return err
			}
			o.Seed = &seed
		}
		return nil
	}
}

const (
	defaultConfig = "perfweir.yml"
	defaultOut    = "perfweir-out"
)

func (c Command) ci(code *int) *cobra.Command {
	var o flow.Options
	var j jobFlags
	var stage string
	cmd := &cobra.Command{
		Use:   "ci",
		Short: "Everything in order: baseline, run, judge, report, publish",
		Long: `Measures the suite, compares it with earlier sessions, judges every budget and
writes the reports.

At a desk earlier sessions are stored beside the suite file (.perfweir): the first
one, and later ones that pass with the baseline's own programs.

In a workflow of GitHub, with a token in ` + tokenVariable + `, they are the artifacts
of earlier workflow runs, and the verdict is told to the pull request. The action
runs the stages as steps of their own, so that none that measures holds a token.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stage == "" && o.Job.Token == "" && o.Out == "" {
				o.Out = defaultOut
			}
			told, err := c.stage(cmd.Context(), stage, o)
			return c.tellAll(told, err, code)
		},
	}
	measuring(cmd, &o)
	judgingJob(cmd, &o, &j)
	cmd.Flags().StringVar(&o.Baseline, "baseline", "", "folder or file of the baseline; default: the suite's")
	cmd.Flags().StringVar(&stage, "stage", "", "one stage of a workflow's job: prepare, measure or judge; default: all")
	cmd.Flags().Lookup("out").DefValue = "perfweir-out, in a workflow's job perfweir-SUITE in the runner's temporary folder"
	o.Out = ""
	check := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if err := c.fromInputs(cmd); err != nil {
			return err
		}
		if err := check(cmd, args); err != nil {
			return err
		}
		return c.finishJob(cmd, &o, &j)
	}
	return cmd
}

// stage runs all stages, or one.
func (c Command) stage(ctx context.Context, stage string, o flow.Options) (*flow.Told, error) {
	if stage == "" {
		return c.shell().CI(ctx, o)
	}
	return c.shell().Stage(ctx, stage, o)
}

func (c Command) run(code *int) *cobra.Command {
	var o flow.Options
	var dry bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Execute the matrix and write results; judge nothing",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dry {
				return c.shell().DryRun(cmd.Context(), o, c.Stdout)
			}
			doc, err := c.shell().Run(cmd.Context(), o)
			if doc != nil && doc.Sessions[len(doc.Sessions)-1].Interrupted {
				*code = exitInterrupted
			}
			return err
		},
	}
	measuring(cmd, &o)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the cells and what would run; run nothing but the build")
	return cmd
}

func (c Command) gate(code *int) *cobra.Command {
	var o flow.Options
	cmd := &cobra.Command{
		Use:   "gate DIR",
		Short: "Judge results again from the documents of a folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			v, err := c.shell().Gate(args[0], o)
			if err != nil {
				return err
			}
			*code = v.ExitCode
			return c.tell(v, args[0])
		},
	}
	cmd.Flags().StringVarP(&o.Config, "config", "c", "", "suite file; default: the one the results name")
	cmd.Flags().StringVar(&o.Baseline, "baseline", "", "folder or file to compare with; none: absolute budgets and variants only")
	return cmd
}

func (c Command) report(code *int) *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR",
		Short: "Render the reports of a folder again, byte for byte the same",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			v, err := c.shell().Report(args[0])
			if err != nil {
				return err
			}
			*code = exitPass
			return c.tell(v, args[0])
		},
	}
}

// tellAll prints what a job came to, and sets its exit code.
func (c Command) tellAll(told *flow.Told, err error, code *int) error {
	if told == nil {
		return err
	}
	*code = told.Code
	for i, v := range told.Verdicts {
		if terr := c.tell(v, told.Folders[i]); err == nil {
			err = terr
		}
	}
	return err
}

// tell prints the report for people.
func (c Command) tell(v *verdict.Document, dir string) error {
	return report.Terminal(c.Stdout, v, report.Options{Color: c.Terminal, Full: dir + "/" + flow.FindingsFile})
}
