package flow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/selftest"
	"github.com/perfweir/perfweir/gate/stats"
)

// selftestFile is where the self-test of a suite is kept at a desk. One with injections
// has a place of its own: its unchanged sessions are behind a shell too, and do not tell
// how much the suite's differ.
func (su *suite) selftestFile(injected bool) string {
	name := plan.CleanName(su.file.Suite.Name)
	if injected {
		name += ".inject"
	}
	return filepath.Join(su.root, DeskFolder, "selftest", name+".json")
}

// selftestHere is what a self-test of this suite found out at this desk; nil where
// there was none that helps. It is read before the first command runs, which could
// write another one; and not in CI, where a change could bring its own.
func (s Shell) selftestHere(su *suite, b *baseline.Baseline) (*selftest.Document, error) {
	if len(b.Sessions) == 0 || s.inCI() {
		return nil, nil
	}
	d, err := readSelftest(su.selftestFile(false))
	if d == nil || err != nil {
		return nil, err
	}
	why := su.unfit(d, b.Sessions[0].Session().Host)
	// Where there are enough stored sessions, and none is odd, they tell it themselves.
	if few := len(b.Sessions) < su.policy().MinSessions; few && why != "" {
		s.say("%s %s", su.shown(su.selftestFile(false)), why)
	} else if few {
		s.say("spread between sessions: %s", byWhat(d))
	}
	if why != "" {
		return nil, nil
	}
	return d, nil
}

// unfit says why a self-test does not tell how much the suite's sessions differ on a
// machine; "" where it does.
func (su *suite) unfit(d *selftest.Document, host result.Host) string {
	diff := baseline.HostDifference(host, d.Host)
	switch {
	case d.Suite != su.file.Suite.Name:
		return fmt.Sprintf("is the self-test of suite %q: `perfweir selftest` makes one of %q", d.Suite, su.file.Suite.Name)
	case diff != "":
		return "is of another machine: " + diff
	case len(d.Injections) > 0:
		return "was made with --inject, which starts all commands through a shell: it does not tell how much sessions differ here"
	case d.Sessions < selftest.LeastSessions:
		return fmt.Sprintf("is of %s: %d would tell how much sessions differ here", plural(d.Sessions, "session"), selftest.LeastSessions)
	}
	return ""
}

// inCI reports whether some CI system runs this process: what lies in the checkout is
// then the change's own.
func (s Shell) inCI() bool {
	for _, name := range []string{"TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL"} { // of systems that do not set CI
		if value(s.Environ, name) != "" {
			return true
		}
	}
	ci := value(s.Environ, "CI")
	return value(s.Environ, "GITHUB_ACTIONS") == "true" || ci != "" && ci != "false" && ci != "0"
}

// readSelftest reads a self-test; nil where there is none.
func readSelftest(path string) (*selftest.Document, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	d, err := decode(path, selftest.Decode)
	if err != nil {
		return nil, fmt.Errorf("%w: remove it, or make it again with `perfweir selftest`", err)
	}
	return d, nil
}

// keepSelftest copies it beside the stored sessions, so that the folder can be
// judged again as it was.
func (o *output) keepSelftest(d *selftest.Document) error {
	if d == nil {
		if err := durable.RemoveAll(o.path(durable.Selftest)); err != nil {
			return fmt.Errorf("an earlier run's self-test: %w", err)
		}
		return nil
	}
	return o.write(durable.Selftest, func(w io.Writer) error { return selftest.Encode(w, d) })
}

// selftest is the one that the folder was judged with; nil: without.
func (o *output) selftest() (*selftest.Document, error) {
	return readSelftest(o.path(durable.Selftest))
}

func byWhat(d *selftest.Document) string {
	return fmt.Sprintf("self-test of %s, %s", plural(d.Sessions, "session"), d.StartedAt.Format("2006-01-02"))
}

// measuredBy is a self-test as the gate takes it: of the same kind of machine, or
// nothing.
func measuredBy(d *selftest.Document, host result.Host) *gate.Measured {
	if d == nil || baseline.HostDifference(host, d.Host) != "" {
		return nil
	}
	m := &gate.Measured{By: byWhat(d), Spreads: map[gate.Column]gate.MeasuredSpread{}}
	for i := range d.Metrics {
		of := &d.Metrics[i]
		for _, c := range slices.Concat(of.Columns, of.Control) {
			col := gate.Column{Digest: c.Digest, Metric: of.Name, Phase: c.Phase, Part: c.Part}
			// Two cells that do the same under two names: the noisier one speaks for both.
			if known, twice := m.Spreads[col]; !twice || c.SD > known.SD {
				m.Spreads[col] = gate.MeasuredSpread{SessionSpread: stats.SessionSpread{SD: c.SD, DF: c.DF}, Repeats: c.Repeats}
			}
		}
	}
	return m
}
