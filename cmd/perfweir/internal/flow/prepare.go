package flow

import (
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
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
//
// The base build, where one is asked for, is made in out's name and follows head's.
func (s Shell) plan(ctx context.Context, su *suite, o Options, out *output) (*plan.Plan, error) {
	s.hide()
	build, repo := worktree.Describe(ctx, su.root)
	if err := s.build(ctx, su); err != nil {
		return nil, err
	}
	spec := &su.file.Suite
	if repo != "" {
		spec.Path = worktree.Relative(repo, filepath.Join(su.root, filepath.Base(spec.Path)))
	}
	shard, err := shardOf(o.Shard)
	if err != nil {
		return nil, err
	}
	facts := plan.Facts{Root: su.root, Shard: shard, Selected: o.Cells, Repeats: o.Repeats, Inputs: map[string][]plan.InputFile{},
		Stdin: map[string]string{}, Builds: map[string]result.Build{}}
	if err := findFiles(spec, &facts); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	facts.Missing = func(e *plan.Exec, program string) bool {
		_, err := worktree.FindProgram(program, su.root, e.Cwd, s.path(e))
		return err != nil
	}
	build.Programs = s.programs(su, su.root)
	facts.Builds[result.BuildHead] = build
	facts.Seed = drawSeed(o.Seed)
	if o.pair != nil {
		if err := s.pairWith(ctx, su, out, o.pair, &facts); err != nil {
			return nil, err
		}
	}
	if su.file.Gate.Control {
		facts.Control = controlCell()
	}
	base := facts.Base != nil
	facts.Looks = func(cells []plan.Cell) [][]int { return su.chooseLooks(cells, base) }
	p, err := plan.Make(spec, facts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	for _, k := range p.Skipped {
		if k.Build == "" {
			s.say("left out %s: %s", k.Name, k.Why)
		} else {
			s.say("measured on head alone: %s: %s", k.Name, k.Why)
		}
	}
	return p, nil
}

func shardOf(text string) (plan.Shard, error) {
	if text == "" {
		return plan.Shard{}, nil
	}
	shard, err := plan.ParseShard(text)
	if err != nil {
		return shard, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return shard, nil
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
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	for i := range lines {
		lines[i] = Visible(strings.ReplaceAll(strings.TrimRight(lines[i], "\r"), "\t", "  "))
	}
	return strings.Join(lines, "\n")
}

// programs are the digests of the files that a suite's commands name, those of its
// variants too, in a build whose suite folder is root: they identify it.
func (s Shell) programs(su *suite, root string) map[string]string {
	spec := &su.file.Suite
	var out []worktree.Command
	execs := plan.Execs(spec, root)
	for i := range execs {
		e, path := &execs[i], s.path(&execs[i])
		out = append(out, worktree.Command{Argv: e.Argv, Shell: e.Shell, Cwd: e.Cwd, Path: path},
			worktree.Command{Argv: e.Prepare, Shell: e.PrepareSh, Cwd: e.Cwd, Path: path})
	}
	return worktree.ProgramDigests(out, root)
}

// path is the PATH that a command gets.
func (s Shell) path(e *plan.Exec) string {
	return value(measure.Environ(s.Environ, e.Env, nil), "PATH")
}

// findFiles lists and hashes the files that the suite names.
func findFiles(spec *plan.Suite, f *plan.Facts) error {
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
	}
	return nil
}

// glob lists the regular files that patterns match, each once, under the name
// that its pattern gives it. What perfweir itself left below root is no input:
// the next session would have other cells.
func glob(root string, patterns []string) ([]plan.InputFile, error) {
	var out []plan.InputFile
	seen := map[string]bool{}
	own := ownFolders{root: root, known: map[string]bool{root: false}}
	for _, pattern := range patterns {
		abs := pattern
		if !filepath.IsAbs(pattern) {
			abs = filepath.Join(result.QuoteName(root), pattern)
		}
		matches, err := doublestar.FilepathGlob(abs, doublestar.WithFilesOnly(), doublestar.WithFailOnIOErrors())
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", pattern, err)
		}
		slices.Sort(matches)
		for _, m := range matches {
			if seen[m] || own.has(filepath.Dir(m)) {
				continue
			}
			seen[m] = true
			digest, err := fileDigest(m)
			if err != nil {
				return nil, fmt.Errorf("input of %s: %w: remove it, or narrow the glob", pattern, err)
			}
			out = append(out, plan.InputFile{Name: inputName(root, pattern, m), Path: m, Digest: digest})
		}
	}
	return out, nil
}

// inputName names a file by its pattern as written: the suite's own folder may
// have a name that a glob would read as more.
func inputName(root, pattern, file string) string {
	if !filepath.IsAbs(pattern) {
		if rel, err := filepath.Rel(root, file); err == nil {
			file = rel
		}
	}
	return filepath.ToSlash(plan.InputName(pattern, file))
}

// ownFolders tells what is below an output folder or a desk's folder.
type ownFolders struct {
	root  string
	known map[string]bool
}

func (o *ownFolders) has(dir string) bool {
	own, known := o.known[dir]
	if !known {
		parent := filepath.Dir(dir)
		own = parent != dir && (filepath.Base(dir) == DeskFolder || durable.IsOurs(dir) || o.has(parent))
		o.known[dir] = own
	}
	return own
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
