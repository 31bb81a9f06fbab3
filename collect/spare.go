package collect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/perfweir/perfweir/collect/measure"
)

// spare is the folder of a run that left nothing. The next run gets it under its
// own name: making and removing folders and files costs more than the shortest
// commands take.
type spare struct{ path string }

// offer takes a folder over when it is as measure makes one, and reports whether
// it did.
func (s *spare) offer(folder string) bool {
	if s.path != "" || !pristine(folder) {
		return false
	}
	s.path = folder
	return true
}

// use makes the spare folder another run's. Where that does not work, measure
// makes a new one.
func (s *spare) use(folder string) error {
	if s.path == "" {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(folder), 0o755)
	if err == nil {
		err = os.Rename(s.path, folder)
	}
	if err != nil {
		return s.drop()
	}
	s.path = ""
	return nil
}

func (s *spare) drop() error {
	if s.path == "" {
		return nil
	}
	path := s.path
	s.path = ""
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove the run's folder: %w", err)
	}
	return nil
}

// pristine reports whether a folder holds nothing but our own logs, empty and
// under no other name, and an empty {out}: a command may have put anything there.
func pristine(folder string) bool {
	ours := []string{measure.StdoutLog, measure.StderrLog, measure.PrepareLog, measure.CleanupLog}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			return false
		case e.Name() == measure.OutFolder:
			below, err := os.ReadDir(path)
			if err != nil || len(below) > 0 || !info.IsDir() || info.Mode().Perm() != freshMode(folder) {
				return false
			}
		case !slices.Contains(ours, e.Name()) || !info.Mode().IsRegular() || info.Size() > 0 || links(info) != 1:
			return false
		}
	}
	return len(entries) > 0
}

// freshMode is the mode that a folder gets here: that of the run's own folder.
func freshMode(folder string) os.FileMode {
	info, err := os.Lstat(folder)
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}
