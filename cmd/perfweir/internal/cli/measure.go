package cli

import (
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
	cmd := &cobra.Command{
		Use:   "ci",
		Short: "Everything in order: baseline, run, judge, report",
		Long: `Measures the suite, compares it with the sessions stored beside the suite file
(.perfweir), judges every budget and writes the reports. The first session, and
later ones that pass with the baseline's own programs, are stored.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := c.shell().CI(cmd.Context(), o)
			if v != nil {
				*code = v.ExitCode
				if terr := c.tell(v, o.Out); err == nil {
					err = terr
				}
			}
			return err
		},
	}
	measuring(cmd, &o)
	cmd.Flags().StringVar(&o.Baseline, "baseline", "", "folder or file of the baseline; default: the suite's")
	return cmd
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

// tell prints the report for people.
func (c Command) tell(v *verdict.Document, dir string) error {
	return report.Terminal(c.Stdout, v, report.Options{Color: c.Terminal, Full: dir + "/" + flow.FindingsFile})
}
