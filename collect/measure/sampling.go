package measure

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/sample"
	"github.com/perfweir/perfweir/collect/sample/linuxproc"
	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
	"github.com/perfweir/perfweir/collect/series"
)

// defaultInterval is that of a suite file that says nothing.
const defaultInterval = 100 * time.Millisecond

// settle is how long after its start a command is first looked at. It has hardly
// begun before. One that is over by then is too short to tell anything of, and
// listing the machine's processes would slow it down: by as much as it takes.
const settle = 5 * time.Millisecond

// sampling is the sampler of one run, from the moment the command has a process.
type sampling struct {
	sampler *sample.Sampler
}

func (s *sampling) start(ctx context.Context, every time.Duration, pid int) {
	if every <= 0 {
		every = defaultInterval
	}
	s.sampler = sample.StartLate(ctx, min(settle, every/4), every, []sample.Source{processTree(pid)}, pid)
}

// processTree is the source for the processes of a command. One that the launcher
// started is its child, and so is every orphan of it: the tree is then found from
// above, without a look at the rest of the machine. Started by ourselves, its
// parent is us, and so is much else.
func processTree(pid int) sample.Source {
	stat, err := pidstat.Open("/proc").Stat(pid)
	if err != nil || stat.Parent <= 1 || stat.Parent == os.Getpid() {
		return linuxproc.New("/proc")
	}
	return linuxproc.NewUnder("/proc", stat.Parent)
}

// sampled is what was read during a run.
type sampled struct {
	set     series.Set
	sources []result.Source
}

func (s *sampling) stop() sampled {
	if s.sampler == nil {
		return sampled{}
	}
	set, stats := s.sampler.Stop()
	out := sampled{set: set}
	for _, st := range stats {
		out.sources = append(out.sources, st.Source())
	}
	return out
}

// absence is why the process tree was not read: the source's own reason, else that
// the run was over before the first tick.
func (s sampled) absence() string {
	for _, src := range s.sources {
		if src.Name == linuxproc.Name && src.State == result.SourceAbsent {
			reason, _, _ := strings.Cut(src.Reason, ":")
			return reason
		}
	}
	return result.AbsentTooShort
}

// write leaves samples.csv, where anything was read.
func (s sampled) write(root *os.Root) error {
	if len(s.set.Series) == 0 {
		return nil
	}
	var csv bytes.Buffer
	if err := series.Encode(&csv, s.set); err != nil {
		return fmt.Errorf("write %s: %w", SamplesFile, err)
	}
	// The command knows the folder: what it put in the file's or the folder's
	// place is not written through.
	f, err := root.OpenFile(SamplesFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", SamplesFile, err)
	}
	_, err = f.Write(csv.Bytes())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", SamplesFile, err)
	}
	return nil
}
