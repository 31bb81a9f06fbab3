package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstallGivenBinary: the input binary is copied and hashed; neither network
// nor checksums matter.
func TestInstallGivenBinary(t *testing.T) {
	in := newInstall(t)
	in.checksums = "damaged\n"
	given := filepath.Join(in.temp, "of mine", "perfweir")
	in.write(given, assetText("given"), 0o644)
	for _, path := range []string{given, "of mine/perfweir"} {
		r := in.run("PERFWEIR_INPUT_BINARY=" + path)
		if r.code != 0 || r.sha256 != hash(assetText("given")) || r.path == given || !strings.HasPrefix(r.path, in.temp+"/perfweir-bin-") {
			t.Fatalf("exit code %d, path %s, sha256 %s\n%s", r.code, r.path, r.sha256, r.log)
		}
		if !strings.Contains(r.log, r.sha256) || !strings.Contains(r.log, path) {
			t.Errorf("the log does not tell path and hash:\n%s", r.log)
		}
		// A build of the suite that writes to the given path changes nothing.
		if b, err := os.ReadFile(r.path); err != nil || string(b) != assetText("given") {
			t.Errorf("the copy is %q, %v", b, err)
		}
	}
	in.refused(in.run("PERFWEIR_INPUT_BINARY=nowhere\n::notice::x"), 4, "nowhere%0A::notice::x, which is no file")
	in.write(given, "#!/bin/sh\nexit 1\n", 0o755)
	in.refused(in.run("PERFWEIR_INPUT_BINARY="+given), 3, "does not start here")
	if n := in.requests.Load(); n != 0 {
		t.Errorf("%d downloads", n)
	}
}

// TestInstallBounds: a server that sends without end fills no disk, whether it
// tells a length or not.
func TestInstallBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("128 MiB are sent")
	}
	chunk := make([]byte, 1<<20)
	for name, length := range map[string]string{"told": "209715200", "not told": ""} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if length != "" {
					w.Header().Set("Content-Length", length)
				}
				for range 200 {
					if _, err := w.Write(chunk); err != nil {
						return
					}
				}
			}))
			t.Cleanup(server.Close)
			in := newInstall(t)
			in.refused(in.run("PERFWEIR_INPUT_DOWNLOAD_URL="+server.URL), 3, "cannot download")
			if left, _ := filepath.Glob(filepath.Join(in.temp, "tools/perfweir/*/*/.part-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// goModule is as much of perfweir as the script that builds it must know.
func goModule(in *install) {
	in.write(filepath.Join(in.root, "go.mod"), "module github.com/perfweir/perfweir\n\ngo 1.26.0\n", 0o644)
	in.write(filepath.Join(in.root, "cmd/perfweir/internal/cli/cli.go"), "package cli\n\nvar release string\n\nfunc Release() string { return release }\n", 0o644)
	in.write(filepath.Join(in.root, "cmd/perfweir/main.go"),
		"package main\n\nimport \"github.com/perfweir/perfweir/cmd/perfweir/internal/cli\"\n\nfunc main() { println(\"perfweir\", cli.Release()) }\n", 0o644)
}

// TestInstallBuilds: a commit without a release is built from its own folder,
// whatever the machine's settings for go are.
func TestInstallBuilds(t *testing.T) {
	in := newInstall(t)
	in.checksums = "# none yet\nunreleased 9.9.0\n"
	if r := in.run(); r.code != 3 || r.path != "" || !strings.Contains(r.log, "go was called") || !strings.Contains(r.log, "::error title=perfweir install::go build of") {
		t.Errorf("a build that fails: exit code %d\n%s", r.code, r.log)
	}
	if err := os.Remove(filepath.Join(in.bin, "go")); err != nil {
		t.Fatal(err)
	}
	in.refused(in.run(), 3, "go is missing")
	if testing.Short() {
		return // what follows compiles
	}
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	in.tool("go", "#!/bin/sh\nexec "+path+" \"$@\"\n")
	goModule(in)
	r := in.run("GOFLAGS=-mod=vendor -tags=nonsense", "GOWORK=/nowhere/go.work", "GOTOOLCHAIN=local")
	b, err := os.ReadFile(r.path)
	if r.code != 0 || err != nil || r.sha256 != hash(string(b)) {
		t.Fatalf("exit code %d, path %q, sha256 %s, %v\n%s", r.code, r.path, r.sha256, err, r.log)
	}
	if !strings.Contains(r.log, "version perfweir 9.9.0-unreleased") {
		t.Errorf("it does not tell its version:\n%s", r.log)
	}
	if n := in.requests.Load(); n != 0 {
		t.Errorf("%d downloads", n)
	}
}
