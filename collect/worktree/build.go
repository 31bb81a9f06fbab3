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
	path, err := program(argv[0], dir, value(env, "PATH"))
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

// ProgramDigests returns the digest of every file that the commands name, by the
// argument as written: the program (on path, or relative to dir), and every other
// argument that is an existing regular file. Arguments that hold {out} or {input}
// differ by run and are left out; so is what cannot be read.
func ProgramDigests(argvs [][]string, dir, path string) map[string]string {
	digests := map[string]string{}
	seen := map[string]bool{}
	for _, argv := range argvs {
		for i, arg := range argv {
			// The same word can be a program in one place and a file in another.
			if key := fmt.Sprint(i == 0, arg); seen[key] || arg == "" || placeholder(arg) {
				continue
			} else {
				seen[key] = true
			}
			file := absolute(arg, dir)
			if i == 0 {
				found, err := program(arg, dir, path)
				if err != nil {
					continue
				}
				file = found
			}
			if _, taken := digests[arg]; taken && i > 0 {
				continue // the program's digest stands
			}
			if digest, err := fileDigest(file); err == nil {
				digests[arg] = digest
			}
		}
	}
	return digests
}

func placeholder(arg string) bool {
	return strings.Contains(arg, "{out}") || strings.Contains(arg, "{input}")
}

// program finds the file that argv[0] starts, as the launcher does: with a slash
// relative to dir, without one on path. Empty entries of path, which stand for the
// current folder, are not followed.
func program(name, dir, path string) (string, error) {
	if strings.Contains(name, "/") {
		return absolute(name, dir), nil
	}
	for _, folder := range filepath.SplitList(path) {
		if folder == "" {
			continue
		}
		file := absolute(filepath.Join(folder, name), dir)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("program %q is not on PATH", name)
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
