package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/cli"
)

// help is what a command says of its options.
func help(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	code := cli.Main(context.Background(), cli.Command{Stdout: &out, Stderr: &out, Now: time.Now}, append(args, "--help"))
	if code != 0 {
		t.Fatalf("%v --help: exit code %d: %s", args, code, &out)
	}
	return out.String()
}

// Every input of the action is an option of ci of the same name, but for those of
// the action itself.
func TestInputsAreOptions(t *testing.T) {
	own := []string{"token", "upload", "retention-days", "binary", "download-url", "args"}
	ci := help(t, "ci")
	for _, input := range actionInputs {
		if has := strings.Contains(ci, "--"+input+" "); has == slices.Contains(own, input) {
			t.Errorf("input %s: an option of ci: %v", input, has)
		}
	}
}
