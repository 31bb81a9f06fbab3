package flow

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/perfweir/perfweir/collect/measure"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/worktree"
)

// buildTail is how much of a failed build's output is told.
const buildTail = 4 << 10

// plan builds the program under test and expands the suite. The build goes
// first, since it may make the inputs; git is asked before any command of the
// suite could change what git runs.
func (s Shell) plan(ctx context.Context, su *suite, o Options) (*plan.Plan, error) {
	s.hide()
	build, repo := worktree.Describe(ctx, su.root)
	if err := s.build(ctx, su); err != nil {
		return nil, err
	}
	spec := &su.file.Suite
	if repo != "" {
		spec.Path = worktree.Relative(repo, filepath.Join(su.root, filepath.Base(spec.Path)))
	}
	facts := plan.Facts{Root: su.root, Selected: o.Cells, Repeats: o.Repeats, Inputs: map[string][]plan.InputFile{},
		Stdin: map[string]string{}, Missing: map[string]bool{}, Builds: map[string]result.Build{}}
	if err := findInputs(spec, &facts); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	build.Programs = worktree.ProgramDigests(commands(spec), su.root, value(s.Environ, "PATH"))
	facts.Builds[result.BuildHead] = build
	facts.Seed = drawSeed(o.Seed)
	p, err := plan.Make(spec, facts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	for _, k := range p.Skipped {
		s.say("left out %s: %s", k.Name, k.Why)
	}
	return p, nil
}

// build runs the suite's build command. It is code under test: it gets no secret.
func (s Shell) build(ctx context.Context, su *suite) error {
	argv := su.file.Suite.Build
	if len(argv) == 0 {
		return nil
	}
	s.say("build: %s", strings.Join(argv, " "))
	var log tail
	if err := worktree.RunBuild(ctx, argv, su.root, measure.WithoutSecrets(s.Environ), &log); err != nil {
		return fmt.Errorf("%w\n%s", err, log.text())
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*buildTail {
		t.b = append(t.b[:0], t.b[len(t.b)-buildTail:]...)
	}
	return len(p), nil
}

func (t *tail) text() string {
	b := t.b[max(0, len(t.b)-buildTail):]
	return strings.TrimSpace(strings.ToValidUTF8(string(bytes.TrimSpace(b)), "?"))
}

// commands are all argument lists whose files identify the build.
func commands(spec *plan.Suite) [][]string {
	var out [][]string
	for i := range spec.Benchmarks {
		b := &spec.Benchmarks[i]
		out = append(out, b.Exec.Argv, b.Exec.Prepare)
		for _, v := range b.Variants {
			if v.Path != "" {
				out = append(out, []string{v.Path})
			}
		}
	}
	return out
}

// findInputs lists and hashes the files that the suite names, and asks which
// programs are there.
func findInputs(spec *plan.Suite, f *plan.Facts) error {
	for i := range spec.Benchmarks {
		b := &spec.Benchmarks[i]
		if b.Inputs != nil {
			files, err := glob(f.Root, b.Inputs.Files)
			if err != nil {
				return fmt.Errorf("benchmark %q: %w", b.Name, err)
			}
			f.Inputs[b.Name] = files
		}
		if in := b.Exec.Stdin; in != "" && !strings.Contains(in, "{") {
			path := in
			if !filepath.IsAbs(in) {
				path = filepath.Join(f.Root, in)
			}
			digest, err := fileDigest(path)
			if err != nil {
				return fmt.Errorf("benchmark %q: stdin: %w", b.Name, err)
			}
			f.Stdin[in] = digest
		}
		needed := slices.Clone(b.Exec.Requires)
		for _, v := range b.Variants {
			needed = append(needed, v.Requires...)
		}
		for _, program := range needed {
			if _, err := exec.LookPath(program); err != nil {
				f.Missing[program] = true
			}
		}
	}
	return nil
}

// glob lists the regular files that patterns match, each once, under the name
// that its pattern gives it.
func glob(root string, patterns []string) ([]plan.InputFile, error) {
	var out []plan.InputFile
	seen := map[string]bool{}
	for _, pattern := range patterns {
		abs := pattern
		if !filepath.IsAbs(pattern) {
			abs = filepath.Join(root, pattern)
		}
		matches, err := doublestar.FilepathGlob(abs, doublestar.WithFilesOnly(), doublestar.WithFailOnIOErrors())
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", pattern, err)
		}
		slices.Sort(matches)
		for _, m := range matches {
			if seen[m] {
				continue
			}
			seen[m] = true
			digest, err := fileDigest(m)
			if err != nil {
				return nil, err
			}
			out = append(out, plan.InputFile{Name: filepath.ToSlash(plan.InputName(abs, m)), Path: m, Digest: digest})
		}
	}
	return out, nil
}

func fileDigest(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file (%s)", path, fs.FormatFileInfo(info)[:10])
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// drawSeed draws the seed of the order: another one each session, so that no
// place in the order favours a cell for ever. It stays below 2^53, where every
// reader of JSON keeps it exactly.
func drawSeed(given *uint64) uint64 {
	if given != nil {
		return *given
	}
	var b [8]byte
	crand.Read(b[:]) // never fails: it ends the program instead
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

func value(environ []string, name string) string {
	for _, kv := range slices.Backward(environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
