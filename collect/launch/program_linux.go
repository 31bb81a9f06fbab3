package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lookUp returns the path of the command's program as execve wants it: relative
// to the command's folder, or absolute. It looks in the command's PATH, not in
// ours: a suite may put its own tools there.
func lookUp(c *Command) (string, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", errors.New("start a command: it has no program")
	}
	name := c.Argv[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	path, ok := variable(c.Env, "PATH")
	if !ok {
		return "", fmt.Errorf("start %q: the environment has no PATH to look in; write the program with a /", name)
	}
	for _, folder := range filepath.SplitList(path) {
		if folder == "" { // means the working folder to a shell, and is nearly always a mistake
			continue
		}
		candidate := filepath.Join(folder, name)
		if !strings.Contains(candidate, "/") {
			candidate = "./" + candidate
		}
		info, err := os.Stat(inFolder(c.Dir, candidate))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("start %q: no such program in PATH %q", name, path)
}

// variable returns the value that the command's getenv would find: the first.
func variable(env []string, name string) (string, bool) {
	for _, e := range env {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

func inFolder(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// explain turns the error of a start into a sentence. It looks at what is there
// afterwards: execve's numbers say the same of a script without its interpreter
// and of no file at all.
func explain(c *Command, path string, err error) error {
	return fmt.Errorf("start %q: %s: %w", c.Argv[0], why(c, inFolder(c.Dir, path), err), err)
}

func why(c *Command, path string, err error) string {
	if c.Dir != "" {
		if info, statErr := os.Stat(c.Dir); statErr != nil {
			return fmt.Sprintf("the working folder %q cannot be entered", c.Dir)
		} else if !info.IsDir() {
			return fmt.Sprintf("the working folder %q is a file", c.Dir)
		}
	}
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return "there is no such file"
	case statErr != nil:
		return "the file cannot be looked at"
	case info.IsDir():
		return "it is a folder"
	case !info.Mode().IsRegular():
		return "it is not a file that can be executed"
	case info.Mode()&0o111 == 0:
		return fmt.Sprintf("it may not be executed (chmod +x %q)", path)
	}
	switch {
	case errors.Is(err, syscall.ENOENT):
		if name, ok := interpreter(path); ok {
			return fmt.Sprintf("its first line asks for %q, which is not there", name)
		}
		return "the loader it was linked for is not there: it was built for another system"
	case errors.Is(err, syscall.ENOEXEC):
		return "it is neither a program for this machine nor a script that begins with #!"
	case errors.Is(err, syscall.EACCES):
		return "it or its interpreter may not be executed by this user or on this file system"
	case errors.Is(err, syscall.E2BIG):
		return "its arguments and environment are too long"
	case errors.Is(err, syscall.ETXTBSY):
		return "somebody still has it open for writing"
	}
	return "the system refused"
}

// interpreter returns what the first line of a script asks for.
func interpreter(path string) (string, bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	line := make([]byte, 256) // what the kernel reads of it
	n, _ := io.ReadFull(f, line)
	rest, ok := bytes.CutPrefix(line[:n], []byte("#!"))
	if !ok {
		return "", false
	}
	rest, _, _ = bytes.Cut(rest, []byte("\n"))
	fields := strings.Fields(strings.ReplaceAll(string(rest), "\r", "\\r "))
	if len(fields) == 0 {
		return "", false
	}
	return fields[0], true
}
