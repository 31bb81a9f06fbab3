package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// assetText is a released binary of the test: a script that tells what it is.
func assetText(name string) string {
	return "#!/bin/sh\n[ \"$1\" = version ] && echo perfweir 9.8.7 " + name + "\n"
}

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// install is an action's checkout with a server of its release. The machine is made
// of the tools that the script may use, a driver library that may be there, and a
// go that only tells that it was called.
type install struct {
	t         *testing.T
	root      string // of the action
	temp      string
	bin       string // PATH
	checksums string
	assets    map[string]string // by file name
	requests  atomic.Int64
}

const releaseVersion = "9.8.7"

func assetName(key string) string { return "perfweir_" + releaseVersion + "_linux_" + key }

// needs finds a tool of runners that a reader of the code may lack.
func needs(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil && os.Getenv("PERFWEIR_CI") != "" {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err)
	}
	return path
}

// newInstall is a released commit on a machine without NVIDIA's library.
func newInstall(t *testing.T) *install {
	t.Helper()
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Fatalf("no release for %s", runtime.GOARCH)
	}
	dir := t.TempDir()
	in := &install{t: t, root: filepath.Join(dir, "action"), temp: filepath.Join(dir, "temp"), bin: filepath.Join(dir, "bin"), assets: map[string]string{}}
	in.write(filepath.Join(in.root, ".github/actions/install.sh"), read(t, ".github/actions/install.sh"), 0o755)
	in.write(filepath.Join(in.temp, "keep"), "", 0o644)
	for _, tool := range []string{"bash", "cat", "cp", "chmod", "curl", "cut", "dirname", "env", "grep", "mkdir", "mktemp", "mv", "rm", "sh", "sha256sum", "uname"} {
		in.tool(tool, "#!/bin/sh\nexec "+needs(t, tool)+" \"$@\"\n")
	}
	in.driver(false)
	in.tool("go", "#!/bin/sh\necho go was called\nexit 1\n")
	in.checksums = "# of a test\nrelease " + releaseVersion + "\n"
	for _, key := range []string{"amd64", "amd64_nvml", "arm64", "arm64_nvml"} {
		in.assets[assetName(key)] = assetText(key)
		in.checksums += hash(assetText(key)) + "  " + assetName(key) + "\n"
	}
	return in
}

func (in *install) write(path, text string, mode os.FileMode) {
	in.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		in.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		in.t.Fatal(err)
	}
}

func (in *install) tool(name, script string) { in.write(filepath.Join(in.bin, name), script, 0o755) }

// driver says whether the linker knows NVIDIA's library.
func (in *install) driver(there bool) {
	text := "#!/bin/sh\necho '	libc.so.6 (libc6,x86-64) => /lib/libc.so.6'\n"
	if there {
		text += "echo '	libnvidia-ml.so.1 (libc6,x86-64) => /lib/libnvidia-ml.so.1'\n"
	}
	in.tool("ldconfig", text)
}

// installed is how an install ended.
type installed struct {
	code         int
	log          string
	path, sha256 string
}

// serve is the release, as it is now, or a mirror of it.
func (in *install) serve() *httptest.Server {
	assets := maps.Clone(in.assets)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in.requests.Add(1)
		if text, ok := assets[strings.TrimPrefix(r.URL.Path, "/mirror/")]; ok {
			fmt.Fprint(w, text)
		} else {
			http.NotFound(w, r)
		}
	}))
}

func (in *install) run(env ...string) installed {
	in.t.Helper()
	server := in.serve()
	defer server.Close()
	in.write(filepath.Join(in.root, ".github/actions/checksums.txt"), in.checksums, 0o644)
	output := filepath.Join(in.temp, "output")
	in.write(output, "", 0o644)
	cmd := exec.Command(filepath.Join(in.bin, "bash"), "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", `exec bash "$GITHUB_ACTION_PATH/.github/actions/install.sh"`)
	cmd.Dir = in.temp
	cmd.Env = append([]string{"PATH=" + in.bin, "GITHUB_ACTION_PATH=" + in.root, "RUNNER_TEMP=" + in.temp, "RUNNER_TOOL_CACHE=" + filepath.Join(in.temp, "tools"),
		"GITHUB_OUTPUT=" + output, "PERFWEIR_INPUT_DOWNLOAD_URL=" + server.URL + "/mirror/", "HOME=" + os.Getenv("HOME")}, env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		in.t.Fatal(err)
	}
	set := commandFile(in.t, output)
	return installed{code: cmd.ProcessState.ExitCode(), log: string(out), path: set["path"], sha256: set["sha256"]}
}

// refused asserts that nothing was installed, with this exit code and words, and
// that no other way was tried.
func (in *install) refused(r installed, code int, words string) {
	in.t.Helper()
	if r.code != code || !strings.Contains(r.log, "::error title=perfweir install::") || !strings.Contains(r.log, words) {
		in.t.Errorf("exit code %d, want %d and %q:\n%s", r.code, code, words, r.log)
	}
	if r.path != "" || strings.Contains(r.log, "go was called") {
		in.t.Errorf("it went on after the refusal, path %q:\n%s", r.path, r.log)
	}
}

// took asserts that an asset was installed.
func (in *install) took(r installed, key string) {
	in.t.Helper()
	want := filepath.Join(in.temp, "tools", "perfweir", releaseVersion, runtime.GOARCH, assetName(key))
	if r.code != 0 || r.path != want || r.sha256 != hash(in.assets[assetName(key)]) {
		in.t.Fatalf("exit code %d, path %s, want %s; sha256 %s\n%s", r.code, r.path, want, r.sha256, r.log)
	}
	if b, err := os.ReadFile(r.path); err != nil || string(b) != in.assets[assetName(key)] {
		in.t.Fatalf("the file is %q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(r.path), ".part-*")); len(left) > 0 {
		in.t.Errorf("left behind: %v", left)
	}
}

// static is the asset for a machine where ldconfig knows no driver: the one with
// NVML all the same where this very machine has the library in a usual place.
func static(t *testing.T) string {
	t.Helper()
	for _, pattern := range []string{"/usr/lib/*-linux-gnu/libnvidia-ml.so.1", "/usr/lib/*-linux-gnu/*/libnvidia-ml.so.1", "/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1",
		"/usr/lib64/libnvidia-ml.so.1", "/usr/lib/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1", "/run/opengl-driver/lib/libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return runtime.GOARCH + "_nvml"
		}
	}
	return runtime.GOARCH
}

// TestInstallRelease: downloaded once, then from the tool cache, hashed both times.
func TestInstallRelease(t *testing.T) {
	in := newInstall(t)
	in.took(in.run(), static(t))
	in.took(in.run(), static(t))
	if n := in.requests.Load(); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
}

// TestInstallNVML: the library decides, and the binary must start.
func TestInstallNVML(t *testing.T) {
	in := newInstall(t)
	in.driver(true)
	in.took(in.run(), runtime.GOARCH+"_nvml")

	in = newInstall(t)
	in.driver(true)
	broken := "#!/bin/sh\nexit 127\n"
	in.checksums = strings.ReplaceAll(in.checksums, hash(assetText(runtime.GOARCH+"_nvml")), hash(broken))
	in.assets[assetName(runtime.GOARCH+"_nvml")] = broken
	r := in.run()
	in.took(r, runtime.GOARCH)
	if !strings.Contains(r.log, "the binary with NVML does not start here") {
		t.Errorf("it does not say why it is the static one:\n%s", r.log)
	}
}

// flip changes one bit of one byte.
func flip(text string, at int) string { return text[:at] + string(text[at]^1) + text[at+1:] }

// TestInstallFlippedByte: in the asset, in the cache, anywhere in the checksums.
func TestInstallFlippedByte(t *testing.T) {
	t.Run("asset", func(t *testing.T) {
		in := newInstall(t)
		name := assetName(static(t))
		in.assets[name] = flip(in.assets[name], 40)
		in.refused(in.run(), 4, "it is not the release's binary")
		if found, _ := filepath.Glob(filepath.Join(in.temp, "tools/perfweir/*/*/*")); len(found) > 0 {
			t.Errorf("kept: %v", found)
		}
	})
	t.Run("cache", func(t *testing.T) {
		in := newInstall(t)
		r := in.run()
		in.took(r, static(t))
		in.write(r.path, flip(in.assets[assetName(static(t))], 40), 0o755)
		in.refused(in.run(), 4, "something on this machine changed it")
	})
	t.Run("checksums", func(t *testing.T) {
		in := newInstall(t)
		whole := in.checksums
		in.took(in.run(), static(t))
		step := 5
		if testing.Short() {
			step = 31
		}
		refused := 0
		for at := 0; at < len(whole); at += step {
			in.checksums = flip(whole, at)
			// A comment may say what it wants, and another asset's hash is not ours.
			if r := in.run(); r.code == 0 {
				in.took(r, static(t))
			} else {
				in.refused(r, 4, "")
				refused++
			}
		}
		if low := len(whole) / step / 3; refused < low {
			t.Errorf("only %d of %d flips were refused", refused, len(whole)/step)
		}
	})
}

// TestInstallChecksumsAreWhole: a list that was cut is not a commit without a release.
func TestInstallChecksumsAreWhole(t *testing.T) {
	in := newInstall(t)
	lines := strings.SplitAfter(in.checksums, "\n")
	for name, text := range map[string]string{
		"empty":         "",
		"comments only": "# nothing\n",
		"no assets":     lines[0] + lines[1],
		"cut":           strings.Join(lines[:3], ""),
		"two versions":  strings.Join(lines[:2], "") + lines[1],
		"twice":         in.checksums + lines[2],
		"other version": strings.ReplaceAll(in.checksums, "_"+releaseVersion+"_", "_9.8.6_"),
		"unreleased":    strings.Replace(in.checksums, "release ", "unreleased ", 1),
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstall(t)
			in.checksums = text
			in.refused(in.run(), 4, "checksums.txt")
			if n := in.requests.Load(); n != 0 {
				t.Errorf("%d downloads", n)
			}
		})
	}
}

// TestInstallCannotBeHad: what is not there is not replaced by something else.
func TestInstallCannotBeHad(t *testing.T) {
	in := newInstall(t)
	in.assets = map[string]string{}
	in.refused(in.run(), 3, "download-url")

	in = newInstall(t)
	in.refused(in.run("PERFWEIR_INPUT_DOWNLOAD_URL=file://"+in.root), 3, "cannot download")

	in = newInstall(t)
	if err := os.Remove(filepath.Join(in.bin, "curl")); err != nil {
		t.Fatal(err)
	}
	in.refused(in.run(), 3, "curl is missing")

	in = newInstall(t)
	in.tool("uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo Darwin || echo arm64\n")
	in.refused(in.run(), 4, "runs on Linux, this is Darwin")
}
