package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// start runs the stand on free ports and returns its API and a function that stops
// it and gives what it printed after.
func start(t *testing.T, args ...string) (api string, stop func() (rest string, err error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, append([]string{"-api", "127.0.0.1:0", "-blob", "127.0.0.1:0"}, args...), w, io.Discard)
		_ = w.Close()
	}()
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %v", err, <-ended)
	}
	var blob string
	if _, err := fmt.Sscanf(line, "api %s blob %s", &api, &blob); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	return api, func() (string, error) {
		cancel()
		rest, _ := io.ReadAll(out)
		return string(rest), <-ended
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"User-Agent": {"perfweir"}, "Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"},
		"Authorization": {"Bearer ghs_fake"}}
	got, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(b)
}

func write(t *testing.T, file string, content []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

const state = `{"tokens":{"ghs_fake":{"app":"github-actions"}},
 "runs":[{"id":4711,"head_sha":"1111111111111111111111111111111111111111","head_branch":"main"}]}`

func TestStandServesWhatActLeft(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log.jsonl")
	api, stop := start(t, "-state", write(t, filepath.Join(dir, "state.json"), []byte(state)), "-artifacts", filepath.Join(dir, "act"), "-log", log)
	list := api + "/repos/acme/widgets/actions/runs/4711/artifacts"
	if status, text := get(t, list); status != 200 || !strings.Contains(text, `"total_count":0`) {
		t.Errorf("before the upload: %d %s", status, text)
	}
	write(t, filepath.Join(dir, "act", "4711", "session", "session.zip"), ghtest.ZipFile("results.json", []byte("{}")))
	if status, text := get(t, list); status != 200 || !strings.Contains(text, `"name":"session"`) {
		t.Errorf("after the upload: %d %s", status, text)
	}
	if status, text := get(t, api+"/_stand/state"); status != 200 || !strings.Contains(text, `"id":4711`) {
		t.Errorf("state: %d %s", status, text)
	}
	if rest, err := stop(); err != nil || rest != "" {
		t.Errorf("%q, %v", rest, err)
	}
	lines, err := os.ReadFile(log)
	if err != nil || strings.Count(string(lines), "\n") != 2 {
		t.Errorf("log %q, %v", lines, err)
	}
}

func TestStandFailsWhereARuleWasBroken(t *testing.T) {
	api, stop := start(t)
	get(t, api+"/repos/acme/widgets/branches")
	if rest, err := stop(); err == nil || !strings.Contains(rest, "no such operation") {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestStandRefusesABadState(t *testing.T) {
	for name, text := range map[string]string{"unknown key": `{"runz":[]}`, "not a state of GitHub": `{"runs":[{"id":1,"head_sha":"main"}]}`} {
		file := write(t, filepath.Join(t.TempDir(), "state.json"), []byte(text))
		if err := run(t.Context(), []string{"-state", file}, io.Discard, io.Discard); err == nil {
			t.Errorf("%s: it started", name)
		}
	}
	if err := run(t.Context(), []string{"-state", "nowhere.json"}, io.Discard, io.Discard); err == nil {
		t.Errorf("it started without its state")
	}
}
