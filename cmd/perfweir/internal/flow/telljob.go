package flow

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/perfweir/perfweir/baseline/artifact"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/gate/publish"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Told is what a job came to.
type Told struct {
	Code     int                 // exit code under fail-on
	Verdicts []*verdict.Document // one a machine
	Folders  []string            // where each one's reports are
}

// lastWords is how long telling may take when the job is being stopped.
const lastWords = 20 * time.Second

// publishing is how the job tells.
func (j *job) publishing(su *suite, o Options, p *prepared, now time.Time) publish.Options {
	opts := j.o.Publish
	opts.Suite, opts.FailOn, opts.CheckRun, opts.Now = su.file.Suite.Name, j.o.FailOn, p.CheckRun, now.UTC()
	opts.SuitePath = p.Judged.Path
	opts.Full = "the artifact " + artifact.ReportName(su.file.Suite.Name, "MACHINE", o.Shard, max(1, j.at.RunAttempt))
	if j.mode == ModeBaseline {
		opts.FailOn = publish.FailOnNever
	}
	return opts
}

// startCheck tells that a verdict is on its way.
func (s Shell) startCheck(ctx context.Context, j *job, su *suite, o Options, p *prepared) {
	if !j.publishes() {
		return
	}
	c := publish.Start(ctx, j.gh, p.Target, j.publishing(su, o, p, s.Now()))
	p.CheckRun = c.ID
	s.sayChannel(c)
}

func (s Shell) sayChannel(c publish.Channel) {
	if c.State == publish.Failed {
		s.warn("%s", c)
		return
	}
	s.say("%s", c)
}

// tellJob tells a job's report: to GitHub, in the job summary, as outputs.
// Nothing that goes wrong here changes the exit code that the verdict has.
func (s Shell) tellJob(ctx context.Context, su *suite, o Options, j *job, out *output, p *prepared, r publish.Report, all []*judged) *Told {
	opts := j.publishing(su, o, p, s.Now())
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
	}
	var res publish.Result
	if j.publishes() {
		var gh publish.GitHub // a nil *Client in it would not be nil
		if j.gh != nil {
			gh = j.gh
		}
		res = publish.Publish(ctx, gh, p.Target, r, opts)
		for _, c := range res.Channels {
			s.sayChannel(c)
		}
	}
	told := &Told{Code: r.ExitCode(opts.FailOn)}
	outputs := publish.Outputs(r, opts.FailOn)
	outputs = append(outputs, publish.Output{Name: publish.OutCommentURL, Value: res.Channel(publish.ChannelComment).URL},
		publish.Output{Name: publish.OutCheckRunURL, Value: res.Channel(publish.ChannelCheck).URL})
	for _, one := range all {
		told.Verdicts = append(told.Verdicts, one.verdict)
		told.Folders = append(told.Folders, one.folder)
	}
	if len(all) == 1 {
		outputs = append(outputs, pathOutputs(all[0].folder)...)
	}
	upload, err := s.upload(su, o, j, out, all)
	if err != nil {
		s.warn("nothing is uploaded: %v", err)
	}
	s.steps(j, p, r, opts, res, append(outputs, upload...))
	if j.gh != nil {
		s.say("%s to GitHub in this step", plural(j.gh.Requests(), "request"))
	}
	return told
}

// steps writes what the runner reads: annotations as commands, the summary, the
// outputs.
func (s Shell) steps(j *job, p *prepared, r publish.Report, opts publish.Options, res publish.Result, outputs []publish.Output) {
	if s.Commands != nil && len(res.Untold) > 0 {
		if err := publish.WriteCommands(s.Commands, res.Untold); err != nil {
			s.say("%v", err)
		}
	}
	if !j.o.NoSummary {
		s.appendTo("GITHUB_STEP_SUMMARY", func(w io.Writer) error { return publish.WriteSummary(w, p.Target, r, opts, res) })
	}
	s.outputs(outputs)
}

// outputs writes outputs of the step.
func (s Shell) outputs(list []publish.Output) {
	s.appendTo("GITHUB_OUTPUT", func(w io.Writer) error { return publish.WriteOutputs(w, list, random) })
}

// appendTo adds to a command file of the step. Without one (a plain shell, an
// older server) there is nobody to read it.
func (s Shell) appendTo(variable string, write func(io.Writer) error) {
	path := value(s.Environ, variable)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		s.warn("%s: %v", variable, err)
	}
}

// random is text that code under test cannot guess.
func random() string {
	var b [16]byte
	crand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// pathOutputs are the files of one machine's reports that are there.
func pathOutputs(dir string) []publish.Output {
	var list []publish.Output
	for name, file := range map[string]string{publish.OutResultsPath: durable.Results, publish.OutReportPath: durable.Report,
		publish.OutHTMLPath: durable.HTML, publish.OutJUnitPath: durable.JUnit} {
		path := filepath.Join(dir, file)
		if _, err := os.Stat(path); err != nil {
			path = ""
		}
		list = append(list, publish.Output{Name: name, Value: path})
	}
	return list
}

// upload lays out what the job leaves as artifacts: results, which later workflow
// runs compare with, and reports for people.
func (s Shell) upload(su *suite, o Options, j *job, out *output, all []*judged) ([]publish.Output, error) {
	attempt := max(1, j.at.RunAttempt)
	results := artifact.Name(su.file.Suite.Name, s.machine(o), o.Shard, attempt)
	reports := artifact.ReportName(su.file.Suite.Name, s.machine(o), o.Shard, attempt)
	if own := o.Job.ArtifactName; own != "" {
		results, reports = own, own+"-reports"
	}
	// What a command wrote there would go along. Whatever is announced is laid out anew.
	if err := durable.RemoveAll(out.path(durable.Upload)); err != nil {
		return nil, fmt.Errorf("lay out: %w", err)
	}
	var list []publish.Output
	if j.measures() {
		dir := filepath.Join(durable.Upload, "results")
		if err := out.link(dir, out.dir, durable.Results, durable.Plan); err != nil {
			return nil, err
		}
		again := filepath.Join(durable.Confirm, durable.Results)
		if _, err := os.Lstat(out.path(again)); err == nil {
			if err := out.link(filepath.Join(dir, durable.Confirm), out.path(durable.Confirm), durable.Results, durable.Plan); err != nil {
				return nil, err
			}
		}
		list = append(list, publish.Output{Name: publish.OutUploadPath, Value: out.path(dir)},
			publish.Output{Name: publish.OutArtifactName, Value: results})
	}
	if len(all) == 0 {
		return list, nil
	}
	dir := filepath.Join(durable.Upload, "reports")
	for _, one := range all {
		to := dir
		if one.folder != out.dir {
			to = filepath.Join(dir, filepath.Base(one.folder))
		}
		if err := out.link(to, one.folder, durable.Verdict, durable.Exhibits, durable.Report, durable.HTML, durable.JUnit, durable.Findings, durable.Measurements); err != nil {
			return list, err
		}
	}
	return append(list, publish.Output{Name: publish.OutReportsPath, Value: out.path(dir)},
		publish.Output{Name: publish.OutReportsName, Value: reports}), nil
}

// link puts files of a folder into another below the output folder, those that
// are there. They are hard links: results may be large.
func (o *output) link(to, from string, names ...string) error {
	to = o.path(to)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		// Names of two machines may come to one folder.
		if err := os.Remove(filepath.Join(to, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Link(filepath.Join(from, name), filepath.Join(to, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("lay out %s: %w", name, err)
		}
	}
	return nil
}
