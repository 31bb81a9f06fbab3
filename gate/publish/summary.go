package publish

import (
	"fmt"
	"io"
	"strings"

	"github.com/perfweir/perfweir/gate/report"
)

// summaryBytes is the most that WriteSummary writes. The runner drops a step's
// whole summary when it is over 1 MiB; what else the step writes has room.
const summaryBytes = 900_000

// WriteSummary writes the job summary: the text of the comment with more room, and
// which channels could not be written. It needs no token.
func WriteSummary(w io.Writer, t Target, r Report, o Options, res Result) error {
	p := &publication{t: t, r: r.sorted(), o: o}
	told := p.told()
	told.Resolved = res.Resolved
	for _, line := range res.Failures() {
		told.Notes = append(told.Notes, "not told: "+line)
	}
	if _, err := io.WriteString(w, p.markdown(told, report.Options{Bytes: summaryBytes})+"\n"); err != nil {
		return fmt.Errorf("write the job summary: %w", err)
	}
	return nil
}

func (p *publication) markdown(told report.Told, o report.Options) string {
	o.Full = p.o.Full
	var b strings.Builder
	_ = report.Comment(&b, &told, o) // a Builder takes everything
	return b.String()
}
