package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// RunBuild runs the suite's build command in dir with env and writes what it
// prints to log. The environment is the caller's to clean: a build is code under
// test. When ctx ends, the command's whole process group gets TERM, and KILL a few
// seconds later.
func RunBuild(ctx context.Context, argv []string, dir string, env []string, log io.Writer) error {
	return runBuild(ctx, argv, dir, env, log, buildGrace)
}

// buildGrace is what a build has between TERM and KILL, and what a process that it
// left behind has to let go of the log.
const buildGrace = 5 * time.Second

func runBuild(ctx context.Context, argv []string, dir string, env []string, log io.Writer, grace time.Duration) error {
	if len(argv) == 0 {
		return nil
	}
	path, err := FindProgram(argv[0], dir, dir, value(env, "PATH"))
	if err != nil {
		return fmt.Errorf("build: %w: check the suite's build command", err)
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdout, cmd.Stderr = log, log
	endGroup(cmd, syscall.SIGTERM, grace)
	err = cmd.Run()
	if ctx.Err() != nil {
		if cmd.Process != nil { // members of the group that did not follow TERM
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return fmt.Errorf("build: %s was ended: %w", strings.Join(argv, " "), context.Cause(ctx))
	}
	// A build daemon that keeps the log open is no failure of the build.
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("build: %s: %w", strings.Join(argv, " "), err)
	}
	return nil
}

// Command is one command of a suite, as far as the files that it names go.
type Command struct {
	Argv  []string // as the suite has it
	Shell bool     // Argv is a shell with one string, which names files too
	Cwd   string   // absolute
	Path  string   // PATH of the command; relative entries relate to Cwd
}

// ProgramDigests returns the digest of every file that the commands name: the
// program (on the command's PATH, or relative to root, the suite's folder), every
// other argument that is an existing regular file below Cwd or by its own, and the
// words of a shell's string that are. Keys are the arguments as written, for those
// of a command with another Cwd than root the path from root. Arguments that hold
// {out} or {input} differ by run and are left out; so is what cannot be read.
func ProgramDigests(commands []Command, root string) map[string]string {
	d := digests{root: root, byName: map[string]string{}, seen: map[string]bool{}}
	for _, c := range commands {
		if len(c.Argv) == 0 {
			continue
		}
		if file, err := FindProgram(c.Argv[0], root, c.Cwd, c.Path); err == nil {
			d.add(c.Argv[0], file)
		}
		for _, arg := range c.Argv[1:] {
			words := []string{arg}
			if c.Shell {
				words = ShellWords(arg)
			}
			d.addAll(words, c.Cwd)
		}
	}
	return d.byName
}

// digests are those of files, by name; seen are files that were looked at.
type digests struct {
	root   string
	byName map[string]string
	seen   map[string]bool
}

func (d *digests) addAll(args []string, cwd string) {
	for _, arg := range args {
		name, file := arg, absolute(arg, cwd)
		if cwd != d.root && !filepath.IsAbs(arg) {
			if rel, err := filepath.Rel(d.root, file); err == nil {
				name = filepath.ToSlash(rel)
			}
		}
		d.add(name, file)
	}
}

// add takes a file under a name; the first one of a name stands.
func (d *digests) add(name, file string) {
	key := name + "\x00" + file
	if name == "" || d.seen[key] || strings.Contains(name, "{out}") || strings.Contains(name, "{input}") {
		return
	}
	d.seen[key] = true
	if _, taken := d.byName[name]; taken {
		return
	}
	if digest, err := fileDigest(file); err == nil {
		d.byName[name] = digest
	}
}

// ShellWords cuts a shell's string at blanks, quotes and operators. It is no
// parser: what it cuts wrongly names no file.
func ShellWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`|&;<>()$=", r) })
}

// FindProgram finds the file that a command's first word starts, as the launcher
// does: with a slash relative to root, without one on path, whose relative entries
// relate to cwd. Empty entries, which stand for the current folder, are not
// followed.
func FindProgram(name, root, cwd, path string) (string, error) {
	if strings.Contains(name, "/") {
		file := absolute(name, root)
		if !executable(file) {
			return "", fmt.Errorf("%s is not there or is no program", file)
		}
		return file, nil
	}
	for _, folder := range filepath.SplitList(path) {
		if folder == "" {
			continue
		}
		if file := absolute(filepath.Join(folder, name), cwd); executable(file) {
			return file, nil
		}
	}
	return "", fmt.Errorf("program %q is not on PATH", name)
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func absolute(name, dir string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

var errNotRegular = errors.New("not a regular file")

// fileDigest reads a regular file. An argument may name a pipe or a device, so it
// looks before it opens, opens without blocking, and looks at what it has opened.
func fileDigest(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", &fs.PathError{Op: "digest", Path: path, Err: errNotRegular}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", &fs.PathError{Op: "digest", Path: path, Err: errNotRegular}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("digest %s: %w", path, err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// value finds a variable in an environment; the last one counts.
func value(env []string, name string) string {
	out := ""
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			out = v
		}
	}
	return out
}
