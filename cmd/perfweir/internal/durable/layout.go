package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Names in an output folder.
const (
	Plan         = "plan.json"
	Journal      = "journal.jsonl"
	Results      = "results.json"
	Verdict      = "verdict.json"
	Exhibits     = "exhibits.json"
	Report       = "report.md"
	JUnit        = "junit.xml"
	HTML         = "report.html"
	Measurements = "measurements.csv"
	Findings     = "findings.csv"
	RunLog       = "LOG"
	Runs         = "runs"
	Baseline     = "baseline"
	Selftest     = "selftest.json" // what a self-test knew of this machine when it was judged
	Prepared     = "prepared.json" // what the first step of a workflow's job found out
	Confirm      = "confirm"       // doubts measured again: a folder like this one
	Upload       = "upload"        // what the job leaves as artifacts
	Machines     = "machines"      // one folder a machine, where several are judged
)

// ours are the names that --fresh may remove.
func ours() []string {
	return []string{Plan, Journal, Results, Verdict, Exhibits, Report, HTML, JUnit, Measurements, Findings, RunLog, Runs, Baseline, Selftest, Prepared, Confirm, Upload, Machines}
}

// ErrNotEmpty says that a folder holds an earlier run.
var ErrNotEmpty = errors.New("the folder holds an earlier run")

// Claim locks an output folder for a new run: it is created, or empty, or, with
// fresh, ours. Nothing is removed yet (Clear). A folder that holds other things is
// refused before anything in it is touched, so that a mistyped -o cannot mix with
// somebody's work.
func Claim(dir string, fresh bool, now time.Time) (*Lock, error) {
	lock, err := Join(dir, now) // first: a folder in use is told as that, not as an earlier run
	if err != nil {
		return nil, err
	}
	if _, err := usable(dir, fresh); err != nil {
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// Join locks a folder in order to add to what is there: it is created, empty or
// ours. Another's folder is refused before anything in it is touched; a lock in
// it would make it look like ours.
func Join(dir string, now time.Time) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make output folder: %w", err)
	}
	if _, err := usable(dir, true); err != nil {
		return nil, err
	}
	return Acquire(dir, now)
}

// usable returns our entries of a folder that a new run may take, or why not.
func usable(dir string, fresh bool) (mine []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read output folder: %w", err)
	}
	mine, foreign := sortEntries(entries)
	switch {
	case len(mine)+len(foreign) == 0:
		return nil, nil
	case !IsOurs(dir):
		name := append(foreign, mine...)[0]
		return nil, fmt.Errorf("output folder %s: it holds %s and is not an output folder of perfweir: name another with -o", dir, name)
	case !fresh && slices.ContainsFunc(mine, func(name string) bool { return !isTemporary(name, ours()) }):
		// What a kill in the middle of the first write left is no earlier run.
		return nil, fmt.Errorf("output folder %s: %w: --resume goes on with it, --fresh removes it, -o names another", dir, ErrNotEmpty)
	}
	return mine, nil
}

// Clear removes our entries from a folder that was claimed, but for those to
// keep. A link is removed, not what it names.
func Clear(dir string, keep ...string) error {
	mine, err := usable(dir, true)
	if err != nil {
		return err
	}
	for _, name := range mine {
		if slices.Contains(keep, name) {
			continue
		}
		if err := RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("clear output folder: %w", err)
		}
	}
	return nil
}

// RemoveAll removes path and what is below. A program may leave folders without
// write permission in its {out} (Go's module cache is one such): those get it
// first. Links are not followed.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walkErr := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(p, 0o700) // before it is read
		}
		return err
	})
	if walkErr != nil {
		return walkErr
	}
	return os.RemoveAll(path)
}

// IsOurs reports whether a folder was made by us: it has our lock, or a plan, a
// journal or results that say so (an artifact comes without hidden files). A name
// alone proves nothing: results.json may be anybody's.
func IsOurs(dir string) bool {
	if isFile(filepath.Join(dir, LockName)) {
		return true
	}
	return slices.ContainsFunc([]string{Plan, Journal, Results, Prepared}, func(name string) bool {
		path := filepath.Join(dir, name)
		return isFile(path) && schemaTag.Match(head(path))
	})
}

// schemaTag is how every document of ours begins.
var schemaTag = regexp.MustCompile(`"schema"\s*:\s*"perfweir\.`)

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// head returns the first bytes of a file, none where it cannot be read.
func head(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, 256)
	n, _ := io.ReadFull(f, b) // a short file is all there is
	return b[:n]
}

// sortEntries tells our names, and temporary files of them, from others. The
// lock counts as neither.
func sortEntries(entries []os.DirEntry) (mine, foreign []string) {
	known := ours()
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == LockName:
		case slices.Contains(known, name) || isTemporary(name, known):
			mine = append(mine, name)
		default:
			foreign = append(foreign, name)
		}
	}
	return mine, foreign
}

func isTemporary(name string, known []string) bool {
	rest, ok := strings.CutPrefix(name, ".")
	if !ok || !strings.HasSuffix(rest, ".tmp") {
		return false
	}
	return slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(rest, k+".") })
}
