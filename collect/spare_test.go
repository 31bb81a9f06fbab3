package collect

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/perfweir/perfweir/collect/measure"
	"github.com/perfweir/perfweir/collect/result"
)

// Whatever a command did to its folder, the next run must not get it.
func TestOnlyAPristineFolderIsUsedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(folder string) error
		taken  bool
	}{
		"as it was made":  {func(string) error { return nil }, true},
		"output":          {func(f string) error { return os.WriteFile(f+"/stdout.log", []byte("x"), 0o600) }, false},
		"in {out}":        {func(f string) error { return os.WriteFile(f+"/out/x", nil, 0o600) }, false},
		"hidden in {out}": {func(f string) error { return os.Mkdir(f+"/out/.x", 0o700) }, false},
		"beside it":       {func(f string) error { return os.WriteFile(f+"/x", nil, 0o600) }, false},
		"a folder":        {func(f string) error { return os.Mkdir(f+"/x", 0o700) }, false},
		"another name":    {func(f string) error { return os.Link(f+"/stderr.log", filepath.Dir(f)+"/other") }, false},
		"another mode":    {func(f string) error { return os.Chmod(f+"/out", 0o500) }, false},
		"a link for {out}": {func(f string) error {
			return errorsFirst(os.Remove(f+"/out"), os.Symlink(filepath.Dir(f), f+"/out"))
		}, false},
		"a link for a log": {func(f string) error {
			return errorsFirst(os.Remove(f+"/stdout.log"), os.Symlink("/dev/null", f+"/stdout.log"))
		}, false},
		"all gone": {os.RemoveAll, false},
	} {
		t.Run(name, func(t *testing.T) {
			runs := t.TempDir()
			first, second := filepath.Join(runs, "a", "r1.a1"), filepath.Join(runs, "b", "r1.a1")
			err := errorsFirst(os.MkdirAll(first+"/out", 0o755), os.WriteFile(first+"/stdout.log", nil, 0o600), os.WriteFile(first+"/stderr.log", nil, 0o600))
			if err == nil {
				err = c.change(first)
			}
			if err != nil {
				t.Fatal(err)
			}
			var s spare
			if got := s.offer(first); got != c.taken {
				t.Fatalf("taken: %v, want %v", got, c.taken)
			}
			if err := s.use(second); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(second + "/out"); (err == nil) != c.taken {
				t.Errorf("the second run's folder: %v", err)
			}
		})
	}
}

func TestASpareThatCannotBeUsedIsRemoved(t *testing.T) {
	runs := t.TempDir()
	first, second := filepath.Join(runs, "r1"), filepath.Join(runs, "r2")
	if err := errorsFirst(os.MkdirAll(first+"/out", 0o755), os.MkdirAll(second+"/out", 0o755), os.WriteFile(second+"/old", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var s spare
	if !s.offer(first) {
		t.Fatal("not taken")
	}
	if err := s.use(second); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(first); !os.IsNotExist(err) {
		t.Errorf("the first is still there: %v", err)
	}
	if err := s.drop(); err != nil {
		t.Error(err)
	}
}

// Where the journal cannot be written any more, no folder of a run that left
// nothing stays behind.
func TestNoSpareIsLeftByAFullDisk(t *testing.T) {
	s := &script{t: t, refuse: 4} // after session, metric and one run
	s.answer = func(_ int, r measure.Run) measure.Outcome {
		if err := os.MkdirAll(filepath.Join(r.Folder, measure.OutFolder), 0o755); err != nil {
			t.Fatal(err)
		}
		return took(1)
	}
	m := Matrix{Plan: twoVariants(t, 2, 0), Session: result.Session{StartedAt: began}, Root: t.TempDir()}
	m.Runs = filepath.Join(m.Root, "runs")
	if err := collectAll(t.Context(), m, s, s.do, nil); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	err := filepath.WalkDir(m.Runs, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == measure.OutFolder {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func errorsFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
