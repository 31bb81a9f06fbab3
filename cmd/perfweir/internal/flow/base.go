package flow

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/collect/measure"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/worktree"
)

// pairing is which commit is built and measured beside head, block by block.
type pairing struct {
	commit string // full hash; "": none
	// why a commit that was asked for is none: told in the verdict.
	why string
	// must is set when a plan that has the base build is resumed: without it there
	// is no going on.
	must bool
}

// pairAtDesk is what --base asks for at a desk. With reference: auto only what
// stored sessions leave in doubt is measured beside it, and later.
func (s Shell) pairAtDesk(ctx context.Context, su *suite, o Options) (pairing, error) {
	if o.Job.Base == "" || su.file.Gate.Reference == config.Auto {
		return pairing{}, nil
	}
	c, err := s.named(ctx, su, o.Job.Base)
	return pairing{commit: c.Commit}, err
}

// pair is what the input base asks for in a job.
func (p *prepared) pair(su *suite, j *job) pairing {
	c := p.Comparison
	switch {
	case j.o.Base == "" || j.mode == ModeBaseline || p.reference(su, j.o) == config.Auto:
		return pairing{}
	case !c.Here:
		return pairing{why: notHere(c.Commit)}
	}
	return pairing{commit: c.Commit}
}

func notHere(commit string) string {
	return fmt.Sprintf("the base commit %.12s is not in the clone and could not be fetched, so it was not built: stored sessions decide, and nothing does where none is stored", commit)
}

// reference is what budgets against the baseline are held against: the comparison
// commit's suite file says so where there is one.
func (p *prepared) reference(su *suite, o JobOptions) string {
	file := su.file
	if p.base != nil {
		file = p.base
	}
	return file.Reference(o.Base != "")
}

// buildBase checks a commit out beside the repository, builds it with head's build
// command and says what a plan needs to know of it. It is removed when the folder
// is closed. Everything of it is code under test: it gets no secret. errHeadChanged
// where head is not what it was before.
func (s Shell) buildBase(ctx context.Context, su *suite, out *output, commit string) (*plan.Base, error) {
	_, repo := worktree.Describe(ctx, su.root)
	if repo == "" {
		return nil, fmt.Errorf("%s is in no git repository", su.root)
	}
	place, err := s.placeOf(out)
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(repo, real(su.root))
	if err != nil {
		return nil, err
	}
	s.say("base: checking %.12s out into %s", commit, place)
	tree, err := worktree.Checkout(ctx, repo, commit, place)
	if err != nil {
		return nil, err
	}
	out.undo = append(out.undo, func() {
		if err := tree.Remove(); err != nil {
			s.warn("%v", err)
		}
	})
	head := s.programs(su, su.root)
	base, err := s.buildTree(ctx, su, commit, filepath.Join(place, below))
	now := s.programs(su, su.root)
	for _, name := range slices.Sorted(maps.Keys(head)) {
		if now[name] != head[name] {
			return nil, fmt.Errorf("%w %s, which head runs: the build command has to keep to the folder that it runs in, and install nothing", errHeadChanged, name)
		}
	}
	return base, err
}

// errHeadChanged: the build command wrote outside its tree, and what is called head
// now runs what the base commit made.
var errHeadChanged = errors.New("building the base commit changed")

// buildTree builds the base commit in its tree; root stands there where the suite
// file's folder does.
func (s Shell) buildTree(ctx context.Context, su *suite, commit, root string) (*plan.Base, error) {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the commit has no folder %s, in which the suite runs", su.shown(root))
	}
	build, _ := worktree.Describe(ctx, root)
	subs := worktree.Submodules(ctx, su.root, commit, 3)
	if len(subs) > 0 {
		s.say("base: submodules are not checked out there: %s", strings.Join(subs, ", "))
	}
	if argv := su.file.Suite.Build; len(argv) > 0 {
		s.say("base: build: %s", strings.Join(argv, " "))
		var log tail
		if err := worktree.RunBuild(ctx, argv, root, measure.WithoutSecrets(s.Environ), &log); err != nil {
			return nil, s.notBuilt(subs, err, log.text())
		}
	}
	build.Programs = s.programs(su, root)
	return &plan.Base{Root: root, Build: build, Missing: s.missingIn(ctx, su.root)}, nil
}

// notBuilt is the error of a build, with the end of what it printed.
func (s Shell) notBuilt(submodules []string, err error, printed string) error {
	for line := range strings.Lines(printed) {
		s.say("base: | %s", strings.TrimRight(line, "\n"))
	}
	if len(submodules) > 0 {
		err = fmt.Errorf("%w; it has submodules (%s), which are not checked out there: the build command has to, where it needs them", err, strings.Join(submodules, ", "))
	}
	if last := lastWord(printed); last != "" {
		err = fmt.Errorf("%w: %s", err, last)
	}
	return err
}

// lastWord is the end of what a build printed, in one line: enough for a verdict;
// the log has more.
func lastWord(printed string) string {
	const most = 300 // bytes
	text := strings.Join(strings.Fields(printed), " ")
	if len(text) > most {
		text = "... " + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}

// baseFailed is why the base build is not there, as the verdict tells it.
func baseFailed(commit string, err error) string {
	return Visible(fmt.Sprintf("the base commit %.12s could not be built: stored sessions decide, and nothing does where none is stored: %v", commit, err))
}

// placeOf is where the base build of an output folder stands: outside the
// repository, where no tool finds head's files by walking upwards, and always the
// same, since programs may hold the path that they were built in.
func (s Shell) placeOf(out *output) (string, error) {
	temp := cmp.Or(value(s.Environ, "RUNNER_TEMP"), value(s.Environ, "TMPDIR"), "/tmp")
	own := filepath.Join(temp, "perfweir-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(own, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the base build: %w", err)
	}
	info, err := os.Lstat(own)
	if err != nil {
		return "", fmt.Errorf("make a folder for the base build: %w", err)
	}
	// Another user may have made it first, where the folder is everybody's.
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || ok && int(st.Uid) != os.Getuid() || info.Mode().Perm()&0o022 != 0 {
		return "", fmt.Errorf("%s is not a folder that is ours alone: remove it, or set TMPDIR", own)
	}
	sum := sha256.Sum256([]byte(out.dir))
	return filepath.Join(real(own), "base-"+hex.EncodeToString(sum[:6])), nil
}

// real is a path without symbolic links, as git prints paths.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// missingIn tells what a command needs and the base build lacks: its program, or a
// file that it names and that head has as a program or under version control. What
// git does not track and nobody can execute (data that was fetched beside the
// repository) is the command's to find.
func (s Shell) missingIn(ctx context.Context, headRoot string) func(head, base *plan.Cell) string {
	return func(head, base *plan.Cell) string {
		e := &base.Exec
		if !e.Shell {
			if _, err := worktree.FindProgram(e.Argv[0], base.Exec.Cwd, e.Cwd, s.path(e)); err != nil {
				return head.Argv[0]
			}
		}
		for i, word := range e.Argv[1:] {
			here := head.Exec.Argv[i+1]
			named := words(here, e.Shell) // as many: a shell's string is the same
			for k, w := range words(word, e.Shell) {
				if s.lacks(ctx, headRoot, under(head.Exec.Cwd, named[k]), under(e.Cwd, w)) {
					return named[k]
				}
			}
		}
		return ""
	}
}

// words are what an argument may name a file by: itself, or the words of a shell's
// string.
func words(arg string, shell bool) []string {
	if shell {
		return worktree.ShellWords(arg)
	}
	return []string{arg}
}

func under(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// lacks reports whether head has a file that the base build needs and has not.
func (s Shell) lacks(ctx context.Context, root, head, base string) bool {
	info, err := os.Stat(head)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if _, err := os.Stat(base); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	return info.Mode()&0o111 != 0 || worktree.Tracked(ctx, root, head)
}

// pairWith adds the base build to what a plan is made from. One that does not come
// about is told, and stored sessions decide.
func (s Shell) pairWith(ctx context.Context, su *suite, out *output, p *pairing, facts *plan.Facts) error {
	if p.commit == "" {
		return nil
	}
	base, err := s.buildBase(ctx, su, out, p.commit)
	switch {
	case err == nil:
		facts.Base = base
		return nil
	case ctx.Err() != nil || errors.Is(err, errHeadChanged):
		return err // head is not there any more: nothing can be measured
	case p.must:
		return fmt.Errorf("resume: the plan has a base build: %w", err)
	}
	out.unpaired = true
	p.why = baseFailed(p.commit, err)
	return nil
}

// resumed is the pairing of a plan that is gone on with: the one it was made with.
func (s Shell) resumed(old *plan.Plan, asked pairing) (pairing, error) {
	was, had := old.Builds[result.BuildBase]
	switch {
	case !had:
		if asked.commit != "" {
			s.say("resume: the plan has no base build: going on without")
		}
		return pairing{}, nil
	case asked.commit != "" && asked.commit != was.Commit:
		return pairing{}, fmt.Errorf("%w: resume: the plan was made with base commit %.12s, and --base names %.12s; --fresh starts anew", ErrUsage, was.Commit, asked.commit)
	}
	return pairing{commit: was.Commit, must: true}, nil
}
