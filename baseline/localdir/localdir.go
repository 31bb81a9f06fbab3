// Package localdir reads baseline candidates from a folder: a desk's .perfweir,
// or one that was copied by hand to a runner without GitHub. It only reads; what
// is taken is decided by package baseline, what is stored by flow.
package localdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
)

// Candidates reads every results document of a folder (*.json, not below it), or
// one file, newest name first. What cannot be read is a candidate with an error,
// not a failure: it is listed among the rejected. The error is for a folder that
// cannot be read; one that does not exist has no candidates.
func Candidates(path string) ([]baseline.Candidate, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read baseline %s: %w", path, err)
	}
	if !info.IsDir() {
		return read([]string{path}), nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read baseline folder %s: %w", path, err)
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	slices.Reverse(files)
	return read(files), nil
}

// read decodes files side by side, each into its own slot.
func read(files []string) []baseline.Candidate {
	out := make([]baseline.Candidate, len(files))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := range next {
				out[i] = readOne(files[i])
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// readOne opens nothing that is no file: a pipe would never end.
func readOne(file string) baseline.Candidate {
	c := baseline.Candidate{File: filepath.Base(file)}
	c.Doc, c.Err = decode(file)
	return c
}

func decode(file string) (*result.Document, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", filepath.Base(file))
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return result.Decode(f)
}
