package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/cli"
	"github.com/perfweir/perfweir/collect/result"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"perfweir": func() { os.Exit(cli.Main(context.Background(), cli.Std(), os.Args[1:])) },
	})
}

// TestScripts runs whole programs: one file of testdata/script a behaviour.
// `exits CODE command...` asserts an exit code; `machine FACTOR FOLDER` makes stored
// sessions of a machine on which the control cell took that many times as long;
// rewrite goldens inside the archives with -update.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		// Scripts run at the same time and must not wait for each other's machine.
		Setup: func(e *testscript.Env) error {
			e.Setenv("PERFWEIR_LOCK_DIR", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"machine": machine,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func machine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: machine FACTOR FOLDER")
	}
	factor, err := strconv.ParseFloat(args[0], 64)
	ts.Check(err)
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[1]), "*.json"))
	ts.Check(err)
	changed := 0
	for _, file := range files {
		f, err := os.Open(file)
		ts.Check(err)
		d, err := result.Decode(f)
		f.Close()
		ts.Check(err)
		for i := range d.Cells {
			if !d.Cells[i].Control {
				continue
			}
			changed++
			for k := range d.Cells[i].Columns {
				for n := range d.Cells[i].Columns[k].V {
					d.Cells[i].Columns[k].V[n] *= factor
				}
			}
		}
		var b bytes.Buffer
		ts.Check(result.Encode(&b, d))
		ts.Check(os.WriteFile(file, b.Bytes(), 0o644))
	}
	if changed == 0 {
		ts.Fatalf("no session in %s has a control cell", args[1])
	}
}
