package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/perfweir/perfweir/collect/launch"
)

func TestTheProgramIsFoundInTheCommandsPATH(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		dir := t.TempDir()
		for _, folder := range []string{"first", "second"} {
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
				t.Fatal(err)
			}
			text := "#!/bin/sh\necho " + folder + "\n"
			if err := os.WriteFile(filepath.Join(dir, folder, "tool"), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "first", "plain"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "out")
		for path, want := range map[string]string{
			"second:first":               "second\n", // relative to Dir
			dir + "/first:second":        "first\n",
			"::/none:" + dir + "/second": "second\n",
		} {
			x := run(t, l, launch.Command{Argv: []string{"tool"}, Dir: dir, Env: []string{"PATH=" + path}, Stdout: out})
			if x.Err != nil || content(t, out) != want {
				t.Errorf("PATH %q: %+v, %q, want %q", path, x, content(t, out), want)
			}
		}
		x := run(t, l, launch.Command{Argv: []string{"plain"}, Dir: dir, Env: []string{"PATH=first"}})
		if x.End != launch.EndNotStarted || !strings.Contains(x.Err.Error(), "no such program in PATH") {
			t.Errorf("a file without execute permission was found: %+v", x)
		}
	})
}

func TestNotStarted(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		dir := t.TempDir()
		file := func(name, text string, mode os.FileMode) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), mode); err != nil {
				t.Fatal(err)
			}
			return path
		}
		plain := file("plain", "#!/bin/sh\n", 0o644)
		if err := os.Symlink(plain, filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
			t.Fatal(err)
		}
		with := func(change func(*launch.Command)) launch.Command {
			c := shell("exit 0")
			change(&c)
			return c
		}
		argv := func(a ...string) launch.Command { return launch.Command{Argv: a, Env: []string{"PATH=/bin"}} }
		for name, c := range map[string]struct {
			command launch.Command
			says    string
		}{
			"nothing":                  {argv(), "it has no program"},
			"empty name":               {argv(""), "it has no program"},
			"no such file":             {argv(dir + "/none"), "there is no such file"},
			"not in PATH":              {argv("perfweir-none"), `no such program in PATH "/bin"`},
			"no PATH":                  {launch.Command{Argv: []string{"sh"}}, "has no PATH"},
			"folder":                   {argv(dir), "it is a folder"},
			"no execute bit":           {argv(plain), "chmod +x"},
			"bad interpreter":          {argv(file("script", "#!/no/such/shell -e\n", 0o755)), `asks for "/no/such/shell"`},
			"interpreter with CR":      {argv(file("dos", "#!/bin/sh\r\n", 0o755)), `asks for "/bin/sh\\r"`},
			"neither program nor text": {argv(file("data", "\x00\x01\x02", 0o755)), "neither a program"},
			"empty file":               {argv(file("empty", "", 0o755)), "neither a program"},
			"no working folder":        {with(func(c *launch.Command) { c.Dir = dir + "/none" }), "the working folder"},
			"working folder is a file": {with(func(c *launch.Command) { c.Dir = plain }), "is a file"},
			"no stdin":                 {with(func(c *launch.Command) { c.Stdin = dir + "/none" }), "open stdin"},
			"stdin is a folder":        {with(func(c *launch.Command) { c.Stdin = dir }), "open stdin"},
			"stdin is a pipe":          {with(func(c *launch.Command) { c.Stdin = dir + "/pipe" }), "open stdin"},
			"no folder for stdout":     {with(func(c *launch.Command) { c.Stdout = dir + "/none/out" }), "create the output file"},
			"stdout is a link":         {with(func(c *launch.Command) { c.Stdout = dir + "/link" }), "create the output file"},
			"stdout is a pipe":         {with(func(c *launch.Command) { c.Stdout = dir + "/pipe" }), "create the output file"},
			"stderr is a folder":       {with(func(c *launch.Command) { c.Stderr = dir }), "create the output file"},
		} {
			t.Run(name, func(t *testing.T) {
				x := run(t, l, c.command)
				if x.End != launch.EndNotStarted || x.Err == nil || !strings.Contains(x.Err.Error(), c.says) {
					t.Errorf("got %s, %v; want not_started, %q", x.End, x.Err, c.says)
				}
			})
		}
		if got := content(t, plain); got != "#!/bin/sh\n" {
			t.Errorf("what a link in stdout's place names was changed to %q", got)
		}
	})
}
