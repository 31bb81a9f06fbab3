package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
	"github.com/perfweir/perfweir/gate/report"
)

func (c Command) selftest() *cobra.Command {
	var o flow.Options
	var t flow.SelftestOptions
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Measure the suite again and again, unchanged: how often does the gate raise a false alarm here?",
		Long: `Measures the suite in --aa sessions in which nothing changes, judges each against
those before it, and tells the rate of false alarms with its interval, how finely each
metric is resolved here, and the least budget that can be decided at the planned repeats.

--inject slows cells down by a known amount and tells who noticed: cpu=10% computes,
sleep=50ms waits, memory=64MiB touches memory, write=16MiB writes a file, each before
the command. A percentage is of the cell's own cpu_time, wall_time or
memory_peak_process; cpu=auto is the change that the gate says it finds in 9 of 10
sessions. Every other cell is slowed down, the rest must not fail. Commands are then started
through /bin/sh in all sessions, so that its cost is on both sides.

What it came to is written beside the desk's baseline; no session is added to that.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(t.Inject) == 0 && cmd.Flags().Changed("injected") {
				return fmt.Errorf("%w: --injected is the number of sessions for each --inject, and there is none: add --inject cpu=10%%, or leave it out", flow.ErrUsage)
			}
			d, err := c.shell().Selftest(cmd.Context(), o, t)
			if d != nil {
				if terr := report.Selftest(c.Stdout, d, report.Options{Color: c.Terminal}); err == nil {
					err = terr
				}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Config, "config", "c", defaultConfig, "suite file")
	f.StringVar(&o.Cells, "cells", "", "only cells that this glob selects: 'encode/**'")
	f.IntVar(&o.Repeats, "repeats", 0, "repeats of every cell; 0: as the suite says")
	f.IntVar(&t.Sessions, "aa", 20, "sessions in which nothing changes")
	f.StringArrayVar(&t.Inject, "inject", nil, "KIND=AMOUNT: slow cells down too; may be given several times")
	f.IntVar(&t.Injected, "injected", 10, "sessions for each --inject")
	f.DurationVar(&t.Limit, "time-limit", time.Hour, "begin no session after this time")
	f.StringVarP(&t.File, "out", "o", "", "file to write; default: .perfweir/selftest/SUITE.json beside the suite file; with --inject SUITE.inject.json")
	f.StringVar(&t.Keep, "keep", "", "folder for the results of every session; default: they are not kept")
	return cmd
}
