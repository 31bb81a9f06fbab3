package control

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/launch"
)

// Stored sessions are compared with as long as the bytes are these: whoever changes
// them takes every site's control sessions away.
func TestTheBytesStayWhatTheyAre(t *testing.T) {
	for arch, want := range map[string]string{
		"amd64": "sha256:c695e610dba6851af65b50b758938968dc132248d98ab470e14b35489a3d77cf",
		"arm64": "sha256:e6a576c404a4ec723b20def0ddbd19c4907164a5b1fa409dd8a0506e430964e3",
	} {
		was := program
		program = string(bytesFor(t, arch))
		got := Digest()
		program = was
		if got != want {
			t.Errorf("%s: %s, want %s: another control cell", arch, got, want)
		}
		if arch == runtime.GOARCH && program != string(bytesFor(t, arch)) {
			t.Errorf("%s: other bytes are embedded", arch)
		}
	}
}

func bytesFor(t *testing.T, arch string) []byte {
	t.Helper()
	b, err := os.ReadFile("control_" + arch)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t *testing.T) *File {
	t.Helper()
	f, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// It is started as every command is: by the launcher, and without one.
func TestItRuns(t *testing.T) {
	l, err := launch.Start(launch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, by := range map[string]*launch.Launcher{"launcher": l, "direct": nil} {
		out := filepath.Join(t.TempDir(), "out")
		argv, stdin := open(t).Command()
		x := by.Run(t.Context(), launch.Command{Argv: argv, Stdin: stdin, Dir: t.TempDir(), Stdout: out, Stderr: out})
		if x.End != launch.EndExited || x.ExitCode != 0 || x.Signal != "" || x.Err != nil || x.Leftover != 0 {
			t.Errorf("%s: %+v", name, x)
		}
		if x.CPU <= 0 || x.StdoutBytes+x.StderrBytes != 0 {
			t.Errorf("%s: cpu %v, wrote %d bytes", name, x.CPU, x.StdoutBytes+x.StderrBytes)
		}
	}
}

// A command that is measured finds the file in our process, where that is not
// hidden, and cannot write to it.
func TestItCannotBeExchanged(t *testing.T) {
	f := open(t)
	_, path := f.Command()
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteAt([]byte{0}, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("written to: %v", err)
	}
	if err := w.Truncate(0); !errors.Is(err, unix.EPERM) {
		t.Errorf("cut: %v", err)
	}
	if _, err := unix.FcntlInt(w.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE); !errors.Is(err, unix.EPERM) {
		t.Errorf("sealed again: %v", err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != program {
		t.Errorf("%d bytes, want %d (%v)", len(got), len(program), err)
	}
}

// What both parts of the work come to is checked by the program itself.
func TestWorkThatGoesWrongIsNoSuccess(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the constants are looked for as amd64 holds them")
	}
	for name, result := range map[string]uint64{"steps": 0x6a33da430cc3d0ea, "walk": 0xd6dec2eb3cb0fe0e} {
		at := binary.LittleEndian.AppendUint64(nil, result)
		if n := bytes.Count([]byte(program), at); n != 1 {
			t.Fatalf("%s: its result is in the program %d times", name, n)
		}
		path := filepath.Join(t.TempDir(), "control")
		other := bytes.Replace([]byte(program), at, binary.LittleEndian.AppendUint64(nil, result+1), 1)
		if err := os.WriteFile(path, other, 0o700); err != nil {
			t.Fatal(err)
		}
		if x := launch.Run(t.Context(), launch.Command{Argv: []string{path}}); x.End != launch.EndExited || x.ExitCode != 1 {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// The other architecture's bytes come to the same, under an emulator.
func TestArm64UnderAnEmulator(t *testing.T) {
	emulator, err := exec.LookPath("qemu-aarch64-static")
	switch {
	case err != nil && os.Getenv("PERFWEIR_CI") != "":
		t.Fatalf("an emulator is needed: %v", err)
	case err != nil:
		t.Skip("no qemu-aarch64-static here")
	}
	path := filepath.Join(t.TempDir(), "control")
	if err := os.WriteFile(path, bytesFor(t, "arm64"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), emulator, path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestNoneForOtherSystems(t *testing.T) {
	was := program
	program = ""
	defer func() { program = was }()
	if _, err := Open(); !errors.Is(err, ErrNone) || Digest() != "" || !strings.Contains(err.Error(), "this system") {
		t.Errorf("%v, digest %q", err, Digest())
	}
}
