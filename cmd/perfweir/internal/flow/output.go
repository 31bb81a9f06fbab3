package flow

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/selftest"
	"github.com/perfweir/perfweir/gate/verdict"
)

// output is an output folder that is locked for us.
type output struct {
	dir  string // absolute
	lock *durable.Lock
	// undo is what is done at the end, whatever happened, the last first.
	undo []func()
	// unpaired is set when a base build that was asked for did not come about.
	unpaired bool
}

// open makes an output folder ready for a new run.
func (s Shell) open(o Options) (*output, error) {
	dir, err := filepath.Abs(o.Out)
	if err != nil {
		return nil, fmt.Errorf("find output folder %s: %w", o.Out, err)
	}
	lock, err := durable.Claim(dir, o.Fresh, s.Now())
	if errors.Is(err, durable.ErrNotEmpty) {
		err = fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if err != nil {
		return nil, err
	}
	return &output{dir: dir, lock: lock}, nil
}

// forget removes what an earlier run concluded from a folder that is to be begun anew,
// before anything can fail: who takes the folder whatever happened would take an old
// verdict for this run's. What may still be compared with is there until measuring
// begins; and all of it where the suite file is mistyped.
func (s Shell) forget(o Options) error {
	if _, err := os.Stat(o.Config); err != nil {
		return nil
	}
	if _, err := os.Lstat(o.Out); !o.Fresh || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	out, err := s.open(o)
	if err != nil {
		return err
	}
	defer out.close()
	keep := []string{durable.Plan, durable.Journal, durable.RunLog, durable.Runs, durable.Baseline, durable.Selftest, durable.Prepared, durable.Machines}
	if within(out.dir, o.Baseline) {
		keep = append(keep, durable.Results)
	}
	return durable.Clear(out.dir, keep...)
}

// within reports whether a path is a folder or below it.
func within(dir, path string) bool {
	abs, err := filepath.Abs(path)
	if path == "" || err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, abs)
	return err == nil && filepath.IsLocal(rel)
}

// reopen locks a folder that holds results already.
func (s Shell) reopen(dir string) (*output, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find output folder %s: %w", dir, err)
	}
	if !durable.IsOurs(dir) {
		return nil, fmt.Errorf("%w: %s holds no results: want the output folder of `perfweir ci` or `perfweir run`", ErrUsage, dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find output folder %s: %w", dir, err)
	}
	lock, err := durable.Acquire(abs, s.Now())
	if err != nil {
		return nil, err
	}
	return &output{dir: abs, lock: lock}, nil
}

func (o *output) close() {
	for _, undo := range slices.Backward(o.undo) {
		undo()
	}
	o.lock.Release()
}

func (o *output) path(name string) string { return filepath.Join(o.dir, name) }

func (o *output) write(name string, to func(io.Writer) error) error {
	return durable.WriteFile(o.path(name), to)
}

func (o *output) results() (*result.Document, error) {
	return decode(o.path(durable.Results), result.Decode)
}

func (o *output) verdict() (*verdict.Document, error) {
	return decode(o.path(durable.Verdict), verdict.Decode)
}

// judged reads what was measured and the verdict on it.
func (o *output) judged() (*verdict.Document, *result.Document, error) {
	v, err := o.verdict()
	if err != nil {
		return nil, nil, err
	}
	doc, err := o.results()
	return v, doc, err
}

// decode reads one document of a file.
func decode[T any](path string, from func(io.Reader) (*T, error)) (*T, error) {
	f, err := durable.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no %s: the folder was not measured or not judged to its end", ErrUsage, path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := from(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return doc, nil
}

// clearBaseline removes sessions from the folder that a command may have left there,
// but for files to keep.
func (o *output) clearBaseline(keep ...string) error {
	dir := o.path(durable.Baseline)
	remove := []string{dir}
	info, err := os.Lstat(dir)
	if len(keep) > 0 && err == nil && info.IsDir() { // what a link names is not ours
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("clear the baseline: %w", err)
		}
		remove = nil
		for _, e := range entries {
			if !slices.Contains(keep, e.Name()) {
				remove = append(remove, filepath.Join(dir, e.Name()))
			}
		}
	}
	for _, path := range remove {
		if err := durable.RemoveAll(path); err != nil {
			return fmt.Errorf("clear the baseline: %w", err)
		}
	}
	return nil
}

// keepBaseline copies the documents that are compared with into the folder, so
// that it can be judged again without the place they came from.
func (o *output) keepBaseline(b *baseline.Baseline) error {
	kept := b.Sessions
	if b.Anchor != nil {
		kept = slices.Concat(kept, b.Anchor.Sessions)
	}
	if len(kept) == 0 {
		return nil
	}
	if err := os.MkdirAll(o.path(durable.Baseline), 0o755); err != nil {
		return fmt.Errorf("keep the baseline: %w", err)
	}
	done := map[*result.Document]bool{}
	for _, s := range kept {
		if done[s.Doc] {
			continue
		}
		done[s.Doc] = true
		name := filepath.Join(durable.Baseline, plan.CleanName(s.Session().ID)+".json")
		if err := o.write(name, func(w io.Writer) error { return result.Encode(w, s.Doc) }); err != nil {
			return fmt.Errorf("keep the baseline: %w", err)
		}
	}
	return nil
}

// keepCompared leaves what a session is compared with in its folder, and nothing else
// of the kind.
func (o *output) keepCompared(b *baseline.Baseline, d *selftest.Document) error {
	if err := o.clearBaseline(); err != nil {
		return err
	}
	return errors.Join(o.keepBaseline(b), o.keepSelftest(d))
}

// each calls f for 0..n-1 side by side.
func each(n int, f func(i int)) {
	limit := make(chan struct{}, max(1, runtime.GOMAXPROCS(0)))
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			f(i)
		})
	}
	wg.Wait()
}
