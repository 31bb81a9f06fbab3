package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
	"github.com/perfweir/perfweir/gate/publish"
)

// jobFlags are the options of commands that are a job of a workflow.
type jobFlags struct {
	publish  bool
	machines string
	folder   string // to work in
}

// publishing are the options of telling: they matter in a workflow with a token.
func publishing(cmd *cobra.Command, o *flow.Options, j *jobFlags) {
	f, p := cmd.Flags(), &o.Job.Publish
	f.BoolVar(&j.publish, "publish", true, "tell the verdict to GitHub; false leaves that to a later job")
	f.StringVar(&p.Comment, "comment", publish.CommentAlways, "when a pull request gets the comment: always, on-change, on-failure or never")
	f.StringVar(&p.Group, "comment-group", "", "suites of one group share one comment")
	f.StringVar(&p.Check, "check", publish.CheckRunKind, "how the commit is told: run (a check run), status (a commit status) or none")
	f.BoolVar(&p.Annotations, "annotations", true, "annotate broken budgets at their lines")
	f.BoolFunc("summary", "write the job summary; the default is true", func(v string) error { return negated(&o.Job.NoSummary, v) })
	f.StringVar(&o.Job.FailOn, "fail-on", publish.FailOnFail, "what stops the job: fail (a broken budget or no decision), inconclusive (that, and an unsettled suspect) or never")
}

// judgingJob are the options of judging in a workflow.
func judgingJob(cmd *cobra.Command, o *flow.Options, j *jobFlags) {
	publishing(cmd, o, j)
	f := cmd.Flags()
	f.StringVar(&j.folder, "working-directory", "", "folder that relative paths of options relate to")
	f.Int64Var(&o.Job.FromRun, "from-run", 0, "judge what this workflow run measured; default: what the event says")
	f.StringVar(&o.Job.Mode, "mode", flow.ModeAuto, "what a job of a workflow does: auto, run, judge, rejudge, publish or baseline")
	f.StringVar(&o.Job.Base, "base", "", "compare with this commit, branch or tag; default: what the event says")
	f.BoolVar(&o.Job.AllowForks, "allow-forks", false, "run code of a fork's pull request on a self-hosted runner")
	f.BoolVar(&o.Job.RequireBaseline, "require-baseline", false, "fail where there is nothing to compare with")
	f.StringVar(&j.machines, "expect-machines", "", "machines whose results must be there, with commas or blanks between")
	f.StringVar(&o.Job.ArtifactName, "artifact-name", "", "name of the artifact with the results; default: perfweir-results-SUITE-MACHINE-SHARD-aATTEMPT, by which baselines are found")
}

// negated sets a switch that is off by default from the words of one that is on.
func negated(off *bool, v string) error {
	switch strings.ToLower(v) {
	case "true", "1", "":
		*off = false
	case "false", "0":
		*off = true
	default:
		return fmt.Errorf("%q: want true or false", v)
	}
	return nil
}

// finishJob completes the options from environment and inputs, and checks words.
func (c Command) finishJob(cmd *cobra.Command, o *flow.Options, j *jobFlags) error {
	if j.folder != "" {
		if err := os.Chdir(j.folder); err != nil {
			return fmt.Errorf("%w: --working-directory: %w", flow.ErrUsage, err)
		}
	}
	o.Job.NoPublish = !j.publish
	o.Job.Token = c.env(tokenVariable)
	if out := c.env(outVariable); out != "" && !cmd.Flags().Changed("out") {
		o.Out = out
	}
	o.Job.Digest = c.env(digestVariable)
	o.Job.Machines = strings.FieldsFunc(j.machines, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	for _, w := range []struct {
		name, value string
		known       []string
	}{
		{"comment", o.Job.Publish.Comment, []string{publish.CommentAlways, publish.CommentOnChange, publish.CommentOnFailure, publish.CommentNever}},
		{"check", o.Job.Publish.Check, []string{publish.CheckRunKind, publish.CheckStatus, publish.CheckNone}},
		{"fail-on", o.Job.FailOn, []string{publish.FailOnFail, publish.FailOnInconclusive, publish.FailOnNever}},
	} {
		if !slices.Contains(w.known, w.value) {
			return fmt.Errorf("%w: --%s %q: want one of %s", flow.ErrUsage, w.name, w.value, strings.Join(w.known, ", "))
		}
	}
	return nil
}
