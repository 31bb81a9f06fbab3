package flow

import (
	"errors"
	"io"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/exhibit"
	"github.com/perfweir/perfweir/gate/report"
	"github.com/perfweir/perfweir/gate/verdict"
)

// FindingsFile is where a report that leaves something out has all of it.
const FindingsFile = durable.Findings

// judgeAndTell judges and writes verdict, exhibits and reports.
func (s Shell) judgeAndTell(r rules, out *output, doc *result.Document, b *baseline.Baseline) (*verdict.Document, error) {
	again, err := s.confirmation(out, doc, r.head.file.Reference(false))
	if err != nil {
		return nil, err
	}
	v, err := s.judge(r, doc, b, again)
	if err != nil {
		return nil, err
	}
	return v, out.writeAll(append(documentsOf(v, doc, b), reportsOf(v, doc)...))
}

// writing is one file of an output folder.
type writing struct {
	name string
	to   func(io.Writer) error
}

func documentsOf(v *verdict.Document, doc *result.Document, b *baseline.Baseline) []writing {
	return []writing{
		{durable.Verdict, func(w io.Writer) error { return verdict.Encode(w, v) }},
		{durable.Exhibits, func(w io.Writer) error {
			ex := exhibit.Build(doc, references(b), v, exhibit.DefaultStrips)
			return exhibit.Encode(w, &ex)
		}},
	}
}

func reportsOf(v *verdict.Document, doc *result.Document) []writing {
	opts := report.Options{Full: FindingsFile}
	return []writing{
		{durable.Report, func(w io.Writer) error { return report.Markdown(w, v, opts) }},
		{durable.JUnit, func(w io.Writer) error { return report.JUnit(w, v, opts) }},
		{durable.Findings, func(w io.Writer) error { return report.FindingsCSV(w, v, opts) }},
		{durable.Measurements, func(w io.Writer) error { return report.MeasurementsCSV(w, doc) }},
	}
}

func references(b *baseline.Baseline) []exhibit.Reference {
	if b == nil {
		return nil
	}
	var refs []exhibit.Reference
	for _, s := range b.Sessions {
		refs = append(refs, exhibit.Reference{Label: s.Session().ID, Doc: s.Doc, Session: s.Index})
	}
	return refs
}

// writeAll writes files side by side. They are independent: one that fails does
// not keep the others from being written.
func (o *output) writeAll(files []writing) error {
	errs := make([]error, len(files))
	each(len(files), func(i int) { errs[i] = o.write(files[i].name, files[i].to) })
	return errors.Join(errs...)
}

// Report renders the reports of a folder again, from its documents.
func (s Shell) Report(dir string) (*verdict.Document, error) {
	out, err := s.reopen(dir)
	if err != nil {
		return nil, err
	}
	defer out.close()
	v, doc, err := out.judged()
	if err != nil {
		return nil, err
	}
	return v, out.writeAll(reportsOf(v, doc))
}
